//! Why the state plane could not do what it was asked.
//!
//! One error for the whole crate: every call can meet the same store. What is an expected outcome
//! (a fact that is on record already, a lost race for a claim, a refused delivery) is data and never
//! one of these.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use crate::commit::StageError;

/// Why the state plane could not do what it was asked.
///
/// It is `Clone`, because one failed transaction answers every unit that shared it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The path of the store is a folder, a pipe or a device.
    #[error("{} is not a file; name a file for the store", path.display())]
    NotAFile {
        /// The path of the store.
        path: PathBuf,
    },
    /// The file is not an SQLite database, or is damaged beyond recognition.
    #[error(
        "{} is not a triplane store: it is no SQLite database; \
         move the file away or name another path",
        path.display()
    )]
    NotADatabase {
        /// The path of the store.
        path: PathBuf,
    },
    /// The file is a database that triplane did not make.
    #[error(
        "{} is a database of another program (application id {found:#010x}); name another path",
        path.display()
    )]
    ForeignDatabase {
        /// The path of the store.
        path: PathBuf,
        /// The application id in its header.
        found: i32,
    },
    /// A later version of triplane has written the store.
    #[error(
        "{} has schema version {found}, this program knows versions up to {known}; \
         use the newer triplane that wrote it",
        path.display()
    )]
    NewerSchema {
        /// The path of the store.
        path: PathBuf,
        /// The version in the file.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// No owner can keep tables under this namespace.
    #[error("`{namespace}` cannot be an owner's namespace: {says}")]
    NamespaceRefused {
        /// The namespace.
        namespace: String,
        /// Why not.
        says: &'static str,
    },
    /// A step of an owner's tables cannot be taken. None of the steps that were to be taken with it is.
    #[error("step {step} of the tables of `{namespace}` is refused: {says}")]
    OwnerStepRefused {
        /// The owner's namespace.
        namespace: String,
        /// The number of the step, from 1.
        step: u32,
        /// Why.
        says: String,
    },
    /// A connection runs with another setting than was asked for.
    #[error(
        "{} runs with {setting} = {found} instead of {wanted}; \
         a store that cannot keep its promise is not opened",
        path.display()
    )]
    SettingRefused {
        /// The path of the store.
        path: PathBuf,
        /// The name of the setting.
        setting: &'static str,
        /// What was asked for.
        wanted: String,
        /// What was read back.
        found: String,
    },
    /// The linked SQLite is too old: its write-ahead log can lose committed transactions.
    #[error("SQLite {found} is linked, version {wanted} or later is needed")]
    OldSqlite {
        /// The linked version.
        found: String,
        /// The oldest version that is accepted.
        wanted: &'static str,
    },
    /// A file or folder of the store could not be made, read or changed.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried, a verb.
        action: &'static str,
        /// What it was tried on.
        path: PathBuf,
        /// Why it failed.
        source: Arc<io::Error>,
    },
    /// Other processes held the store for the whole busy time.
    #[error(
        "{} was locked by others for {waited:.0?}; let them finish, or wait longer",
        path.display()
    )]
    Busy {
        /// The path of the store.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The store's files may be read but not written.
    #[error("{} cannot be written; look at its permissions and its file system", path.display())]
    ReadOnly {
        /// The path of the store.
        path: PathBuf,
    },
    /// There is no room for the write; nothing was committed. Later calls work again when there is.
    #[error(
        "there is no room on the disk of {}; make room and do this again, what was committed before stays",
        path.display()
    )]
    DiskFull {
        /// The path of the store.
        path: PathBuf,
    },
    /// The file was moved away, deleted or replaced while it was open. A commit that found this out
    /// is not acknowledged: nobody who opens the path would find it.
    #[error(
        "{} was moved, deleted or replaced while it was open; put it back or do this again",
        path.display()
    )]
    Moved {
        /// The path of the store.
        path: PathBuf,
    },
    /// A cursor stands behind the end of the log: the store is older than the cursor, as a file is
    /// that was copied by hand.
    #[error(
        "the cursor stands after {after}, and the log ends at {end}; \
         read from the beginning, or put the newer store back"
    )]
    CursorBeyondEnd {
        /// Where the cursor stands.
        after: u64,
        /// Where the log ends.
        end: u64,
    },
    /// A cursor belongs to another copy of the store.
    #[error(
        "the cursor belongs to the store epoch {cursor}, and this is {store}: one is a copy of the \
         other; read from the beginning, or use the store that the cursor is of"
    )]
    CursorOfAnotherEpoch {
        /// The epoch of the cursor.
        cursor: Uuid,
        /// The epoch of the store.
        store: Uuid,
    },
    /// Something stands where a backup was to be made. It is left as it is.
    #[error("{} is there already; name another path for the backup", path.display())]
    BackupExists {
        /// The path.
        path: PathBuf,
    },
    /// A backup was made and is not good. It was removed again.
    #[error("no backup was put at {}: {says}", path.display())]
    BackupUnsound {
        /// Where it was to stand.
        path: PathBuf,
        /// What is wrong with it.
        says: String,
    },
    /// The file contradicts itself.
    #[error("{} is damaged; keep the file and go back to a backup", path.display())]
    Damaged {
        /// The path of the store.
        path: PathBuf,
    },
    /// The store was closed, or the runtime that it works in is shutting down.
    #[error("the store is closed")]
    Closed,
    /// A participant could not stage its rows; nothing was committed.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// An intent names a signal that is not staged in the same unit; nothing was committed.
    #[error("intent {intent} names signal {signal}, which is not staged with it")]
    SignalNotStaged {
        /// The intent.
        intent: Uuid,
        /// The signal that it names.
        signal: Uuid,
    },
    /// An intent could be conveyed to nobody; nothing was committed.
    #[error("intent {intent} {says}")]
    IntentRefused {
        /// The intent.
        intent: Uuid,
        /// What is wrong with it.
        says: &'static str,
    },
    /// A unit stages more rows of one kind than are allowed; nothing was committed.
    #[error("the unit stages {rows} rows of one kind, {rows_max} are allowed")]
    TooManyRows {
        /// How many it stages.
        rows: usize,
        /// How many are allowed.
        rows_max: usize,
    },
    /// A payload is larger than the declared limit; nothing was committed.
    #[error("the payload of signal {signal} has {bytes} bytes, {bytes_max} are allowed")]
    PayloadTooLarge {
        /// The signal.
        signal: Uuid,
        /// The size of its payload.
        bytes: usize,
        /// The declared limit.
        bytes_max: usize,
    },
    /// A unit held the writer for longer than declared and was rolled back.
    #[error("the unit held the writer for more than {held_max:?} and was rolled back")]
    UnitExpired {
        /// How long a unit may hold the writer.
        held_max: Duration,
    },
    /// Rows were to be applied to a connection that has no open transaction.
    #[error("staged rows can only be applied inside a transaction of their owner")]
    NoTransaction,
    /// The database failed inside a transaction that its owner brought along.
    #[cfg(feature = "sqlite")]
    #[error("the database of the transaction's owner failed")]
    OwnerDatabase {
        /// What the database said.
        source: Arc<sqlx::Error>,
    },
    /// The database refused or failed.
    #[cfg(feature = "sqlite")]
    #[error("the database of {} failed", path.display())]
    Database {
        /// The path of the store.
        path: PathBuf,
        /// What the database said.
        source: Arc<sqlx::Error>,
    },
}
