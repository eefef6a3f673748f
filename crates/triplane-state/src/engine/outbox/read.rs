//! Reading the outbox: pages, one intent with its history, and counts.

use serde::Serialize;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection};

use crate::engine::outbox::load::delivery_key;
use crate::engine::outbox::status::OutboxStatus;

/// An intent as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OutboxEntry {
    /// The public id of the intent, a UUID v7.
    pub id: String,
    /// The idempotency key that every attempt carries.
    pub key: String,
    /// The sink that it is for.
    pub sink: String,
    /// Where it stands.
    pub status: OutboxStatus,
    /// How many attempts were claimed.
    pub attempt: u32,
    /// How many of them the sink answered with a failure; the retry policy bounds these.
    pub failures: u32,
    /// How many of them nobody finished: the process died or lost its lease.
    pub interrupted: u32,
    /// How many of them the sink took and nobody acknowledged.
    pub unacked: u32,
    /// Whether its consumer is to acknowledge it.
    pub ack_required: bool,
    /// Where the sink is to convey it, as it was frozen when it was enqueued.
    pub deliver_to: Option<String>,
    /// The digest of what was frozen then; nothing for an intent of an old store.
    pub snapshot: Option<String>,
    /// When the next attempt is due, or, while delivering, when the lease ends; microseconds since
    /// 1970 UTC.
    pub next_attempt_at_us: i64,
    /// When it is no longer worth an attempt.
    pub expires_at_us: Option<i64>,
    /// What the latest failed attempt said.
    pub last_error: Option<String>,
    /// What the sink gave for it.
    pub receipt: Option<String>,
    /// The second key under which it stands only once.
    pub dedup_key: Option<String>,
    /// The signal that it conveys.
    pub signal: String,
    /// The session of that signal.
    pub session: String,
    /// The signal's position in its session's log, from 1.
    pub sequence: u64,
    /// The signal's kind.
    pub kind: String,
    /// The identity of the committed fact, unique in the store.
    pub identity: String,
    /// How long after its first delivery it may be delivered a second time unnoticed, in
    /// microseconds, as its sink has declared; nothing when the destination remembers its key for
    /// long enough, or when nothing is known of the sink yet.
    pub may_duplicate_after_us: Option<i64>,
    /// When it was committed, in microseconds since 1970 UTC.
    pub created_at_us: i64,
    /// When it last changed, in microseconds since 1970 UTC.
    pub updated_at_us: i64,
}

/// An intent and everything that happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OutboxHistory {
    /// The intent as it stands.
    #[serde(flatten)]
    pub entry: OutboxEntry,
    /// Its changes, oldest first.
    pub transitions: Vec<OutboxTransition>,
}

/// One change of an intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OutboxTransition {
    /// Where it stood before; nothing for the first one.
    pub from: Option<OutboxStatus>,
    /// Where it stood after.
    pub to: OutboxStatus,
    /// The attempt that it belongs to.
    pub attempt: u32,
    /// Why, for example `dispatch.pending.retry_backoff`.
    pub reason: String,
    /// What went wrong, or what the sink gave.
    pub detail: Option<String>,
    /// When, in microseconds since 1970 UTC.
    pub at_us: i64,
}

const ENTRY: &str = "\
    SELECT outbox.public_id, outbox.sink, outbox.status, outbox.attempt, \
           outbox.next_attempt_at_us, outbox.expires_at_us, outbox.last_error, outbox.receipt, \
           outbox.dedup_key, signal_log.public_id, session.name, signal_log.sequence, \
           signal_log.kind, operation.identity, outbox.created_at_us, outbox.updated_at_us, \
           (SELECT store_id FROM meta), outbox.id, outbox.failures, outbox.interrupted, \
           outbox.unacked, outbox.ack_required, delivery_snapshot.digest, \
           CASE WHEN json_valid(delivery_snapshot.body) \
                THEN delivery_snapshot.body ->> '$.deliver_to' END, \
           delivery_sink.may_duplicate_after_us ";

const JOINED: &str = " \
    JOIN signal_log ON signal_log.id = outbox.signal_id \
    JOIN operation ON operation.id = signal_log.operation_id \
    JOIN session ON session.id = signal_log.session_id \
    LEFT JOIN delivery_snapshot ON delivery_snapshot.id = outbox.snapshot_id \
    LEFT JOIN delivery_sink ON delivery_sink.name = outbox.sink ";

const TRANSITIONS: &str = "\
    SELECT from_status, to_status, attempt, reason, detail, at_us \
    FROM outbox_transition WHERE outbox_id = ? ORDER BY ordinal";

