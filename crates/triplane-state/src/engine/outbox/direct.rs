//! Claims, settlements and what is sent, where the connection is: a prepared statement for each row.
//!
//! The same changes as `change` makes, of what `claim` decides; tests hold them against each other.

use std::collections::HashSet;

use rusqlite::{Connection, Row, params};
use serde_json::value::RawValue;

use crate::delivery::DeliveryIntent;
use crate::engine::outbox::change::{Change, Past, storable};
use crate::engine::outbox::claim::{
    AHEAD, BATCH_MAX, ClaimRequest, Claimed, ClaimedAttempt, Due, IS_DUE, LEASED, LeasedRow, plan,
};
use crate::engine::outbox::load::{Loaded, delivery_key, unreadable};
use crate::engine::outbox::settle::Unsendable;
use crate::engine::outbox::status::{OutboxStatus, Reason};
use crate::engine::snapshot::read_snapshot;

/// Settles the last batch and claims the next one, in the open transaction.
pub(crate) fn turn_direct(
    connection: &Connection,
    settled: &[Change],
    request: Option<&ClaimRequest>,
    now_us: i64,
) -> rusqlite::Result<(HashSet<i64>, Claimed)> {
    let held = apply_changes(connection, settled, now_us)?;
    triplane_kernel::failpoint!("direct.settled");
    let claimed = match request {
        Some(request) => claim(connection, request, now_us)?,
        None => Claimed::default(),
    };
    triplane_kernel::failpoint!("direct.claimed");
    Ok((held, claimed))
}

/// Written while the row still shows the state that the change is guarded by.
pub(crate) const HISTORY: &str = "\
    INSERT INTO outbox_transition \
        (outbox_id, ordinal, from_status, to_status, attempt, reason, detail, at_us) \
    SELECT id, 1 + (SELECT max(ordinal) FROM outbox_transition WHERE outbox_id = ?1), \
           status, ?4, ?5, ?6, ?7, ?8 \
    FROM outbox WHERE id = ?1 AND status = ?2 AND attempt = ?3";

pub(crate) const UPDATE: &str = "\
    UPDATE outbox SET \
        status = ?4, \
        attempt = ?5, \
        next_attempt_at_us = ?6, \
        lease_holder = ?7, \
        last_error = CASE WHEN ?8 THEN NULL ELSE coalesce(?9, last_error) END, \
        expires_at_us = CASE WHEN ?8 AND expires_at_us <= ?15 THEN NULL ELSE expires_at_us END, \
        receipt = coalesce(?10, receipt), \
        failures = ?11, \
        interrupted = ?12, \
        unacked = ?13, \
        lease_boot_us = ?14, \
        updated_at_us = ?15 \
    WHERE id = ?1 AND status = ?2 AND attempt = ?3";

fn apply_changes(
    connection: &Connection,
    changes: &[Change],
    now_us: i64,
) -> rusqlite::Result<HashSet<i64>> {
    let mut history = connection.prepare_cached(HISTORY)?;
    let mut update = connection.prepare_cached(UPDATE)?;
    if triplane_kernel::planted!("finish_not_fenced") {
        let unfenced = |sql: &str| sql.replace("AND attempt = ?3", "AND ?3 = ?3");
        history = connection.prepare_cached(&unfenced(HISTORY))?;
        update = connection.prepare_cached(&unfenced(UPDATE))?;
    }
    if triplane_kernel::planted!("change_without_history") {
        history = connection.prepare_cached(
            "UPDATE outbox SET updated_at_us = ?8 WHERE id = ?1 AND status = ?2 \
             AND attempt = ?3 AND coalesce(?4, ?5, ?6, ?7) IS NOT NULL",
        )?;
    }
    let mut held = HashSet::with_capacity(changes.len());
    for change in changes {
        debug_assert!(change.from.may_become(change.to), "{change:?}");
        let error = change.error.as_deref().map(storable);
        let receipt = change.receipt.as_deref().map(storable);
        let remark = change.remark.as_deref().map(storable);
        let written = history.execute(params![
            change.id,
            change.from.as_str(),
            change.from_attempt,
            change.to.as_str(),
            change.attempt,
            change.reason.as_str(),
            error.as_ref().or(receipt.as_ref()).or(remark.as_ref()),
            now_us,
        ])?;
        if written == 0 {
            // Somebody else was faster.
            continue;
        }
        update.execute(params![
            change.id,
            change.from.as_str(),
            change.from_attempt,
            change.to.as_str(),
            change.attempt,
            change.next_attempt_at_us,
            change.lease_holder,
            change.past == Past::Forgotten,
            error,
            receipt,
            change.failures,
            change.interrupted,
            change.unacked,
            change.lease_boot_us,
            now_us,
        ])?;
        held.insert(change.id);
    }
    Ok(held)
}

