//! What a transaction has to know before it writes: what is on record, and the next free numbers.

use std::collections::{HashMap, HashSet};

use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection};
use uuid::Uuid;

use crate::engine::commit::identity::{OnRecord, identities};
use crate::engine::commit::receipt::{Enqueued, Recorded};
use crate::engine::commit::work::WorkRef;

/// What stands in the store, as far as the units of one transaction touch it.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    pub(crate) highest: Highest,
    pub(crate) on_record: HashMap<String, OnRecord>,
    pub(crate) sessions: HashMap<String, SessionEnd>,
    /// The intents that hold dedup keys, and whether they are there still.
    pub(crate) dedup: HashMap<String, (Uuid, Enqueued)>,
    /// Frozen destinations, by their digest.
    pub(crate) snapshots: HashMap<String, i64>,
}

/// The highest integer keys in use.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Highest {
    pub(crate) session: i64,
    pub(crate) operation: i64,
    pub(crate) audit: i64,
    pub(crate) signal: i64,
    pub(crate) intent: i64,
    pub(crate) snapshot: i64,
}

/// Where a session's log ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionEnd {
    pub(crate) id: i64,
    pub(crate) sequence: i64,
}

/// The history outlives its intents, so a purged intent's number is not given to another one.
const HIGHEST: &str = "\
    SELECT 'highest', \
           (SELECT max(id) FROM session), \
           (SELECT max(id) FROM operation), \
           (SELECT max(id) FROM audit), \
           (SELECT max(id) FROM signal_log), \
           (SELECT max(outbox_id) FROM outbox_transition), \
           (SELECT max(id) FROM delivery_snapshot);";

const ON_RECORD: &str = "\
    SELECT 'on_record', operation.identity, operation.shape, operation.digest, \
           operation.public_id, operation.committed_at_us, audit.decision, audit.rule \
    FROM operation LEFT JOIN audit ON audit.id = ( \
        SELECT min(judged.id) FROM audit AS judged \
        WHERE judged.id BETWEEN operation.first_audit \
                            AND operation.first_audit + operation.audits - 1 \
          AND judged.decision IS NOT NULL) \
    WHERE operation.identity IN (";

const SESSIONS: &str = "\
    SELECT 'session', session.name, session.id, \
           (SELECT max(sequence) FROM signal_log WHERE session_id = session.id) \
    FROM session WHERE session.name IN (";

const DEDUP: &str = "\
    SELECT 'dedup', dedup_key, public_id FROM outbox \
    WHERE dedup_key IS NOT NULL AND dedup_key IN (";

/// A purged intent keeps its dedup key.
const PURGED: &str = "\
    SELECT 'purged', dedup_key, public_id FROM outbox_tombstone \
    WHERE dedup_key IS NOT NULL AND dedup_key IN (";

const SNAPSHOTS: &str = "SELECT 'snapshot', digest, id FROM delivery_snapshot WHERE digest IN (";

impl Lookup {
    /// Reads it for `works`, in one round.
    pub(crate) async fn read(
        connection: &mut SqliteConnection,
        works: &[WorkRef<'_>],
    ) -> Result<Self, sqlx::Error> {
        let rows = query(works).build().fetch_all(connection).await?;
        let mut lookup = Self::default();
        for row in &rows {
            match row.try_get::<&str, _>(0)? {
                "highest" => lookup.highest = highest(row)?,
                "on_record" => {
                    let (identity, found) = on_record(row)?;
                    lookup.on_record.insert(identity, found);
                }
                "session" => {
                    let end = SessionEnd {
                        id: row.try_get(2)?,
                        sequence: row.try_get::<Option<i64>, _>(3)?.unwrap_or_default(),
                    };
                    lookup.sessions.insert(row.try_get(1)?, end);
                }
                "snapshot" => {
                    lookup.snapshots.insert(row.try_get(1)?, row.try_get(2)?);
                }
                "purged" => {
                    let first = (uuid(row, 2)?, Enqueued::Purged);
                    lookup.dedup.insert(row.try_get(1)?, first);
                }
                _dedup => {
                    let first = (uuid(row, 2)?, Enqueued::Before);
                    lookup.dedup.insert(row.try_get(1)?, first);
                }
            }
        }
        Ok(lookup)
    }
}

/// Several statements in one text: they run in one hop to the connection's thread.
pub(crate) fn query(works: &[WorkRef<'_>]) -> QueryBuilder<Sqlite> {
    let mut query = QueryBuilder::new(HIGHEST);
    let all = works.iter().flat_map(|work| identities(work.fact));
    push_list(&mut query, ON_RECORD, all);
    let sessions: HashSet<_> = works.iter().flat_map(sessions_of).collect();
    push_list(&mut query, SESSIONS, sessions);
    let intents = || works.iter().flat_map(|work| &work.staged.intents);
    for statement in [DEDUP, PURGED] {
        let keys = intents().filter_map(|intent| intent.dedup_key.as_deref());
        push_list(&mut query, statement, keys);
    }
    let digests: HashSet<_> = works.iter().flat_map(|work| work.snapshots).collect();
    let digests = digests.into_iter().map(|snapshot| snapshot.digest.as_str());
    push_list(&mut query, SNAPSHOTS, digests);
    query
}

/// The sessions whose rows a unit writes.
pub(crate) fn sessions_of<'w>(work: &WorkRef<'w>) -> impl Iterator<Item = &'w str> + use<'w> {
    let signals = work
        .staged
        .signals
        .iter()
        .map(|signal| signal.session.as_str());
    signals.chain([work.fact.session.as_str()])
}

fn push_list<T: AsRef<str>>(
    query: &mut QueryBuilder<Sqlite>,
    statement: &str,
    values: impl IntoIterator<Item = T>,
) {
    let mut values = values.into_iter().peekable();
    if values.peek().is_none() {
        return;
    }
    query.push(statement);
    let mut list = query.separated(", ");
    for value in values {
        list.push_bind(value.as_ref());
    }
    query.push(");");
}

fn highest(row: &SqliteRow) -> Result<Highest, sqlx::Error> {
    let number = |column: usize| {
        let found: Option<i64> = row.try_get(column)?;
        Ok::<_, sqlx::Error>(found.unwrap_or_default())
    };
    Ok(Highest {
        session: number(1)?,
        operation: number(2)?,
        audit: number(3)?,
        signal: number(4)?,
        intent: number(5)?,
        snapshot: number(6)?,
    })
}

fn on_record(row: &SqliteRow) -> Result<(String, OnRecord), sqlx::Error> {
    let identity: String = row.try_get(1)?;
    let found = OnRecord {
        shape: row.try_get(2)?,
        digest: row.try_get(3)?,
        recorded: Recorded {
            operation: uuid(row, 4)?,
            identity: identity.clone(),
            committed_at_us: row.try_get(5)?,
            decision: row.try_get(6)?,
            rule: row.try_get(7)?,
        },
    };
    Ok((identity, found))
}

fn uuid(row: &SqliteRow, column: usize) -> Result<Uuid, sqlx::Error> {
    let text: &str = row.try_get(column)?;
    Uuid::parse_str(text).map_err(|error| sqlx::Error::Decode(error.into()))
}
