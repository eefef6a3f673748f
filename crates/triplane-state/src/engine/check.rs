//! Whether a store agrees with itself: its pages, its keys, and what its rows say of each other.

use std::fmt;

use serde::Serialize;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use crate::engine::outbox::OutboxStatus;
use crate::engine::schema::migrate;
use crate::engine::snapshot::read_snapshot;

/// Something in a store that contradicts something else in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StoreFinding {
    /// What was looked at, for example `claims`.
    pub check: &'static str,
    /// Where: a session, an intent, a table.
    pub place: String,
    /// What is wrong there.
    pub says: String,
}

impl fmt::Display for StoreFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.check, self.place, self.says)
    }
}

/// What is looked at, in this order.
pub(crate) const CHECKS: &[&str] = &[
    "pages",
    "foreign_keys",
    "schema",
    "sequences",
    "log_order",
    "runs",
    "history",
    "chain",
    "edges",
    "replay",
    "claims",
    "strays",
    "acknowledgements",
    "purges",
    "snapshots",
];

/// How many findings of each check are told; one is enough to know.
const TOLD_MAX: usize = 20;

/// The checks that are one statement: each row that it answers is a finding, its place and what is
/// wrong there.
const STATEMENTS: &[(&str, &str)] = &[
    (
        "sequences",
        "SELECT session.name, 'holds ' || count(*) || ' signals from ' || min(sequence) \
                || ' to ' || max(sequence) \
         FROM signal_log JOIN session ON session.id = signal_log.session_id \
         GROUP BY signal_log.session_id HAVING count(*) <> max(sequence) OR min(sequence) <> 1",
    ),
    (
        "log_order",
        "SELECT session.name, 'signal ' || later.sequence || ' was committed before its \
                predecessor' \
         FROM signal_log AS later \
         JOIN signal_log AS earlier ON earlier.session_id = later.session_id \
              AND earlier.sequence = later.sequence - 1 \
         JOIN session ON session.id = later.session_id WHERE later.id <= earlier.id",
    ),
    (
        "runs",
        "SELECT 'operation ' || operation.id, 'has ' || coalesce(found.rows, 0) \
                || ' rows of evidence and says ' || operation.audits \
         FROM operation LEFT JOIN (SELECT operation_id, count(*) AS rows, min(id) AS first, \
                                          max(id) AS last FROM audit GROUP BY operation_id) AS found \
              ON found.operation_id = operation.id \
         WHERE coalesce(found.rows, 0) <> operation.audits OR found.first IS NOT first_audit \
            OR found.last - found.first + 1 <> found.rows \
         UNION ALL \
         SELECT 'operation ' || operation.id, 'has ' || coalesce(found.rows, 0) \
                || ' signals and says ' || operation.signals \
         FROM operation LEFT JOIN (SELECT operation_id, count(*) AS rows, min(id) AS first, \
                                          max(id) AS last FROM signal_log GROUP BY operation_id) \
              AS found ON found.operation_id = operation.id \
         WHERE coalesce(found.rows, 0) <> operation.signals OR found.first IS NOT first_signal \
            OR found.last - found.first + 1 <> found.rows \
         UNION ALL \
         SELECT 'intent ' || outbox.id, 'stands outside of the run of its operation' \
         FROM outbox JOIN signal_log ON signal_log.id = outbox.signal_id \
         JOIN operation ON operation.id = signal_log.operation_id \
         WHERE first_intent IS NULL \
            OR outbox.id NOT BETWEEN first_intent AND first_intent + intents - 1",
    ),
    (
        "history",
        "SELECT 'intent ' || outbox_id, 'has ' || count(*) || ' changes, numbered up to ' \
                || max(ordinal) \
         FROM outbox_transition GROUP BY outbox_id HAVING count(*) <> max(ordinal)",
    ),
    (
        "chain",
        "SELECT 'intent ' || later.outbox_id, 'change ' || later.ordinal || ' goes on from ' \
                || coalesce(later.from_status, 'nothing') || ', the one before ended in ' \
                || coalesce(earlier.to_status, 'nothing') \
         FROM outbox_transition AS later \
         LEFT JOIN outbox_transition AS earlier ON earlier.outbox_id = later.outbox_id \
              AND earlier.ordinal = later.ordinal - 1 \
         WHERE later.from_status IS NOT earlier.to_status",
    ),
    (
        "replay",
        "SELECT outbox.public_id, 'is ' || outbox.status || ' after ' || outbox.attempt \
                || ' attempts, its history ends in ' || coalesce(latest.to_status, 'nothing') \
                || ' after ' || coalesce(latest.attempt, 0) \
         FROM outbox LEFT JOIN outbox_transition AS latest ON latest.outbox_id = outbox.id \
              AND latest.ordinal = (SELECT max(ordinal) FROM outbox_transition \
                                    WHERE outbox_id = outbox.id) \
         WHERE latest.to_status IS NOT outbox.status OR latest.attempt IS NOT outbox.attempt",
    ),
    (
        "claims",
        "SELECT public_id, 'counts ' || attempt || ' attempts, its history has ' || claims \
         FROM (SELECT outbox.public_id, outbox.attempt, \
                      (SELECT count(*) FROM outbox_transition WHERE outbox_id = outbox.id \
                       AND to_status = 'delivering') AS claims FROM outbox) \
         WHERE attempt <> claims",
    ),
    (
        "strays",
        "SELECT 'intent ' || outbox_id, 'has a history, and neither a row nor a tombstone' \
         FROM outbox_transition WHERE ordinal = 1 \
              AND outbox_id NOT IN (SELECT id FROM outbox) \
              AND outbox_id NOT IN (SELECT outbox_id FROM outbox_tombstone)",
    ),
    (
        "acknowledgements",
        "SELECT public_id, 'is acked, and no acknowledgement was asked for' FROM outbox \
         WHERE status = 'acked' AND ack_required = 0 \
         UNION ALL \
         SELECT public_id, 'has a token of an attempt that was never made' FROM outbox \
         JOIN outbox_ack ON outbox_ack.outbox_id = outbox.id \
         WHERE outbox_ack.attempt > outbox.attempt",
    ),
    (
        "purges",
        "SELECT outbox_purge.public_id, 'took ' || outbox_purge.intents || ' intents and left ' \
                || count(outbox_tombstone.outbox_id) || ' tombstones' \
         FROM outbox_purge \
         LEFT JOIN outbox_tombstone ON outbox_tombstone.purge_id = outbox_purge.id \
         GROUP BY outbox_purge.id HAVING count(outbox_tombstone.outbox_id) <> outbox_purge.intents \
         UNION ALL \
         SELECT outbox_tombstone.public_id, 'was purged, and its history does not say so' \
         FROM outbox_tombstone WHERE NOT EXISTS (SELECT 1 FROM outbox_transition \
              WHERE outbox_transition.outbox_id = outbox_tombstone.outbox_id \
              AND to_status = 'purged')",
    ),
];

