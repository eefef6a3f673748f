//! The rows of one transaction, written where the connection is.
//!
//! The same rows as `rows` writes, which a test holds against each other.

use std::sync::LazyLock;

use rusqlite::{Connection, params};
use uuid::Uuid;

use crate::commit::Confirmation;
use crate::engine::commit::insert::Insert;
use crate::engine::commit::rows::NewRows;
use crate::engine::snapshot::SNAPSHOT_VERSION;

static SESSION: LazyLock<Insert> =
    LazyLock::new(|| Insert::new("session (id, name, first_at_us)", "(?, ?, ?)"));

static OPERATION: LazyLock<Insert> = LazyLock::new(|| {
    Insert::new(
        "operation (id, public_id, session_id, identity, shape, digest, event, subject, outcome, \
         occurred_at_us, committed_at_us, first_audit, audits, first_signal, signals, \
         first_intent, intents)",
        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
});

static AUDIT: LazyLock<Insert> = LazyLock::new(|| {
    Insert::new(
        "audit (id, public_id, operation_id, outcome, emitter, decision, enforcement, rule, \
         reason, notes, arguments_before, arguments_after)",
        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
});

static SIGNAL: LazyLock<Insert> = LazyLock::new(|| {
    Insert::new(
        "signal_log (id, public_id, session_id, sequence, operation_id, kind, emitter, \
         invocation, occurred_at_us, payload_type, payload_version, payload)",
        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
});

static SNAPSHOT: LazyLock<Insert> = LazyLock::new(|| {
    Insert::new(
        "delivery_snapshot (id, digest, version, body)",
        "(?, ?, ?, ?)",
    )
});

static INTENT: LazyLock<Insert> = LazyLock::new(|| {
    Insert::new(
        "outbox (id, public_id, signal_id, sink, dedup_key, status, attempt, next_attempt_at_us, \
         expires_at_us, created_at_us, updated_at_us, snapshot_id, ack_required)",
        "(?, ?, ?, ?, ?, 'pending', 0, ?, ?, ?, ?, ?, ?)",
    )
});

static ENQUEUED: LazyLock<Insert> = LazyLock::new(|| {
    Insert::new(
        "outbox_transition (outbox_id, ordinal, from_status, to_status, attempt, reason, at_us)",
        "(?, 1, NULL, 'pending', 0, 'dispatch.pending.enqueued', ?)",
    )
});

/// Writes `rows` into the open transaction.
pub(crate) fn insert_direct(
    connection: &Connection,
    rows: &NewRows<'_>,
    now_us: i64,
) -> rusqlite::Result<()> {
    let mut buffer = Uuid::encode_buffer();
    SESSION.rows(connection, &rows.sessions, |values, (id, name)| {
        values.row(params![id, name, now_us])
    })?;
    OPERATION.rows(connection, &rows.operations, |values, operation| {
        let fact = operation.fact;
        values.row(params![
            operation.id,
            &*fact.operation.hyphenated().encode_lower(&mut buffer),
            operation.session,
            operation.identity,
            fact.identity.shape,
            fact.identity.digest,
            fact.event,
            fact.subject,
            fact.outcome,
            fact.occurred_at_us,
            now_us,
            operation.audits.first,
            operation.audits.rows,
            operation.signals.first,
            operation.signals.rows,
            operation.intents.first,
            operation.intents.rows,
        ])
    })?;
    if triplane_kernel::planted!("audit_in_second_transaction") {
        connection.execute_batch("COMMIT; BEGIN IMMEDIATE")?;
    }
    AUDIT.rows(
        connection,
        &rows.audits,
        |values, (id, operation, audit)| {
            let judgement = audit.judgement.as_ref();
            let rewrite = judgement.and_then(|it| it.rewrite.as_ref());
            values.row(params![
                id,
                &*audit.id.hyphenated().encode_lower(&mut buffer),
                operation,
                audit.outcome,
                audit.emitter.as_str(),
                judgement.map(|it| it.decision.as_str()),
                judgement.map(|it| it.enforcement.as_str()),
                judgement.and_then(|it| it.rule.as_deref()),
                judgement.and_then(|it| it.reason.as_deref()),
                judgement.and_then(|it| it.notes.as_deref()),
                rewrite.map(|it| it.before.get()),
                rewrite.map(|it| it.after.get()),
            ])
        },
    )?;
    SIGNAL.rows(connection, &rows.signals, |values, signal| {
        let row = signal.row;
        values.row(params![
            signal.id,
            &*row.id.hyphenated().encode_lower(&mut buffer),
            signal.session.id,
            signal.session.sequence,
            signal.operation,
            row.kind.as_str(),
            row.emitter.as_str(),
            row.invocation.map(|id| id.to_string()),
            row.occurred_at_us,
            row.payload.payload_type,
            row.payload.version,
            row.payload.body.get(),
        ])
    })?;
    triplane_kernel::failpoint!("direct.signals_written");
    if triplane_kernel::planted!("intent_outside_transaction") {
        connection.execute_batch("COMMIT; BEGIN IMMEDIATE")?;
    }
    SNAPSHOT.rows(connection, &rows.snapshots, |values, (id, snapshot)| {
        values.row(params![
            id,
            snapshot.digest,
            SNAPSHOT_VERSION,
            snapshot.body
        ])
    })?;
    INTENT.rows(connection, &rows.intents, |values, intent| {
        let row = intent.row;
        values.row(params![
            intent.id,
            &*row.id.hyphenated().encode_lower(&mut buffer),
            intent.signal,
            row.sink,
            row.dedup_key,
            now_us,
            row.expires_at_us,
            now_us,
            now_us,
            intent.snapshot,
            row.confirmation == Confirmation::ByConsumer,
        ])
    })?;
    ENQUEUED.rows(connection, &rows.intents, |values, intent| {
        values.row(params![intent.id, now_us])
    })
}