/// As the due scan of a claim, a row for each.
pub(crate) const DUE: &str = "\
    SELECT outbox.id, outbox.status, outbox.attempt, outbox.failures, outbox.interrupted, \
           outbox.unacked, outbox.ack_required, outbox.next_attempt_at_us, outbox.expires_at_us, \
           outbox.lease_holder, outbox.lease_boot_us, octet_length(signal_log.payload) \
    FROM outbox CROSS JOIN signal_log ON signal_log.id = outbox.signal_id \
    WHERE outbox.sink = ?1 AND outbox.status IN ('pending', 'delivering') \
      AND outbox.next_attempt_at_us <= ?2 \
    ORDER BY outbox.next_attempt_at_us, outbox.id LIMIT ?3";

pub(crate) const HOLD: &str = "\
    UPDATE outbox SET next_attempt_at_us = ?4, updated_at_us = ?3 \
    WHERE id = ?1 AND status = 'delivering' AND attempt = ?2";

pub(crate) const ISSUE: &str =
    "INSERT INTO outbox_ack (outbox_id, attempt, token_digest) VALUES (?1, ?2, ?3)";

fn claim(
    connection: &Connection,
    request: &ClaimRequest,
    now_us: i64,
) -> rusqlite::Result<Claimed> {
    let found = due(connection, request, now_us)?;
    let plan = plan(found, request, now_us);
    let held = apply_changes(connection, &plan.changes, now_us)?;
    let (tokens, rows) = plan.tokens(&held);
    if !rows.is_empty() {
        let mut issue = connection.prepare_cached(ISSUE)?;
        for row in rows {
            issue.execute(params![row[0].as_i64(), row[1].as_i64(), row[2].as_str()])?;
        }
    }
    Ok(plan.claimed(&held, &tokens))
}

/// What is due, in order. Leases that only the wall clock has ended are held and left out.
fn due(connection: &Connection, request: &ClaimRequest, now_us: i64) -> rusqlite::Result<Vec<Due>> {
    let mut ahead = connection.prepare_cached(AHEAD)?;
    let mut select = connection.prepare_cached(DUE)?;
    loop {
        ahead.execute(params![None::<i64>, now_us])?;
        let limit = i64::try_from(BATCH_MAX).unwrap_or(i64::MAX);
        let found = select.query_map(params![request.sink, now_us, limit], read_due)?;
        let found: Vec<Due> = found.collect::<Result<_, _>>()?;
        let held = found.iter();
        let held: Vec<_> = held
            .filter_map(|due| Some((due.id, due.attempt, due.lease_left_us(request)?)))
            .collect();
        if held.is_empty() {
            return Ok(found);
        }
        let mut prolong = connection.prepare_cached(HOLD)?;
        for (id, attempt, left_us) in held {
            prolong.execute(params![id, attempt, now_us, now_us.saturating_add(left_us)])?;
        }
    }
}

fn read_due(row: &Row<'_>) -> rusqlite::Result<Due> {
    let status = row.get_ref(1)?.as_str()?;
    Ok(Due {
        id: row.get(0)?,
        status: OutboxStatus::parse(status).ok_or(rusqlite::Error::InvalidQuery)?,
        attempt: row.get(2)?,
        failures: row.get(3)?,
        interrupted: row.get(4)?,
        unacked: row.get(5)?,
        ack_required: row.get(6)?,
        scheduled_at_us: row.get(7)?,
        expires_at_us: row.get(8)?,
        lease_holder: row.get(9)?,
        lease_boot_us: row.get(10)?,
        payload_bytes: row.get(11)?,
    })
}

/// Whether a claim for `sink` would find something.
pub(crate) fn is_due_direct(
    connection: &Connection,
    sink: &str,
    now_us: i64,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(IS_DUE)?
        .query_row(params![sink, now_us], |row| row.get(0))
}

