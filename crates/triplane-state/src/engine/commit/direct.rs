//! Units, written where the connection is: a prepared statement for each look-up.
//!
//! The same look-ups as `lookup` makes, which a test holds against each other.

use rusqlite::{Connection, OptionalExtension as _, Row};
use uuid::Uuid;

use crate::engine::commit::apply::plan;
use crate::engine::commit::identity::{OnRecord, identities};
use crate::engine::commit::lookup::{Highest, Lookup, SessionEnd, sessions_of};
use crate::engine::commit::receipt::{Committed, Enqueued, Recorded};
use crate::engine::commit::rows_direct::insert_direct;
use crate::engine::commit::work::WorkRef;

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
    insert_direct(connection, &rows, now_us)?;
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

pub(crate) const ANY_PURGED: &str = "SELECT max(outbox_id) IS NOT NULL FROM outbox_tombstone";

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
    let any_purged: bool = connection
        .prepare_cached(ANY_PURGED)?
        .query_row([], |row| row.get(0))?;
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
            let tombstone = if any_purged {
                purged.query_row([key], read).optional()?
            } else {
                None
            };
            let first = match tombstone {
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
