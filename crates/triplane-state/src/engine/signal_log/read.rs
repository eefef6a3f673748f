//! Reading the log forward, in pages.

use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

/// One row of the log.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SignalRecord {
    /// The position in the whole log. Rises, with gaps where transactions were undone; it means
    /// something in this epoch of the store only, as a [`SignalCursor`](crate::SignalCursor) says.
    pub position: i64,
    /// The signal's id, a UUID v7.
    pub id: String,
    /// The session whose log it stands in.
    pub session: String,
    /// Its position there, from 1.
    pub sequence: u64,
    /// What happened, for example `operation.denied`.
    pub kind: String,
    /// Who states it: `owner` or `provider`.
    pub emitter: String,
    /// The invocation that it belongs to, if it belongs to one.
    pub invocation: Option<String>,
    /// When it occurred, in microseconds since 1970 UTC.
    pub occurred_at_us: i64,
    /// The operation that it tells of, a UUID v7.
    pub operation: String,
    /// The identity of that operation, unique in the store.
    pub identity: String,
    /// The declared type of the payload.
    pub payload_type: String,
    /// The version of that type.
    pub payload_version: u32,
    /// What exactly happened, one JSON value.
    pub payload: Box<RawValue>,
}

/// A session and how long its log is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The session's name, as its harness gives it.
    pub session: String,
    /// How many signals its log holds, which is the sequence of the latest one.
    pub signals: u64,
    /// When the latest one occurred, in microseconds since 1970 UTC.
    pub latest_at_us: Option<i64>,
}

macro_rules! page_of {
    ($condition:literal) => {
        concat!(
            "SELECT signal_log.id, signal_log.public_id, session.name, signal_log.sequence, ",
            "signal_log.kind, signal_log.emitter, signal_log.invocation, ",
            "signal_log.occurred_at_us, operation.public_id, operation.identity, ",
            "signal_log.payload_type, signal_log.payload_version, signal_log.payload ",
            "FROM signal_log ",
            "JOIN operation ON operation.id = signal_log.operation_id ",
            "JOIN session ON session.id = signal_log.session_id ",
            $condition,
        )
    };
}

/// A page of the whole log, in the order of commits.
pub(crate) const PAGE_OF_ALL: &str =
    page_of!("WHERE signal_log.id > ?1 ORDER BY signal_log.id LIMIT ?2");

/// A page of one session's log, in the order of its sequence.
pub(crate) const PAGE_OF_SESSION: &str = page_of!(
    "WHERE signal_log.session_id = (SELECT id FROM session WHERE name = ?3) \
     AND signal_log.sequence > ?1 ORDER BY signal_log.sequence LIMIT ?2"
);

macro_rules! sessions {
    ($end:literal) => {
        concat!(
            "SELECT session.name, latest.sequence, latest.occurred_at_us ",
            "FROM session LEFT JOIN signal_log AS latest ",
            "ON latest.session_id = session.id AND latest.sequence = ( ",
            "SELECT max(sequence) FROM signal_log WHERE session_id = session.id) ",
            $end,
        )
    };
}

/// The sessions that began last come first.
pub(crate) const SESSIONS: &str = sessions!("ORDER BY session.id DESC LIMIT ?1");

/// Names that begin alike stand together in the index: from the beginning itself up to the greatest
/// character behind it.
pub(crate) const SESSIONS_LIKE: &str = sessions!(
    "WHERE session.name >= ?2 AND session.name <= ?2 || char(0x10FFFF) \
     AND substr(session.name, 1, length(?2)) = ?2 ORDER BY session.name LIMIT ?1"
);

pub(crate) const BY_ID: &str = page_of!("WHERE signal_log.public_id = ?1");

/// Where the whole log ends, and where that of one session does.
pub(crate) const END_OF_ALL: &str = "SELECT max(id) FROM signal_log";
pub(crate) const END_OF_SESSION: &str = "\
    SELECT max(sequence) FROM signal_log \
    WHERE session_id = (SELECT id FROM session WHERE name = ?1)";

/// One signal, by its id.
pub(crate) async fn signal(
    connection: &mut SqliteConnection,
    id: &str,
) -> Result<Option<SignalRecord>, sqlx::Error> {
    let row = sqlx::query(BY_ID)
        .bind(id)
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(SignalRecord::read).transpose()
}

/// The last position of the whole log, or the last sequence of one session; 0 when it is empty.
pub(crate) async fn end_of(
    connection: &mut SqliteConnection,
    session: Option<&str>,
) -> Result<u64, sqlx::Error> {
    let query = match session {
        None => sqlx::query_scalar(END_OF_ALL),
        Some(name) => sqlx::query_scalar(END_OF_SESSION).bind(name),
    };
    let end: Option<i64> = query.fetch_one(connection).await?;
    Ok(end.unwrap_or_default().unsigned_abs())
}

/// Reads the page after `after`: a sequence for one session, a position for the whole log.
pub(crate) async fn page(
    connection: &mut SqliteConnection,
    session: Option<&str>,
    after: i64,
    limit: u32,
) -> Result<Vec<SignalRecord>, sqlx::Error> {
    let query = match session {
        None => sqlx::query(PAGE_OF_ALL).bind(after).bind(limit),
        Some(name) => sqlx::query(PAGE_OF_SESSION)
            .bind(after)
            .bind(limit)
            .bind(name),
    };
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(SignalRecord::read).collect()
}

