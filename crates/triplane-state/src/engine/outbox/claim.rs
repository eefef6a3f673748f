//! Claiming what is due.

use std::time::Duration;

use serde::Deserialize;
use sqlx::{Row as _, SqliteConnection};

use crate::clock::micros;
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
    SELECT json_group_array(json_array(id, status, attempt, failures, interrupted, \
                                         scheduled_at_us, expires_at_us, bytes)) \
    FROM (SELECT outbox.id, outbox.status, outbox.attempt, outbox.failures, outbox.interrupted, \
                 outbox.next_attempt_at_us AS scheduled_at_us, outbox.expires_at_us, \
                 octet_length(signal_log.payload) AS bytes \
          FROM outbox CROSS JOIN signal_log ON signal_log.id = outbox.signal_id \
          WHERE outbox.sink = ?1 AND outbox.status IN ('pending', 'delivering') \
            AND outbox.next_attempt_at_us <= ?2 \
          ORDER BY outbox.next_attempt_at_us, outbox.id LIMIT ?3)";

/// What a claim asks for.
#[derive(Debug, Clone)]
pub(crate) struct ClaimRequest {
    pub(crate) sink: String,
    pub(crate) lease_holder: String,
    /// How long one intent may take; a batch gets as many of these as it has intents.
    pub(crate) lease: Duration,
    pub(crate) interrupted_max: u32,
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
    let found: String = sqlx::query_scalar(DUE)
        .bind(&request.sink)
        .bind(now_us)
        .bind(i64::try_from(BATCH_MAX).unwrap_or(i64::MAX))
        .fetch_one(&mut *connection)
        .await?;
    let mut found: Vec<Due> =
        serde_json::from_str(&found).map_err(|error| sqlx::Error::Decode(error.into()))?;
    // SQL does not promise the order in which an array is put together.
    found.sort_unstable_by_key(|due| (due.scheduled_at_us, due.id));
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
    for change in &mut changes {
        if change.to == OutboxStatus::Delivering {
            change.next_attempt_at_us = lease_end_us;
        }
    }
    let held = apply_changes(connection, &changes, now_us).await?;
    let mut claimed = Claimed::default();
    for change in changes.iter().filter(|change| held.contains(&change.id)) {
        match change.to {
            OutboxStatus::Delivering => claimed.attempts.push(ClaimedAttempt {
                id: change.id,
                attempt: change.attempt,
                failures: change.failures,
                interrupted: change.interrupted,
            }),
            OutboxStatus::Expired => claimed.expired += 1,
            _ => claimed.dead_lettered += 1,
        }
    }
    Ok(claimed)
}

/// One entry of the due scan, in the order of its columns.
#[derive(Deserialize)]
struct Due {
    id: i64,
    status: OutboxStatus,
    attempt: u32,
    failures: u32,
    interrupted: u32,
    scheduled_at_us: i64,
    expires_at_us: Option<i64>,
    payload_bytes: i64,
}

impl Due {
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
            id: self.id,
            from: self.status,
            from_attempt: self.attempt,
            to,
            attempt: self.attempt + u32::from(claims),
            failures: self.failures,
            interrupted,
            next_attempt_at_us: now_us,
            reason,
            lease_holder: claims.then(|| request.lease_holder.clone()),
            error: exhausted.then(|| "the last attempt was never finished".to_owned()),
            receipt: None,
        }
    }
}

/// Every lease that somebody holds; walks `outbox_lease`, which is as small as what is in flight.
pub(crate) const LEASED: &str = "\
    SELECT id, attempt, failures, interrupted, lease_holder, created_at_us FROM outbox \
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
                },
                holder: row.try_get(4)?,
                created_at_us: row.try_get(5)?,
            })
        });
        leased.collect()
    }
}
