//! Bringing a store to the schema that this program knows.

use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};
use uuid::Uuid;

/// Marks a file as a triplane store: the bytes `tpln`.
pub(crate) const APPLICATION_ID: i32 = 0x7470_6c6e;

/// The newest schema version that this program knows.
pub(crate) const SCHEMA_VERSION: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// One step of the schema. Steps that were released are never changed.
pub(super) struct Migration {
    pub(super) version: i64,
    pub(super) sql: &'static str,
}

pub(super) const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        sql: concat!(
            include_str!("migrations/0001_initial.sql"),
            "PRAGMA user_version = 1;"
        ),
    },
    Migration {
        version: 2,
        sql: concat!(
            include_str!("migrations/0002_child_keys.sql"),
            "PRAGMA user_version = 2;"
        ),
    },
    Migration {
        version: 3,
        sql: concat!(
            include_str!("migrations/0003_operators.sql"),
            "PRAGMA user_version = 3;"
        ),
    },
    Migration {
        version: 4,
        sql: concat!(
            include_str!("migrations/0004_capture.sql"),
            "PRAGMA user_version = 4;"
        ),
    },
    Migration {
        version: 5,
        sql: concat!(
            include_str!("migrations/0005_sinks.sql"),
            "PRAGMA user_version = 5;"
        ),
    },
    Migration {
        version: 6,
        sql: concat!(
            include_str!("migrations/0006_runs.sql"),
            "PRAGMA user_version = 6;"
        ),
    },
    Migration {
        version: 7,
        sql: concat!(
            include_str!("migrations/0007_owners.sql"),
            "PRAGMA user_version = 7;"
        ),
    },
    Migration {
        version: 8,
        sql: concat!(
            include_str!("migrations/0008_plain_checks.sql"),
            "PRAGMA user_version = 8;"
        ),
    },
];

/// Applies every step that the store lacks, all of them or none. Answers the version that it has
/// then, which is a later one than this program knows when another program was faster.
///
/// When it fails, the connection is to be closed: its foreign keys may be off.
///
/// sqlx takes no lock across processes on SQLite, so the lock is taken here: one `BEGIN IMMEDIATE`
/// around everything, and the version is read again under it.
pub(crate) async fn migrate(
    connection: &mut SqliteConnection,
    now_us: i64,
) -> Result<i64, sqlx::Error> {
    // A step that makes a table anew takes the old one away, and its children are to stay. This can be
    // said outside of a transaction only.
    sqlx::raw_sql("PRAGMA foreign_keys = OFF")
        .execute(&mut *connection)
        .await?;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    triplane_kernel::failpoint!("migrate.begun");
    let found: i64 = sqlx::query("PRAGMA user_version")
        .fetch_one(&mut *transaction)
        .await?
        .try_get(0)?;
    for step in MIGRATIONS.iter().filter(|step| step.version > found) {
        let mut sql = step.sql;
        if triplane_kernel::planted!("version_outside_migration") {
            sql = sql.rsplit_once("PRAGMA").map_or(sql, |(steps, _)| steps);
        }
        sqlx::raw_sql(sql).execute(&mut *transaction).await?;
        triplane_kernel::failpoint!("migrate.step");
    }
    if found == 0 {
        sqlx::query(
            "INSERT INTO meta (id, store_id, store_epoch, created_at_us) VALUES (1, ?, ?, ?)",
        )
        .bind(Uuid::now_v7().to_string())
        .bind(Uuid::now_v7().to_string())
        .bind(now_us)
        .execute(&mut *transaction)
        .await?;
        // A pragma takes no bound value.
        let mark = format!("PRAGMA application_id = {APPLICATION_ID}");
        sqlx::raw_sql(AssertSqlSafe(mark))
            .execute(&mut *transaction)
            .await?;
    }
    triplane_kernel::failpoint!("migrate.before_commit");
    transaction.commit().await?;
    triplane_kernel::failpoint!("migrate.committed");
    sqlx::raw_sql("PRAGMA foreign_keys = ON")
        .execute(&mut *connection)
        .await?;
    if triplane_kernel::planted!("version_outside_migration") {
        let late = format!("PRAGMA user_version = {SCHEMA_VERSION}");
        sqlx::raw_sql(AssertSqlSafe(late))
            .execute(&mut *connection)
            .await?;
    }
    Ok(found.max(SCHEMA_VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_rise_by_one_from_one() {
        let versions: Vec<_> = MIGRATIONS.iter().map(|step| step.version).collect();
        let expected: Vec<_> = (1..=SCHEMA_VERSION).collect();
        assert_eq!(versions, expected);
        for step in MIGRATIONS {
            let sets = format!("PRAGMA user_version = {};", step.version);
            assert!(
                step.sql.ends_with(&sets),
                "step {} must end with {sets}",
                step.version
            );
        }
    }

    #[tokio::test]
    async fn a_second_run_changes_nothing() {
        let mut connection = SqliteConnection::connect(":memory:").await.expect("opens");
        migrate(&mut connection, 1).await.expect("first");
        let first: String = sqlx::query_scalar("SELECT store_id FROM meta")
            .fetch_one(&mut connection)
            .await
            .expect("meta");
        migrate(&mut connection, 2).await.expect("second");
        let second: String = sqlx::query_scalar("SELECT store_id FROM meta")
            .fetch_one(&mut connection)
            .await
            .expect("meta");
        assert_eq!(first, second);
        let id: i32 = sqlx::query_scalar("PRAGMA application_id")
            .fetch_one(&mut connection)
            .await
            .expect("id");
        assert_eq!(id, APPLICATION_ID);
    }
}