/// Looks a store through, in one snapshot of it. Takes as long as reading everything.
pub(crate) async fn check(
    connection: &mut SqliteConnection,
) -> Result<Vec<StoreFinding>, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    let mut findings = Vec::new();
    pages(&mut transaction, &mut findings).await?;
    if !findings.is_empty() {
        // What is read from damaged pages says nothing.
        return Ok(findings);
    }
    foreign_keys(&mut transaction, &mut findings).await?;
    schema(&mut transaction, &mut findings).await?;
    let edges = edges();
    let statements = STATEMENTS.iter().copied();
    for (check, sql) in statements.chain([("edges", edges.as_str())]) {
        let sql = format!("SELECT * FROM ({sql}) LIMIT {TOLD_MAX}");
        let rows = sqlx::query(AssertSqlSafe(sql))
            .fetch_all(&mut *transaction)
            .await?;
        for row in rows {
            findings.push(StoreFinding {
                check,
                place: row.try_get(0)?,
                says: row.try_get(1)?,
            });
        }
    }
    snapshots(&mut transaction, &mut findings).await?;
    transaction.rollback().await?;
    findings.sort_by_key(|finding| CHECKS.iter().position(|check| *check == finding.check));
    Ok(findings)
}

async fn pages(
    connection: &mut SqliteConnection,
    findings: &mut Vec<StoreFinding>,
) -> Result<(), sqlx::Error> {
    let said: Vec<String> =
        sqlx::query_scalar(AssertSqlSafe(format!("PRAGMA integrity_check({TOLD_MAX})")))
            .fetch_all(connection)
            .await?;
    let wrong = said.into_iter().filter(|says| says != "ok");
    findings.extend(wrong.map(|says| StoreFinding {
        check: "pages",
        place: "the file".to_owned(),
        says,
    }));
    Ok(())
}

