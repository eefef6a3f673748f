//! The rows of units, written where the connection is: a prepared statement for each row.
//!
//! The same rows as `rows` writes and the same look-ups as `lookup` makes, which a test holds
//! against each other.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use crate::commit::Confirmation;
use crate::engine::commit::apply::plan;
use crate::engine::commit::identity::{OnRecord, identities};
use crate::engine::commit::lookup::{Highest, Lookup, SessionEnd, sessions_of};
use crate::engine::commit::receipt::{Committed, Enqueued, Recorded};
use crate::engine::commit::rows::NewRows;
use crate::engine::commit::work::WorkRef;
use crate::engine::snapshot::SNAPSHOT_VERSION;

/// Writes the rows of `works` in order into the open transaction, as
/// [`apply`](crate::engine::commit::apply::apply) does.
pub(crate) fn apply_direct(
    connection: &Connection,
    works: &[WorkRef<'_>],
    now_us: i64,
) -> rusqlite::Result<Vec<Committed>> {
    let lookup = look_up(connection, works)?;
    triplane_kernel::failpoint!("direct.looked_up");
    let (answers, rows) = plan(lookup, works, now_us);
    insert(connection, &rows, now_us)?;
    triplane_kernel::failpoint!("direct.rows_written");
    Ok(answers)
}

const HIGHEST: &str = "\
    SELECT (SELECT max(id) FROM session), \
           (SELECT max(id) FROM operation), \
           (SELECT max(id) FROM audit), \
           (SELECT max(id) FROM signal_log), \
           (SELECT max(outbox_id) FROM outbox_transition), \
           (SELECT max(id) FROM delivery_snapshot)";

pub(crate) const ON_RECORD: &str = "\
    SELECT operation.shape, operation.digest, operation.public_id, operation.committed_at_us, \
           audit.decision, audit.rule \
    FROM operation LEFT JOIN audit ON audit.id = ( \
        SELECT min(judged.id) FROM audit AS judged \
        WHERE judged.id BETWEEN operation.first_audit \
                            AND operation.first_audit + operation.audits - 1 \
          AND judged.decision IS NOT NULL) \
    WHERE operation.identity = ?1";

pub(crate) const SESSION: &str = "\
    SELECT id, (SELECT max(sequence) FROM signal_log WHERE session_id = session.id) \
    FROM session WHERE name = ?1";

pub(crate) const DEDUP: &str = "SELECT public_id FROM outbox WHERE dedup_key = ?1";

pub(crate) const PURGED: &str = "SELECT public_id FROM outbox_tombstone WHERE dedup_key = ?1";

pub(crate) const SNAPSHOT: &str = "SELECT id FROM delivery_snapshot WHERE digest = ?1";

fn look_up(connection: &Connection, works: &[WorkRef<'_>]) -> rusqlite::Result<Lookup> {
    let mut lookup = Lookup {
        highest: connection.prepare_cached(HIGHEST)?.query_row([], highest)?,
        ..Lookup::default()
    };
    let mut on_record = connection.prepare_cached(ON_RECORD)?;
    let mut session = connection.prepare_cached(SESSION)?;
    let mut dedup = connection.prepare_cached(DEDUP)?;
    let mut purged = connection.prepare_cached(PURGED)?;
    let mut snapshot = connection.prepare_cached(SNAPSHOT)?;
    for work in works {
        // The first identity is the fact's key. When nobody has it, the others are not asked for.
        for identity in identities(work.fact) {
            let read = |row: &Row<'_>| on_record_row(row, &identity);
            match on_record.query_row([&identity], read).optional()? {
                Some(found) => lookup.on_record.insert(identity, found),
                None if identity == work.fact.identity.key => break,
                None => continue,
            };
        }
        for name in sessions_of(work) {
            if lookup.sessions.contains_key(name) {
                continue;
            }
            if let Some(end) = session.query_row([name], session_end).optional()? {
                lookup.sessions.insert(name.to_owned(), end);
            }
        }
        let keys = work.staged.intents.iter();
        for key in keys.filter_map(|intent| intent.dedup_key.as_deref()) {
            let read = |row: &Row<'_>| uuid(row, 0);
            // A purged intent keeps its dedup key.
            let first = match purged.query_row([key], read).optional()? {
                Some(id) => Some((id, Enqueued::Purged)),
                None => dedup
                    .query_row([key], read)
                    .optional()?
                    .map(|id| (id, Enqueued::Before)),
            };
            if let Some(first) = first {
                lookup.dedup.insert(key.to_owned(), first);
            }
        }
        for stored in work.snapshots {
            if lookup.snapshots.contains_key(&stored.digest) {
                continue;
            }
            let id = snapshot.query_row([&stored.digest], |row| row.get(0));
            if let Some(id) = id.optional()? {
                lookup.snapshots.insert(stored.digest.clone(), id);
            }
        }
    }
    Ok(lookup)
}

fn highest(row: &Row<'_>) -> rusqlite::Result<Highest> {
    let number = |column: usize| {
        let found: Option<i64> = row.get(column)?;
        Ok::<_, rusqlite::Error>(found.unwrap_or_default())
    };
    Ok(Highest {
        session: number(0)?,
        operation: number(1)?,
        audit: number(2)?,
        signal: number(3)?,
        intent: number(4)?,
        snapshot: number(5)?,
    })
}

fn on_record_row(row: &Row<'_>, identity: &str) -> rusqlite::Result<OnRecord> {
    Ok(OnRecord {
        shape: row.get(0)?,
        digest: row.get(1)?,
        recorded: Recorded {
            operation: uuid(row, 2)?,
            identity: identity.to_owned(),
            committed_at_us: row.get(3)?,
            decision: row.get(4)?,
            rule: row.get(5)?,
        },
    })
}

fn session_end(row: &Row<'_>) -> rusqlite::Result<SessionEnd> {
    Ok(SessionEnd {
        id: row.get(0)?,
        sequence: row.get::<_, Option<i64>>(1)?.unwrap_or_default(),
    })
}

fn uuid(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    let text = row.get_ref(column)?.as_str()?;
    Uuid::parse_str(text).map_err(|error| {
        let kind = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error))
    })
}

