//! The store's tables by raw SQL, past everything that the program says of them.

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

pub(crate) struct Rows {
    connection: SqliteConnection,
}

impl Rows {
    pub(crate) async fn open(store: &Path) -> Self {
        let options = SqliteConnectOptions::new()
            .filename(store)
            .create_if_missing(false);
        let connection = SqliteConnection::connect_with(&options)
            .await
            .expect("a store");
        Self { connection }
    }

    /// How many rows `table` (with a condition, if need be) holds.
    pub(crate) async fn count(&mut self, table: &str) -> i64 {
        self.number(&format!("SELECT count(*) FROM {table}")).await
    }

    pub(crate) async fn number(&mut self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_one(&mut self.connection)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) async fn run(&mut self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut self.connection)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    pub(crate) async fn texts(&mut self, sql: &str) -> Vec<String> {
        sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_all(&mut self.connection)
            .await
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Committed facts that lack a row which must have been committed with them, and rows that
    /// stand there once too often.
    pub(crate) async fn torn(&mut self) -> i64 {
        let lacking = self
            .number(
                "WITH told AS (SELECT s.operation_id AS id FROM outbox x
                    JOIN signal_log s ON s.id = x.signal_id)
                SELECT count(*) FROM operation WHERE id NOT IN (SELECT operation_id FROM audit)
                    OR id NOT IN (SELECT operation_id FROM signal_log)
                    OR id NOT IN (SELECT id FROM told)",
            )
            .await;
        let operations = self.count("operation").await;
        let mut repeated = 0;
        for table in ["audit", "signal_log", "outbox"] {
            repeated += (self.count(table).await - operations).abs();
        }
        lacking + repeated
    }

    /// Sessions whose sequence is not 1, 2, 3, … without a hole.
    pub(crate) async fn holes(&mut self) -> i64 {
        self.number(
            "SELECT count(*) FROM (SELECT session_id FROM signal_log GROUP BY session_id
                HAVING min(sequence) <> 1 OR max(sequence) <> count(*))",
        )
        .await
    }
}