async fn foreign_keys(
    connection: &mut SqliteConnection,
    findings: &mut Vec<StoreFinding>,
) -> Result<(), sqlx::Error> {
    let rows =
        sqlx::query("SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT 20")
            .fetch_all(connection)
            .await?;
    for row in rows {
        let (table, parent): (String, String) = (row.try_get(0)?, row.try_get(2)?);
        let place = match row.try_get::<Option<i64>, _>(1)? {
            Some(id) => format!("{table} {id}"),
            None => table,
        };
        findings.push(StoreFinding {
            check: "foreign_keys",
            place,
            says: format!("refers to a row of {parent} that is not there"),
        });
    }
    Ok(())
}

const SHAPE: &str = "\
    SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1";

/// Compares every table, index and trigger with those that this program makes. What owners have
/// added for themselves is left alone.
async fn schema(
    connection: &mut SqliteConnection,
    findings: &mut Vec<StoreFinding>,
) -> Result<(), sqlx::Error> {
    let mut model = SqliteConnection::connect(":memory:").await?;
    migrate(&mut model, 0).await?;
    let wanted: Vec<(String, String)> = sqlx::query_as(SHAPE).fetch_all(&mut model).await?;
    model.close().await?;
    let found: Vec<(String, String)> = sqlx::query_as(SHAPE).fetch_all(connection).await?;
    for (place, sql) in wanted {
        let says = match found.iter().find(|(name, _)| *name == place) {
            None => "is missing",
            Some((_, as_found)) if *as_found != sql => "is not as this program makes it",
            Some(_) => continue,
        };
        findings.push(StoreFinding {
            check: "schema",
            place,
            says: says.to_owned(),
        });
    }
    Ok(())
}

/// The changes that took no edge of the graph, which stands in [`OutboxStatus::may_become`] only.
fn edges() -> String {
    let mut legal = vec!["('', 'pending')".to_owned()];
    for from in OutboxStatus::ALL {
        let next = OutboxStatus::ALL.into_iter();
        let next = next.filter(|next| from.may_become(*next));
        legal.extend(next.map(|next| format!("('{}', '{}')", from.as_str(), next.as_str())));
        if from.is_settled() {
            legal.push(format!("('{}', 'purged')", from.as_str()));
        }
    }
    format!(
        "WITH legal (source, target) AS (VALUES {}) \
         SELECT 'intent ' || outbox_id, 'change ' || ordinal || ' goes from ' \
                || coalesce(from_status, 'nothing') || ' to ' || to_status \
         FROM outbox_transition WHERE NOT EXISTS (SELECT 1 FROM legal \
              WHERE source = coalesce(from_status, '') AND target = to_status)",
        legal.join(", ")
    )
}