/// As [`page`], where the connection is.
pub(crate) fn page_direct(
    connection: &rusqlite::Connection,
    session: Option<&str>,
    after: i64,
    limit: u32,
) -> rusqlite::Result<Vec<SignalRecord>> {
    let mut select = connection.prepare_cached(match session {
        None => PAGE_OF_ALL,
        Some(_) => PAGE_OF_SESSION,
    })?;
    let mut rows = match session {
        None => select.query((after, limit))?,
        Some(name) => select.query((after, limit, name))?,
    };
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(SignalRecord {
            position: row.get(0)?,
            id: row.get(1)?,
            session: row.get(2)?,
            sequence: row.get::<_, i64>(3)?.unsigned_abs(),
            kind: row.get(4)?,
            emitter: row.get(5)?,
            invocation: row.get(6)?,
            occurred_at_us: row.get(7)?,
            operation: row.get(8)?,
            identity: row.get(9)?,
            payload_type: row.get(10)?,
            payload_version: row.get(11)?,
            payload: RawValue::from_string(row.get(12)?).map_err(|error| {
                let kind = rusqlite::types::Type::Text;
                rusqlite::Error::FromSqlConversionFailure(12, kind, Box::new(error))
            })?,
        });
    }
    Ok(records)
}

pub(crate) async fn sessions(
    connection: &mut SqliteConnection,
    limit: u32,
) -> Result<Vec<SessionSummary>, sqlx::Error> {
    let query = sqlx::query(SESSIONS).bind(limit);
    summaries(&query.fetch_all(connection).await?)
}

/// The sessions whose names begin with `beginning`, in the order of their names.
pub(crate) async fn sessions_like(
    connection: &mut SqliteConnection,
    beginning: &str,
    limit: u32,
) -> Result<Vec<SessionSummary>, sqlx::Error> {
    let query = sqlx::query(SESSIONS_LIKE).bind(limit).bind(beginning);
    summaries(&query.fetch_all(connection).await?)
}

fn summaries(rows: &[SqliteRow]) -> Result<Vec<SessionSummary>, sqlx::Error> {
    let summaries = rows.iter().map(|row| {
        Ok(SessionSummary {
            session: row.try_get(0)?,
            signals: row
                .try_get::<Option<i64>, _>(1)?
                .unwrap_or_default()
                .unsigned_abs(),
            latest_at_us: row.try_get(2)?,
        })
    });
    summaries.collect()
}

impl SignalRecord {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            position: row.try_get(0)?,
            id: row.try_get(1)?,
            session: row.try_get(2)?,
            sequence: row.try_get::<i64, _>(3)?.unsigned_abs(),
            kind: row.try_get(4)?,
            emitter: row.try_get(5)?,
            invocation: row.try_get(6)?,
            occurred_at_us: row.try_get(7)?,
            operation: row.try_get(8)?,
            identity: row.try_get(9)?,
            payload_type: row.try_get(10)?,
            payload_version: row.try_get(11)?,
            payload: RawValue::from_string(row.try_get(12)?)
                .map_err(|error| sqlx::Error::Decode(error.into()))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::signal_log::read::{
        BY_ID, END_OF_SESSION, PAGE_OF_ALL, PAGE_OF_SESSION, SESSIONS_LIKE,
    };
    use crate::engine::testing::{TestStore, assert_looks_up, fact, receipt};

    #[tokio::test]
    async fn pages_follow_each_other_without_gap_or_repetition() {
        let test = TestStore::open().await;
        for number in 0..10 {
            let mut told = fact(&number.to_string(), "d");
            told.session = format!("s{}", number % 2);
            let _receipt = receipt(test.commit(told).await);
        }
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let page = test.store.signals(None, after, 3).await.expect("reads");
            let Some(last) = page.last() else { break };
            after = last.position;
            all.extend(page.into_iter().map(|it| it.identity));
        }
        assert_eq!(
            all,
            (0..10).map(|number| number.to_string()).collect::<Vec<_>>()
        );

        let page = test.store.signals(Some("s1"), 2, 2).await.expect("reads");
        let read: Vec<_> = page
            .iter()
            .map(|it| (it.sequence, it.identity.as_str()))
            .collect();
        assert_eq!(read, [(3, "5"), (4, "7")]);
        assert_eq!(page[0].payload.get(), r#"{"key":"5","digest":"d"}"#);
        assert!(
            test.store
                .signals(Some("nobody"), 0, 2)
                .await
                .expect("reads")
                .is_empty()
        );
    }

    #[tokio::test]
    async fn pages_are_looked_up() {
        let test = TestStore::open().await;
        for sql in [
            PAGE_OF_ALL,
            PAGE_OF_SESSION,
            SESSIONS_LIKE,
            BY_ID,
            END_OF_SESSION,
        ] {
            assert_looks_up(&test, sql).await;
        }
    }

    #[tokio::test]
    async fn sessions_are_found_by_their_beginning() {
        let test = TestStore::open().await;
        for session in ["b-1", "a", "b", "b-2", "c", "B", "b\u{10ffff}"] {
            let mut told = fact(session, "d");
            told.session = session.to_owned();
            let _receipt = receipt(test.commit(told).await);
        }
        for (beginning, limit, wanted) in [
            ("b-", 9, &["b-1", "b-2"][..]),
            ("b", 9, &["b", "b-1", "b-2", "b\u{10ffff}"]),
            ("b", 1, &["b"]),
            ("x", 9, &[]),
            ("", 2, &["B", "a"]),
            ("%", 9, &[]),
        ] {
            let found = test
                .store
                .sessions_like(beginning, limit)
                .await
                .expect("reads");
            let names: Vec<_> = found.iter().map(|it| it.session.as_str()).collect();
            assert_eq!(names, wanted, "{beginning:?}");
            assert!(found.iter().all(|it| it.signals == 1));
        }
    }
}