/// Every lease that somebody holds.
pub(crate) fn leased_direct(connection: &Connection) -> rusqlite::Result<Vec<LeasedRow>> {
    let mut select = connection.prepare_cached(LEASED)?;
    let leased = select.query_map([], |row| {
        Ok(LeasedRow {
            claimed: ClaimedAttempt {
                id: row.get(0)?,
                attempt: row.get(1)?,
                failures: row.get(2)?,
                interrupted: row.get(3)?,
                unacked: row.get(6)?,
                ack_token: None,
            },
            holder: row.get(4)?,
            created_at_us: row.get(5)?,
        })
    })?;
    leased.collect()
}

pub(crate) const LOAD: &str = "\
    SELECT outbox.public_id, outbox.sink, operation.identity, session.name, \
           signal_log.sequence, signal_log.kind, signal_log.occurred_at_us, \
           signal_log.payload_type, signal_log.payload_version, signal_log.payload, \
           outbox.snapshot_id, delivery_snapshot.version, delivery_snapshot.digest, \
           delivery_snapshot.body \
    FROM outbox \
    JOIN signal_log ON signal_log.id = outbox.signal_id \
    JOIN operation ON operation.id = signal_log.operation_id \
    JOIN session ON session.id = signal_log.session_id \
    LEFT JOIN delivery_snapshot ON delivery_snapshot.id = outbox.snapshot_id \
    WHERE outbox.id = ?1";

/// Reads the intents of `attempts`, in the same order.
pub(crate) fn load_direct(
    connection: &Connection,
    store_id: &str,
    attempts: &[ClaimedAttempt],
) -> rusqlite::Result<Vec<Loaded>> {
    let mut select = connection.prepare_cached(LOAD)?;
    let mut loaded = Vec::with_capacity(attempts.len());
    for claimed in attempts {
        let mut rows = select.query([claimed.id])?;
        let intent = match rows.next()? {
            Some(row) => frozen(row).and_then(|(deliver_to, filter)| {
                let intent = intent(row, store_id, claimed);
                let intent = intent.map_err(|error| unreadable(error.to_string()))?;
                Ok(DeliveryIntent {
                    deliver_to,
                    filter,
                    ..intent
                })
            }),
            None => Err(unreadable("its signal is gone".to_owned())),
        };
        loaded.push((*claimed, intent));
    }
    Ok(loaded)
}

/// The destination and the filter that the intent was enqueued with. An intent from before there
/// were snapshots has neither.
fn frozen(row: &Row<'_>) -> Result<(Option<String>, Option<Box<RawValue>>), Unsendable> {
    let unreadable = |says: String| Unsendable {
        reason: Reason::Snapshot,
        says,
    };
    let read = || {
        if row.get::<_, Option<i64>>(10)?.is_none() {
            return Ok(None);
        }
        let sink = row.get_ref(1)?.as_str()?;
        let (digest, body) = (row.get_ref(12)?.as_str()?, row.get_ref(13)?.as_str()?);
        Ok(Some((sink, row.get(11)?, digest, body)))
    };
    let found = read().map_err(|error: rusqlite::Error| unreadable(error.to_string()))?;
    let Some((sink, version, digest, body)) = found else {
        return Ok((None, None));
    };
    let snapshot = read_snapshot(sink, version, digest, body).map_err(unreadable)?;
    Ok((snapshot.deliver_to, snapshot.filter))
}

fn intent(
    row: &Row<'_>,
    store_id: &str,
    claimed: &ClaimedAttempt,
) -> rusqlite::Result<DeliveryIntent> {
    let id: String = row.get(0)?;
    let payload = RawValue::from_string(row.get(9)?).map_err(|error| {
        let kind = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(9, kind, Box::new(error))
    })?;
    Ok(DeliveryIntent {
        key: delivery_key(store_id, &id),
        id,
        sink: row.get(1)?,
        identity: row.get(2)?,
        attempt: claimed.attempt,
        ack_token: claimed.ack_token.map(|token| token.simple().to_string()),
        deliver_to: None,
        filter: None,
        session: row.get(3)?,
        sequence: row.get::<_, i64>(4)?.unsigned_abs(),
        kind: row.get(5)?,
        occurred_at_us: row.get(6)?,
        payload_type: row.get(7)?,
        payload_version: row.get(8)?,
        payload,
    })
}
