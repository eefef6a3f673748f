//! Claiming what is due.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};
use uuid::Uuid;

use crate::clock::micros;
use crate::engine::outbox::ack::{ISSUE, token_digest};
use crate::engine::outbox::change::{Change, apply_changes};
use crate::engine::outbox::status::{OutboxStatus, Reason};

/// How many intents are claimed together at most.
pub(crate) const BATCH_MAX: usize = 64;
/// How many bytes of payload are claimed together at most; one intent alone may have more.
const BATCH_BYTES_MAX: i64 = 16 << 20;

/// How often an intent may be interrupted together with others. From then on it is claimed alone
/// and behind everything else that is due: if it is what kills its process, it kills nobody else's
/// delivery, and if it is not, nothing is lost.
pub(crate) const INTERRUPTED_TOGETHER_MAX: u32 = 3;

/// The due scan walks `outbox_due` from its beginning: one sink, in order, and nothing that is
/// settled. It answers one JSON array, since every row of an answer costs a wake-up.
/// `octet_length` reads the header of the signal's row, not its payload.
pub(crate) const DUE: &str = "\
    SELECT json_group_array(json_array(id, status, attempt, failures, interrupted, unacked, \
                                         ack_required, scheduled_at_us, expires_at_us, \
                                         lease_holder, lease_boot_us, bytes)) \
    FROM (SELECT outbox.id, outbox.status, outbox.attempt, outbox.failures, outbox.interrupted, \
                 outbox.unacked, outbox.ack_required, \
                 outbox.next_attempt_at_us AS scheduled_at_us, outbox.expires_at_us, \
                 outbox.lease_holder, outbox.lease_boot_us, \
                 octet_length(signal_log.payload) AS bytes \
          FROM outbox CROSS JOIN signal_log ON signal_log.id = outbox.signal_id \
          WHERE outbox.sink = ?1 AND outbox.status IN ('pending', 'delivering') \
            AND outbox.next_attempt_at_us <= ?2 \
          ORDER BY outbox.next_attempt_at_us, outbox.id LIMIT ?3)";

/// What was written by a clock that ran ahead of this one waits as long as it was to wait when it
/// was written, counted from now: otherwise it would wait until the clock has caught up, a year
/// perhaps. No status changes, so no row of history is written.
pub(crate) const AHEAD: &str = "\
    UPDATE outbox INDEXED BY outbox_ahead SET \
        next_attempt_at_us = ?2 + max(0, next_attempt_at_us - updated_at_us), \
        updated_at_us = ?2 \
    WHERE status IN ('pending', 'delivering') AND updated_at_us > ?2";

/// A lease that the wall clock has jumped past goes on: its end is moved to where the clock that
/// nobody sets puts it.
pub(crate) const HOLD: &str = "\
    UPDATE outbox SET next_attempt_at_us = ?2 + (held.value ->> 2), updated_at_us = ?2 \
    FROM json_each(?1) AS held \
    WHERE outbox.id = held.value ->> 0 AND outbox.status = 'delivering' \
      AND outbox.attempt = held.value ->> 1";

/// Whether anything is due for a sink, or was written by a clock that ran ahead.
pub(crate) const IS_DUE: &str = "\
    SELECT EXISTS (SELECT 1 FROM outbox WHERE sink = ?1 AND status IN ('pending', 'delivering') \
                   AND next_attempt_at_us <= ?2) \
        OR EXISTS (SELECT 1 FROM outbox INDEXED BY outbox_ahead \
                   WHERE status IN ('pending', 'delivering') AND updated_at_us > ?2)";

pub(crate) async fn is_due(
    connection: &mut SqliteConnection,
    sink: &str,
    now_us: i64,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(IS_DUE)
        .bind(sink)
        .bind(now_us)
        .fetch_one(connection)
        .await
}

/// What a claim asks for.
#[derive(Debug, Clone)]
pub(crate) struct ClaimRequest {
    pub(crate) sink: String,
    pub(crate) lease_holder: String,
    /// How long one intent may take; a batch gets as many of these as it has intents.
    pub(crate) lease: Duration,
    pub(crate) interrupted_max: u32,
    /// This start of the machine and the time since then, if both can be told.
    pub(crate) boot: Option<Boot>,
}

/// A start of the machine, and how long ago it was.
#[derive(Debug, Clone)]
pub(crate) struct Boot {
    pub(crate) id: String,
    pub(crate) now_us: i64,
}

/// What a claim did.
#[derive(Debug, Default)]
pub(crate) struct Claimed {
    /// The claimed attempts, in the order in which they became due.
    pub(crate) attempts: Vec<ClaimedAttempt>,
    pub(crate) expired: u64,
    pub(crate) dead_lettered: u64,
}

/// The right to make one attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimedAttempt {
    pub(crate) id: i64,
    pub(crate) attempt: u32,
    pub(crate) failures: u32,
    pub(crate) interrupted: u32,
    pub(crate) unacked: u32,
    /// The token that goes along, when the consumer is to acknowledge. It is stored as a digest only.
    pub(crate) ack_token: Option<Uuid>,
}

