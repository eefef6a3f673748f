//! A copy of a store while it is in use.
//!
//! The copy is made under another name beside its place, gets an epoch of its own, is checked, and
//! only then linked into place, which fails when something stands there. It keeps the store's id, so
//! what it delivers carries the same keys as the original.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};
use uuid::Uuid;

use crate::engine::check::check;
use crate::engine::store::{
    Connections, absolute, beside, check_closed, failure, file_error, folder_of, switch_to_log,
};
use crate::error::StateError;

/// A backup that was made and checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StoreBackup {
    /// Where it stands, from the root.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// The id of the store, which the backup keeps.
    pub store_id: String,
    /// The epoch of the backup, another one than that of its original.
    pub store_epoch: String,
    /// How many signals it holds.
    pub signals: u64,
    /// How many intents it holds.
    pub intents: u64,
}

/// Makes a backup at `to`.
pub(crate) async fn backup(
    connections: &Connections,
    to: &Path,
) -> Result<StoreBackup, StateError> {
    let to = absolute(to)?;
    if to.symlink_metadata().is_ok() {
        return Err(StateError::BackupExists { path: to });
    }
    let draft = Draft::new(&to)?;
    let patience = connections.options.busy_timeout;
    let mut source = SqliteConnectOptions::new()
        .filename(&connections.options.path)
        .busy_timeout(patience)
        .disable_statement_logging()
        .connect()
        .await
        .map_err(|error| connections.failure(error))?;
    let copied = sqlx::query("VACUUM INTO ?1")
        .bind(draft.path.to_string_lossy())
        .execute(&mut source)
        .await;
    // Nothing was written to the original.
    source.close().await.ok();
    copied.map_err(|error| at(&draft.path, &to, error))?;
    triplane_kernel::failpoint!("backup.copied");

    let failed = |error| at(&draft.path, &to, error);
    let mut copy = SqliteConnectOptions::new()
        .filename(&draft.path)
        .journal_mode(SqliteJournalMode::Delete)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .disable_statement_logging()
        .connect()
        .await
        .map_err(failed)?;
    let finished = finish(&mut copy).await;
    copy.close().await.map_err(failed)?;
    check_closed(&draft.path, &to)?;
    let (store_id, store_epoch, signals, intents, says) = finished.map_err(failed)?;
    let wanted = connections.store_id().await?;
    if store_id != wanted {
        return Err(StateError::BackupUnsound {
            path: to,
            says: format!("it has the id {store_id}, the store has {wanted}"),
        });
    }
    if let Some(says) = says {
        return Err(StateError::BackupUnsound { path: to, says });
    }
    triplane_kernel::failpoint!("backup.checked");
    let bytes = draft.put(&to)?;
    triplane_kernel::failpoint!("backup.placed");
    Ok(StoreBackup {
        path: to,
        bytes,
        store_id,
        store_epoch,
        signals,
        intents,
    })
}

type Finished = (String, String, u64, u64, Option<String>);

/// Gives the copy its epoch and looks it through.
async fn finish(copy: &mut SqliteConnection) -> Result<Finished, sqlx::Error> {
    sqlx::query("UPDATE meta SET store_epoch = ?1")
        .bind(Uuid::now_v7().to_string())
        .execute(&mut *copy)
        .await?;
    let row = sqlx::query(
        "SELECT store_id, store_epoch, (SELECT count(*) FROM signal_log), \
                (SELECT count(*) FROM outbox) FROM meta",
    )
    .fetch_one(&mut *copy)
    .await?;
    let found = check(copy).await?.into_iter().next();
    switch_to_log(copy).await?;
    let count = |column: usize| Ok::<_, sqlx::Error>(row.try_get::<i64, _>(column)?.unsigned_abs());
    Ok((
        row.try_get(0)?,
        row.try_get(1)?,
        count(2)?,
        count(3)?,
        found.map(|finding| finding.to_string()),
    ))
}

/// What went wrong with the draft, told of the place that it was for.
fn at(draft: &Path, to: &Path, error: sqlx::Error) -> StateError {
    match failure(draft, error, std::time::Duration::ZERO) {
        StateError::DiskFull { .. } => StateError::DiskFull {
            path: to.to_owned(),
        },
        error => error,
    }
}

/// The copy under its other name; removed when it is not put into place.
struct Draft {
    path: PathBuf,
}

