//! The store's rows, by plain SQL.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _, SqliteConnection};

/// A read-only connection to the store.
pub(crate) struct Rows(SqliteConnection);

impl Rows {
    pub(crate) async fn open(path: &Path) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .disable_statement_logging();
        let mut rows = Self(options.connect().await?);
        // Everything below reads one state of the store.
        sqlx::raw_sql("BEGIN").execute(&mut rows.0).await?;
        Ok(rows)
    }

    /// The rows that `sql` answers.
    pub(crate) async fn all(&mut self, sql: &str) -> Result<Vec<SqliteRow>, sqlx::Error> {
        sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut self.0).await
    }

    /// The first column of every row, as text.
    pub(crate) async fn texts(&mut self, sql: &str) -> Result<Vec<String>, sqlx::Error> {
        let rows = self.all(sql).await?;
        rows.iter().map(|row| row.try_get(0)).collect()
    }

    /// Whether the store has a table of this name.
    pub(crate) async fn has(&mut self, table: &str) -> Result<bool, sqlx::Error> {
        let found = format!("SELECT name FROM sqlite_schema WHERE name = '{table}'");
        Ok(!self.all(&found).await?.is_empty())
    }
}