impl Claimed {
    /// Whether nothing was due at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.attempts.is_empty() && self.expired == 0 && self.dead_lettered == 0
    }
}

/// Claims the next due intents in the open transaction.
pub(crate) async fn claim(
    connection: &mut SqliteConnection,
    request: &ClaimRequest,
    now_us: i64,
) -> Result<Claimed, sqlx::Error> {
    let found = due(connection, request, now_us).await?;
    let plan = plan(found, request, now_us);
    triplane_kernel::failpoint!("claim.before_change");
    let held = apply_changes(connection, &plan.changes, now_us).await?;
    triplane_kernel::failpoint!("claim.changed");
    let (tokens, rows) = plan.tokens(&held);
    if !rows.is_empty() {
        sqlx::query(ISSUE)
            .bind(Value::Array(rows).to_string())
            .execute(connection)
            .await?;
    }
    triplane_kernel::failpoint!("claim.tokens_issued");
    Ok(plan.claimed(&held, &tokens))
}

/// What a claim is going to change.
pub(crate) struct ClaimPlan {
    pub(crate) changes: Vec<Change>,
    /// The intents whose consumer is to acknowledge them.
    to_acknowledge: HashSet<i64>,
}

/// Decides what becomes of what is due: how much of it makes one batch, and how long its lease is.
pub(crate) fn plan(found: Vec<Due>, request: &ClaimRequest, now_us: i64) -> ClaimPlan {
    let to_acknowledge: HashSet<i64> = found
        .iter()
        .filter_map(|due| (due.ack_required != 0).then_some(due.id))
        .collect();
    let mut changes = Vec::with_capacity(found.len());
    let mut bytes = 0;
    for due in found {
        bytes += due.payload_bytes;
        let alone = due.interrupted >= INTERRUPTED_TOGETHER_MAX;
        if (bytes > BATCH_BYTES_MAX || alone) && !changes.is_empty() {
            break;
        }
        changes.push(due.change(request, now_us));
        if alone {
            break;
        }
    }
    let claims = changes
        .iter()
        .filter(|change| change.to == OutboxStatus::Delivering)
        .count();
    let lease = request
        .lease
        .saturating_mul(u32::try_from(claims).unwrap_or(u32::MAX));
    let lease_end_us = now_us.saturating_add(micros(lease));
    let lease_boot_us = request.boot.as_ref().map(|boot| boot.now_us);
    let lease_boot_us = lease_boot_us.map(|since_us| since_us.saturating_add(micros(lease)));
    for change in &mut changes {
        if triplane_kernel::planted!("claim_without_lease") {
            break;
        }
        if change.to == OutboxStatus::Delivering {
            change.next_attempt_at_us = lease_end_us;
            change.lease_boot_us = lease_boot_us;
        }
    }
    ClaimPlan {
        changes,
        to_acknowledge,
    }
}

impl ClaimPlan {
    /// A token for each claimed attempt that a consumer is to acknowledge, and the rows with their
    /// digests: intent, attempt, digest.
    pub(crate) fn tokens(&self, held: &HashSet<i64>) -> (HashMap<i64, Uuid>, Vec<Value>) {
        let sent = self.changes.iter().filter(|change| {
            change.to == OutboxStatus::Delivering
                && held.contains(&change.id)
                && self.to_acknowledge.contains(&change.id)
        });
        let (mut tokens, mut rows) = (HashMap::new(), Vec::new());
        for change in sent {
            let token = Uuid::new_v4();
            tokens.insert(change.id, token);
            let digest = token_digest(&token.simple().to_string());
            rows.push(json!([change.id, change.attempt, digest]));
        }
        (tokens, rows)
    }

    /// What was claimed, given the changes that held.
    pub(crate) fn claimed(&self, held: &HashSet<i64>, tokens: &HashMap<i64, Uuid>) -> Claimed {
        let mut claimed = Claimed::default();
        let changes = self.changes.iter();
        for change in changes.filter(|change| held.contains(&change.id)) {
            match change.to {
                OutboxStatus::Delivering => claimed.attempts.push(ClaimedAttempt {
                    id: change.id,
                    attempt: change.attempt,
                    failures: change.failures,
                    interrupted: change.interrupted,
                    unacked: change.unacked,
                    ack_token: tokens.get(&change.id).copied(),
                }),
                OutboxStatus::Expired => claimed.expired += 1,
                _ => claimed.dead_lettered += 1,
            }
        }
        claimed
    }
}