fn insert(connection: &Connection, rows: &NewRows<'_>, now_us: i64) -> rusqlite::Result<()> {
    let mut buffer = Uuid::encode_buffer();
    let mut statement = connection
        .prepare_cached("INSERT INTO session (id, name, first_at_us) VALUES (?1, ?2, ?3)")?;
    for (id, name) in &rows.sessions {
        statement.execute(params![id, name, now_us])?;
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO operation (id, public_id, session_id, identity, shape, digest, event, subject, \
         outcome, occurred_at_us, committed_at_us, first_audit, audits, first_signal, signals, \
         first_intent, intents) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?;
    for operation in &rows.operations {
        let fact = operation.fact;
        statement.execute(params![
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
        ])?;
    }
    if triplane_kernel::planted!("audit_in_second_transaction") {
        connection.execute_batch("COMMIT; BEGIN IMMEDIATE")?;
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO audit (id, public_id, operation_id, outcome, emitter, decision, enforcement, \
         rule, reason, notes, arguments_before, arguments_after) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    for (id, operation, audit) in &rows.audits {
        let judgement = audit.judgement.as_ref();
        let rewrite = judgement.and_then(|it| it.rewrite.as_ref());
        statement.execute(params![
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
        ])?;
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO signal_log (id, public_id, session_id, sequence, operation_id, kind, emitter, \
         invocation, occurred_at_us, payload_type, payload_version, payload) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    for signal in &rows.signals {
        let row = signal.row;
        statement.execute(params![
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
        ])?;
    }
    triplane_kernel::failpoint!("direct.signals_written");
    if triplane_kernel::planted!("intent_outside_transaction") {
        connection.execute_batch("COMMIT; BEGIN IMMEDIATE")?;
    }
    insert_intents(connection, rows, now_us)
}

fn insert_intents(
    connection: &Connection,
    rows: &NewRows<'_>,
    now_us: i64,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO delivery_snapshot (id, digest, version, body) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (id, snapshot) in &rows.snapshots {
        statement.execute(params![
            id,
            snapshot.digest,
            SNAPSHOT_VERSION,
            snapshot.body
        ])?;
    }
    let mut buffer = Uuid::encode_buffer();
    let mut statement = connection.prepare_cached(
        "INSERT INTO outbox (id, public_id, signal_id, sink, dedup_key, status, attempt, \
         next_attempt_at_us, expires_at_us, created_at_us, updated_at_us, snapshot_id, \
         ack_required) VALUES (?1, ?2, ?3, ?4, ?5, 'pending', 0, ?6, ?7, ?6, ?6, ?8, ?9)",
    )?;
    let mut history = connection.prepare_cached(
        "INSERT INTO outbox_transition (outbox_id, ordinal, from_status, to_status, attempt, \
         reason, at_us) \
         VALUES (?1, 1, NULL, 'pending', 0, 'dispatch.pending.enqueued', ?2)",
    )?;
    for intent in &rows.intents {
        let row = intent.row;
        statement.execute(params![
            intent.id,
            &*row.id.hyphenated().encode_lower(&mut buffer),
            intent.signal,
            row.sink,
            row.dedup_key,
            now_us,
            row.expires_at_us,
            intent.snapshot,
            row.confirmation == Confirmation::ByConsumer,
        ])?;
        history.execute(params![intent.id, now_us])?;
    }
    Ok(())
}