/// Walks what is not settled, in the order of its index.
const BACKLOG: &str = "\
    SELECT sink, count(*) FROM outbox WHERE status IN ('pending', 'delivering') GROUP BY sink";

/// The newest intents first; all of them or those in one state.
pub(crate) async fn entries(
    connection: &mut SqliteConnection,
    status: Option<OutboxStatus>,
    limit: u32,
) -> Result<Vec<OutboxEntry>, sqlx::Error> {
    // What is settled well is most of the outbox, and found by walking back from its end. The rest
    // has indexes of its own, which hold for a condition that is spelled as theirs is.
    let from = match status {
        None | Some(OutboxStatus::Delivered | OutboxStatus::Acked) => "FROM outbox",
        Some(OutboxStatus::Pending | OutboxStatus::Delivering) => {
            "FROM (SELECT * FROM outbox INDEXED BY outbox_due \
             WHERE status IN ('pending', 'delivering')) AS outbox"
        }
        Some(OutboxStatus::DeadLetter | OutboxStatus::Expired) => {
            "FROM (SELECT * FROM outbox INDEXED BY outbox_dead_letter \
             WHERE status IN ('dead_letter', 'expired')) AS outbox"
        }
    };
    let mut query = QueryBuilder::<Sqlite>::new(ENTRY);
    query.push(from).push(JOINED);
    if let Some(status) = status {
        query
            .push("WHERE outbox.status = ")
            .push_bind(status.as_str());
    }
    query
        .push(" ORDER BY outbox.id DESC LIMIT ")
        .push_bind(limit);
    let rows = query.build().fetch_all(connection).await?;
    rows.iter().map(OutboxEntry::read).collect()
}

/// How many intents of each sink still wait, by the name of the sink.
pub(crate) async fn backlog(
    connection: &mut SqliteConnection,
) -> Result<Vec<(String, u64)>, sqlx::Error> {
    let rows = sqlx::query(BACKLOG).fetch_all(connection).await?;
    let counts = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get::<i64, _>(1)?.unsigned_abs())));
    counts.collect()
}

/// One intent with its history, by its public id.
pub(crate) async fn history(
    connection: &mut SqliteConnection,
    id: &str,
) -> Result<Option<OutboxHistory>, sqlx::Error> {
    let mut query = QueryBuilder::<Sqlite>::new(ENTRY);
    query.push("FROM outbox").push(JOINED);
    query.push("WHERE outbox.public_id = ").push_bind(id);
    let Some(row) = query.build().fetch_optional(&mut *connection).await? else {
        return Ok(None);
    };
    let entry = OutboxEntry::read(&row)?;
    let key: i64 = row.try_get(17)?;
    let rows = sqlx::query(TRANSITIONS)
        .bind(key)
        .fetch_all(connection)
        .await?;
    let transitions = rows
        .iter()
        .map(OutboxTransition::read)
        .collect::<Result<_, _>>()?;
    Ok(Some(OutboxHistory { entry, transitions }))
}

impl OutboxEntry {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let id: String = row.try_get(0)?;
        Ok(Self {
            key: delivery_key(row.try_get(16)?, &id),
            id,
            sink: row.try_get(1)?,
            status: OutboxStatus::read(row, 2)?,
            attempt: row.try_get(3)?,
            failures: row.try_get(18)?,
            interrupted: row.try_get(19)?,
            unacked: row.try_get(20)?,
            ack_required: row.try_get(21)?,
            snapshot: row.try_get(22)?,
            deliver_to: row.try_get(23)?,
            may_duplicate_after_us: row.try_get(24)?,
            next_attempt_at_us: row.try_get(4)?,
            expires_at_us: row.try_get(5)?,
            last_error: row.try_get(6)?,
            receipt: row.try_get(7)?,
            dedup_key: row.try_get(8)?,
            signal: row.try_get(9)?,
            session: row.try_get(10)?,
            sequence: row.try_get::<i64, _>(11)?.unsigned_abs(),
            kind: row.try_get(12)?,
            identity: row.try_get(13)?,
            created_at_us: row.try_get(14)?,
            updated_at_us: row.try_get(15)?,
        })
    }
}

impl OutboxTransition {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let from: Option<&str> = row.try_get(0)?;
        Ok(Self {
            from: from.map(|_| OutboxStatus::read(row, 0)).transpose()?,
            to: OutboxStatus::read(row, 1)?,
            attempt: row.try_get(2)?,
            reason: row.try_get(3)?,
            detail: row.try_get(4)?,
            at_us: row.try_get(5)?,
        })
    }
}