/// What is due, in order. Leases that only the wall clock has ended are held and left out.
async fn due(
    connection: &mut SqliteConnection,
    request: &ClaimRequest,
    now_us: i64,
) -> Result<Vec<Due>, sqlx::Error> {
    loop {
        // The parameters have the same numbers in both.
        let found: String = sqlx::query_scalar(AssertSqlSafe([AHEAD, DUE].join(";")))
            .bind(&request.sink)
            .bind(now_us)
            .bind(i64::try_from(BATCH_MAX).unwrap_or(i64::MAX))
            .fetch_one(&mut *connection)
            .await?;
        let mut found: Vec<Due> =
            serde_json::from_str(&found).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let held: Vec<Value> = found
            .iter()
            .filter_map(|due| Some(json!([due.id, due.attempt, due.lease_left_us(request)?])))
            .collect();
        if held.is_empty() {
            // SQL does not promise the order in which an array is put together.
            found.sort_unstable_by_key(|due| (due.scheduled_at_us, due.id));
            return Ok(found);
        }
        sqlx::query(HOLD)
            .bind(Value::Array(held).to_string())
            .bind(now_us)
            .execute(&mut *connection)
            .await?;
    }
}

/// One entry of the due scan, in the order of its columns.
#[derive(Deserialize)]
pub(crate) struct Due {
    pub(crate) id: i64,
    pub(crate) status: OutboxStatus,
    pub(crate) attempt: u32,
    pub(crate) failures: u32,
    pub(crate) interrupted: u32,
    pub(crate) unacked: u32,
    pub(crate) ack_required: u8,
    pub(crate) scheduled_at_us: i64,
    pub(crate) expires_at_us: Option<i64>,
    pub(crate) lease_holder: Option<String>,
    pub(crate) lease_boot_us: Option<i64>,
    pub(crate) payload_bytes: i64,
}

impl Due {
    /// How much longer the lease holds by the clock that nobody sets, if there is a lease, if it was
    /// taken since this start of the machine, and if it is not over.
    pub(crate) fn lease_left_us(&self, request: &ClaimRequest) -> Option<i64> {
        let boot = request.boot.as_ref()?;
        let (holder, end_us) = (self.lease_holder.as_ref()?, self.lease_boot_us?);
        let (taken_in, _process) = holder.split_once('/')?;
        if triplane_kernel::planted!("lease_on_wall_clock") {
            return None;
        }
        let left_us = end_us.saturating_sub(boot.now_us);
        (taken_in == boot.id && left_us > 0).then_some(left_us)
    }

    /// What becomes of it: expiry wins, then the bound on interruptions, then the next attempt. A
    /// lease that is over was an interrupted attempt. The end of the new lease is set when the size
    /// of the batch is known.
    fn change(&self, request: &ClaimRequest, now_us: i64) -> Change {
        let expired = self.expires_at_us.is_some_and(|at_us| at_us <= now_us);
        let lease_over = self.status == OutboxStatus::Delivering;
        let interrupted = self.interrupted + u32::from(lease_over);
        let exhausted = lease_over && interrupted >= request.interrupted_max;
        let (to, reason) = match (expired, exhausted) {
            (true, _) => (OutboxStatus::Expired, Reason::Deadline),
            (false, true) => (OutboxStatus::DeadLetter, Reason::Interrupted),
            (false, false) => (OutboxStatus::Delivering, Reason::Attempt),
        };
        let claims = to == OutboxStatus::Delivering;
        Change {
            attempt: self.attempt
                + u32::from(
                    claims
                        && !(self.failures > 0
                            && triplane_kernel::planted!("retry_without_new_attempt")),
                ),
            failures: self.failures,
            interrupted,
            unacked: self.unacked,
            lease_holder: claims.then(|| request.lease_holder.clone()),
            error: exhausted.then(|| "the last attempt was never finished".to_owned()),
            ..Change::new(self.id, (self.status, self.attempt), to, reason, now_us)
        }
    }
}

/// Every lease that somebody holds; walks `outbox_lease`, which is as small as what is in flight.
pub(crate) const LEASED: &str = "\
    SELECT id, attempt, failures, interrupted, lease_holder, created_at_us, unacked FROM outbox \
    WHERE status = 'delivering' AND lease_holder IS NOT NULL ORDER BY lease_holder, id";

/// An attempt that somebody holds the lease of.
pub(crate) struct LeasedRow {
    pub(crate) claimed: ClaimedAttempt,
    pub(crate) holder: String,
    pub(crate) created_at_us: i64,
}

impl LeasedRow {
    pub(crate) async fn read_all(
        connection: &mut SqliteConnection,
    ) -> Result<Vec<Self>, sqlx::Error> {
        let rows = sqlx::query(LEASED).fetch_all(connection).await?;
        let leased = rows.iter().map(|row| {
            Ok(Self {
                claimed: ClaimedAttempt {
                    id: row.try_get(0)?,
                    attempt: row.try_get(1)?,
                    failures: row.try_get(2)?,
                    interrupted: row.try_get(3)?,
                    unacked: row.try_get(6)?,
                    ack_token: None,
                },
                holder: row.try_get(4)?,
                created_at_us: row.try_get(5)?,
            })
        });
        leased.collect()
    }
}