async fn snapshots(
    connection: &mut SqliteConnection,
    findings: &mut Vec<StoreFinding>,
) -> Result<(), sqlx::Error> {
    let rows = sqlx::query(
        "SELECT DISTINCT outbox.sink, delivery_snapshot.version, delivery_snapshot.digest, \
                delivery_snapshot.body, delivery_snapshot.id \
         FROM outbox JOIN delivery_snapshot ON delivery_snapshot.id = outbox.snapshot_id",
    )
    .fetch_all(connection)
    .await?;
    let mut wrong = 0;
    for row in rows {
        let read = read_snapshot(
            row.try_get(0)?,
            row.try_get(1)?,
            row.try_get(2)?,
            row.try_get(3)?,
        );
        if let Err(says) = read
            && wrong < TOLD_MAX
        {
            wrong += 1;
            findings.push(StoreFinding {
                check: "snapshots",
                place: format!("delivery_snapshot {}", row.try_get::<i64, _>(4)?),
                says,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::outbox::IntentSelection;
    use crate::engine::testing::{MINUTE, Recorder, TestStore, fact, receipt};
    use crate::retry::RetryPolicy;

    /// A store in which everything has happened that can.
    async fn lived_in() -> TestStore {
        let test = TestStore::open().await;
        for number in 0..4 {
            let _receipt = receipt(test.commit(fact(&number.to_string(), "d")).await);
        }
        let once = RetryPolicy::new(1, MINUTE, MINUTE).expect("valid");
        let worker = test.store.delivery().retry(once);
        let failing = worker.sink("sink", Recorder::failing("no"));
        failing.deliver_due().await.expect("delivers");
        let report = test.store.retry(IntentSelection::new(), None).await;
        assert_eq!(report.expect("writes").intents.len(), 4);
        let worker = test.store.delivery().sink("sink", Recorder::delivering());
        worker.deliver_due().await.expect("delivers");
        let some = test.store.outbox(None, 2).await.expect("reads");
        let some = IntentSelection::new().ids(some.into_iter().map(|it| it.id));
        let report = test.store.purge(some, None).await.expect("writes");
        assert_eq!(report.intents.len(), 2);
        let _receipt = receipt(test.commit(fact("last", "d")).await);
        test
    }

    #[tokio::test]
    async fn a_store_that_was_used_as_it_should_agrees_with_itself() {
        let test = lived_in().await;
        assert_eq!(test.store.check().await.expect("looks"), []);
    }

    #[tokio::test]
    async fn every_check_finds_what_it_is_for() {
        for (check, change) in [
            ("foreign_keys", "DELETE FROM session"),
            ("schema", "DROP INDEX outbox_due"),
            ("schema", "DROP TRIGGER outbox_edge"),
            (
                "sequences",
                "UPDATE signal_log SET sequence = 90 WHERE id = 2",
            ),
            (
                "log_order",
                "UPDATE signal_log SET sequence = 90 WHERE id = 1; \
                 UPDATE signal_log SET sequence = 1 WHERE id = 2; \
                 UPDATE signal_log SET sequence = 2 WHERE id = 1",
            ),
            ("runs", "UPDATE operation SET audits = audits + 1"),
            (
                "runs",
                "UPDATE operation SET first_signal = first_signal + 1",
            ),
            ("runs", "UPDATE operation SET intents = intents - 1"),
            (
                "history",
                "DELETE FROM outbox_transition WHERE outbox_id = 1 AND ordinal = 2",
            ),
            (
                "chain",
                "UPDATE outbox_transition SET from_status = 'acked' WHERE ordinal = 2",
            ),
            (
                "edges",
                "UPDATE outbox_transition SET to_status = 'acked' WHERE ordinal = 1",
            ),
            (
                "replay",
                "DROP TRIGGER outbox_edge; UPDATE outbox SET status = 'expired'",
            ),
            ("claims", "UPDATE outbox SET attempt = attempt + 1"),
            ("strays", "DELETE FROM outbox WHERE id = 1"),
            (
                "acknowledgements",
                "INSERT INTO outbox_ack VALUES (1, 99, hex(zeroblob(32)))",
            ),
            ("purges", "DELETE FROM outbox_tombstone WHERE outbox_id = 3"),
            (
                "snapshots",
                "UPDATE delivery_snapshot SET body = body || ' '",
            ),
        ] {
            assert!(CHECKS.contains(&check));
            let test = lived_in().await;
            let mut raw = test.raw().await;
            let sql = format!("PRAGMA foreign_keys = OFF; {change}");
            sqlx::raw_sql(AssertSqlSafe(sql))
                .execute(&mut raw)
                .await
                .unwrap_or_else(|error| panic!("{change}: {error}"));
            let findings = test.store.check().await.expect("looks");
            assert!(
                findings.iter().any(|finding| finding.check == check),
                "{check}: {findings:?}"
            );
        }
    }
}
