//! Looking at a store without touching it: nothing is made, upgraded or emptied.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use crate::engine::outbox::OutboxStatus;
use crate::engine::schema::{APPLICATION_ID, SCHEMA_VERSION};
use crate::engine::stats::{StoreStats, stats};
use crate::engine::store::{absolute, beside, failure};
use crate::error::StateError;

/// How closely a store is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scrutiny {
    /// Its header and its counts.
    Counts,
    /// Also every page and every index: takes as long as reading the whole file.
    Pages,
}

/// What a store says of itself.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct StoreInspection {
    /// The path of the store file, from the root.
    pub path: PathBuf,
    /// The version of the SQLite that this program is linked with.
    pub sqlite_version: String,
    /// The version of its schema.
    pub schema_version: i64,
    /// The newest version that this program knows.
    pub schema_known: i64,
    /// The id that it was made with and that its backups keep.
    pub store_id: String,
    /// The epoch of this copy: another one in every backup.
    pub store_epoch: String,
    /// When it was made, in microseconds since 1970 UTC.
    pub created_at_us: i64,
    /// What it holds.
    pub stats: StoreStats,
    /// The intent that has waited longest for its delivery.
    pub oldest_unsettled: Option<UnsettledIntent>,
    /// What contradicts itself, a sentence of the database each. Only
    /// [`Scrutiny::Pages`] looks for it.
    pub damage: Vec<String>,
}

/// An intent that waits for its delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnsettledIntent {
    /// The public id of the intent, a UUID v7.
    pub id: String,
    /// The sink that it is for.
    pub sink: String,
    /// Waiting, or with an attempt under way.
    pub status: OutboxStatus,
    /// How many attempts were claimed.
    pub attempt: u32,
    /// What the latest failed attempt said.
    pub last_error: Option<String>,
    /// When it was committed, in microseconds since 1970 UTC.
    pub created_at_us: i64,
}

const HEADER: &str = "\
    SELECT sqlite_version(), \
           (SELECT application_id FROM pragma_application_id), \
           (SELECT user_version FROM pragma_user_version)";

/// Reads what waits and nothing else.
const OLDEST_UNSETTLED: &str = "\
    SELECT public_id, sink, status, attempt, last_error, created_at_us \
    FROM outbox INDEXED BY outbox_due \
    WHERE status IN ('pending', 'delivering') ORDER BY id LIMIT 1";

/// How many contradictions are told; one is enough to know.
const DAMAGE: &str = "PRAGMA quick_check(5)";

/// Looks at the store at `path`.
pub(crate) async fn inspect(
    path: &Path,
    busy_timeout: Duration,
    scrutiny: Scrutiny,
) -> Result<StoreInspection, StateError> {
    let path = absolute(path)?;
    let failed = |error| failure(&path, error, busy_timeout);
    let mut connection = connect(&path, busy_timeout).await.map_err(failed)?;
    let looked = look(&mut connection, &path, scrutiny).await;
    // Nothing can be lost with a connection that only read.
    connection.close().await.ok();
    looked.map_err(failed)?
}

/// Opens the file for reading only. Where no log stands beside it nobody has it open, and it is
/// read as it is: SQLite would make a log and leave it behind.
async fn connect(path: &Path, busy_timeout: Duration) -> Result<SqliteConnection, sqlx::Error> {
    let alone = !beside(path, "-wal").exists();
    SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .immutable(alone)
        .busy_timeout(busy_timeout)
        .disable_statement_logging()
        .connect()
        .await
}