impl Draft {
    /// Made before SQLite sees it, so that nobody else can read it from its first instant.
    fn new(to: &Path) -> Result<Self, StateError> {
        let path = beside(to, &format!(".{}.new", Uuid::now_v7().simple()));
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| file_error("make", to, error))?;
        Ok(Self { path })
    }

    /// Links the copy to `to`, unless something has come to stand there. Answers its size.
    fn put(&self, to: &Path) -> Result<u64, StateError> {
        let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
        sync(&self.path).map_err(|error| file_error("sync", to, error))?;
        let bytes = fs::metadata(&self.path).map_err(|error| file_error("read", to, error))?;
        match fs::hard_link(&self.path, to) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(StateError::BackupExists {
                    path: to.to_owned(),
                });
            }
            Err(error) => return Err(file_error("make", to, error)),
        }
        sync(folder_of(to)).map_err(|error| file_error("sync the folder of", to, error))?;
        Ok(bytes.len())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            // What cannot be removed has a name that nobody takes for a store.
            fs::remove_file(beside(&self.path, suffix)).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::engine::handle::Store;
    use crate::engine::store::StoreOptions;
    use crate::engine::testing::{Recorder, TestStore, fact, receipt};

    async fn meta(path: &Path) -> (String, String) {
        let inspected = Store::inspect(
            path,
            std::time::Duration::from_secs(1),
            crate::engine::inspect::Scrutiny::Pages,
        );
        let inspected = inspected.await.expect("looks");
        assert_eq!(inspected.damage, Vec::<String>::new());
        (inspected.store_id, inspected.store_epoch)
    }

    #[tokio::test]
    async fn a_backup_of_a_store_in_use_is_whole_private_and_of_its_own_epoch() {
        let test = TestStore::open().await;
        for number in 0..20 {
            let _receipt = receipt(test.commit(fact(&number.to_string(), "d")).await);
        }
        let to = test.path.with_file_name("backup.db");
        let made = test.store.backup(&to).await.expect("copies");
        assert_eq!((made.signals, made.intents), (20, 20));
        let bits = fs::metadata(&to).expect("a file").permissions().mode();
        assert_eq!(bits & 0o777, 0o600);
        let (id, epoch) = meta(&to).await;
        assert_eq!((&made.store_id, &made.store_epoch), (&id, &epoch));
        let (original_id, original_epoch) = meta(&test.path).await;
        assert_eq!(id, original_id);
        assert_ne!(epoch, original_epoch);

        // It delivers under the same keys as the original would.
        let keys = async |store: &Store| {
            let entries = store.outbox(None, 99).await.expect("reads");
            entries.into_iter().map(|it| it.key).collect::<Vec<_>>()
        };
        let copy = Store::open(StoreOptions::new(&to)).await.expect("opens");
        assert_eq!(keys(&copy).await, keys(&test.store).await);
        let cursor = test.store.cursor(3).await.expect("reads");
        let refused = copy.page(None, &cursor, None, 9).await;
        assert!(
            matches!(refused, Err(StateError::CursorOfAnotherEpoch { .. })),
            "{refused:?}"
        );
        let worker = copy.delivery().sink("sink", Recorder::delivering());
        assert_eq!(worker.deliver_due().await.expect("delivers").delivered, 20);
        copy.close().await.expect("closes");
        assert_eq!(test.store.unsettled().await.expect("counts"), 20);
    }

    #[tokio::test]
    async fn a_backup_never_takes_the_place_of_anything() {
        let test = TestStore::open().await;
        let folder = test.path.parent().expect("a folder");
        let taken = folder.join("taken");
        fs::write(&taken, "mine").expect("writes");
        let link = folder.join("link");
        std::os::unix::fs::symlink(folder.join("nowhere"), &link).expect("links");
        for to in [taken.as_path(), &link, &test.path, folder] {
            let refused = test.store.backup(to).await;
            assert!(
                matches!(refused, Err(StateError::BackupExists { .. })),
                "{refused:?}"
            );
        }
        assert_eq!(fs::read_to_string(&taken).expect("reads"), "mine");
        let refused = test.store.backup(folder.join("no/backup.db")).await;
        assert!(
            matches!(refused, Err(StateError::File { .. })),
            "{refused:?}"
        );
        let drafts = fs::read_dir(folder).expect("lists").filter(|entry| {
            let name = entry.as_ref().expect("an entry").file_name();
            name.to_string_lossy().contains(".new")
        });
        assert_eq!(drafts.count(), 0, "nothing is left behind");
    }

    #[tokio::test]
    async fn a_backup_of_what_contradicts_itself_is_not_reported_as_good() {
        let test = TestStore::open().await;
        let _receipt = receipt(test.commit(fact("k", "d")).await);
        sqlx::query("UPDATE outbox SET attempt = 7")
            .execute(&mut test.raw().await)
            .await
            .expect("writes");
        let to = test.path.with_file_name("backup.db");
        let refused = test.store.backup(&to).await;
        assert!(
            matches!(refused, Err(StateError::BackupUnsound { .. })),
            "{refused:?}"
        );
        assert!(!to.exists());
    }
}