async fn look(
    connection: &mut SqliteConnection,
    path: &Path,
    scrutiny: Scrutiny,
) -> Result<Result<StoreInspection, StateError>, sqlx::Error> {
    let header = sqlx::query(HEADER).fetch_one(&mut *connection).await?;
    let application: i32 = header.try_get(1)?;
    if application != APPLICATION_ID {
        return Ok(Err(StateError::ForeignDatabase {
            path: path.to_owned(),
            found: application,
        }));
    }
    let schema_version: i64 = header.try_get(2)?;
    if schema_version > SCHEMA_VERSION {
        return Ok(Err(StateError::NewerSchema {
            path: path.to_owned(),
            found: schema_version,
            known: SCHEMA_VERSION,
        }));
    }
    let meta = sqlx::query("SELECT store_id, created_at_us, store_epoch FROM meta")
        .fetch_one(&mut *connection)
        .await?;
    let oldest = sqlx::query(OLDEST_UNSETTLED)
        .fetch_optional(&mut *connection)
        .await?;
    let damage = match scrutiny {
        Scrutiny::Counts => Vec::new(),
        Scrutiny::Pages => damage(connection).await?,
    };
    Ok(Ok(StoreInspection {
        path: path.to_owned(),
        sqlite_version: header.try_get(0)?,
        schema_version,
        schema_known: SCHEMA_VERSION,
        store_id: meta.try_get(0)?,
        store_epoch: meta.try_get(2)?,
        created_at_us: meta.try_get(1)?,
        stats: stats(connection).await?,
        oldest_unsettled: oldest.as_ref().map(UnsettledIntent::read).transpose()?,
        damage,
    }))
}

async fn damage(connection: &mut SqliteConnection) -> Result<Vec<String>, sqlx::Error> {
    let mut said: Vec<String> = sqlx::query_scalar(DAMAGE).fetch_all(connection).await?;
    said.retain(|sentence| sentence != "ok");
    Ok(said)
}

impl UnsettledIntent {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get(0)?,
            sink: row.try_get(1)?,
            status: OutboxStatus::read(row, 2)?,
            attempt: row.try_get(3)?,
            last_error: row.try_get(4)?,
            created_at_us: row.try_get(5)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;
    use crate::engine::handle::Store;
    use crate::engine::testing::{START_US, TestStore, fact, receipt};

    const WAIT: Duration = Duration::from_secs(1);

    /// Every file of the folder with its bytes.
    fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.clone(), fs::read(path).expect("a file")))
            .collect()
    }

    #[tokio::test]
    async fn a_closed_store_is_left_as_it_is() {
        let test = TestStore::open().await;
        for key in ["1", "2"] {
            let _receipt = receipt(test.commit(fact(key, "d")).await);
        }
        test.store.close().await.expect("closes");
        let folder = test.path.parent().expect("a folder");
        let before = files(folder);
        let found = Store::inspect(&test.path, WAIT, Scrutiny::Pages)
            .await
            .expect("looks");
        assert_eq!(files(folder), before);
        assert_eq!(found.stats.operations, 2);
        assert_eq!(found.created_at_us, START_US);
        assert_eq!(found.schema_version, found.schema_known);
        assert_eq!(found.damage, Vec::<String>::new());
        let oldest = found.oldest_unsettled.expect("an intent");
        assert_eq!((oldest.status, oldest.attempt), (OutboxStatus::Pending, 0));
    }

    #[tokio::test]
    async fn what_stands_in_the_log_only_is_seen() {
        let test = TestStore::open().await;
        let _receipt = receipt(test.commit(fact("1", "d")).await);
        let found = Store::inspect(&test.path, WAIT, Scrutiny::Counts)
            .await
            .expect("looks");
        assert_eq!(found.stats.signals, 1);
    }

    #[tokio::test]
    async fn what_is_no_store_is_named_and_a_missing_one_not_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.db");
        let looked = Store::inspect(&path, WAIT, Scrutiny::Counts).await;
        assert!(looked.is_err(), "{looked:?}");
        assert!(!path.exists());
        fs::write(
            &path,
            "no database, but long enough to be taken for one".repeat(40),
        )
        .expect("a file");
        let looked = Store::inspect(&path, WAIT, Scrutiny::Counts).await;
        assert!(
            matches!(looked, Err(StateError::NotADatabase { .. })),
            "{looked:?}"
        );
        fs::write(&path, "").expect("a file");
        let looked = Store::inspect(&path, WAIT, Scrutiny::Counts).await;
        assert!(
            matches!(looked, Err(StateError::ForeignDatabase { found: 0, .. })),
            "{looked:?}"
        );
    }
}
