//! Making a store that does not exist yet, by one process at a time.
//!
//! The file is built under another name, in the same folder and under a lock on that folder, and
//! then renamed. So nobody ever opens half a store, a crash leaves at most a file that the next
//! maker removes, and the switch to the write-ahead log, which needs the file for itself and does
//! not wait for it, meets nobody.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};

use crate::engine::schema::migrate;
use crate::engine::store::busy::{Patience, failure};
use crate::engine::store::options::StoreOptions;
use crate::engine::store::paths::{beside, file_error, folder_of};
use crate::error::StateError;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// What group and others may do.
const OTHERS: u32 = 0o077;

/// Makes the store file unless it is there, and sees to it that nobody else can read it.
pub(crate) async fn ensure_file(options: &StoreOptions) -> Result<(), StateError> {
    let path = &options.path;
    if is_made(path)? {
        return keep_private(path);
    }
    let folder = folder_of(path);
    make_folder(folder)?;
    let lock = FolderLock::take(folder, path, options.busy_timeout).await?;
    if is_made(path)? {
        return keep_private(path);
    }
    build(options, &lock).await
}

/// Whether a store, or at least a file with something in it, stands at `path`.
fn is_made(path: &Path) -> Result<bool, StateError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(found.len() > 0),
        Ok(_) => Err(StateError::NotAFile {
            path: path.to_owned(),
        }),
        // A link that leads nowhere is not replaced: whoever set it meant another place.
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => Ok(false),
        Err(error) => Err(file_error("open", path, error)),
    }
}

/// Takes the store's files from everybody but their owner.
fn keep_private(path: &Path) -> Result<(), StateError> {
    for path in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        match fs::metadata(&path) {
            Ok(found) if found.permissions().mode() & OTHERS == 0 => {}
            Ok(found) => {
                let private = Permissions::from_mode(found.permissions().mode() & !OTHERS);
                fs::set_permissions(&path, private)
                    .map_err(|error| file_error("make private", &path, error))?;
            }
            // The log is removed by whoever closes the store last, at any time.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(file_error("open", &path, error)),
        }
    }
    Ok(())
}

/// Makes the folder of the store, private and ignored by git. One that is there is left as it is.
fn make_folder(folder: &Path) -> Result<(), StateError> {
    let failed = |error| file_error("make the folder", folder, error);
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.mode(FOLDER_MODE).recursive(true);
    if let Some(above) = folder.parent().filter(|above| *above != Path::new("")) {
        builder.create(above).map_err(failed)?;
    }
    match builder.recursive(false).create(folder) {
        Ok(()) => {
            let ignore = folder.join(".gitignore");
            fs::write(&ignore, "*\n").map_err(|error| file_error("write", &ignore, error))?;
            sync_folder(folder_of(folder)).map_err(failed)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// The right to make the store in one folder. The kernel takes it back when its holder dies.
struct FolderLock {
    folder: File,
}

impl FolderLock {
    async fn take(folder: &Path, path: &Path, timeout: Duration) -> Result<Self, StateError> {
        let failed = |error| file_error("lock the folder", folder, error);
        let file = File::open(folder).map_err(failed)?;
        let patience = Patience::new(timeout);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { folder: file }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if patience.is_left() => {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StateError::Busy {
                        path: path.to_owned(),
                        waited: patience.waited(),
                    });
                }
            }
        }
    }
}

async fn build(options: &StoreOptions, lock: &FolderLock) -> Result<(), StateError> {
    let path = &options.path;
    let draft = beside(path, ".new");
    for leftover in ["", "-wal", "-shm", "-journal"] {
        remove(&beside(&draft, leftover))?;
    }
    // Made before SQLite sees it, with its mode: its log files take the mode over. The handle is
    // closed again first, since closing it later would drop SQLite's locks on the file.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(&draft)
        .map_err(|error| file_error("make", path, error))?;

    // Nobody waits for this file yet, so it is synced once, when it is complete. And it is written
    // without a log: what is in a log is moved into the file when it is closed, and closing does not
    // say when there is no room for it.
    let connect = SqliteConnectOptions::new()
        .filename(&draft)
        .journal_mode(SqliteJournalMode::Memory)
        .synchronous(SqliteSynchronous::Off)
        .disable_statement_logging();
    triplane_kernel::failpoint!("create.drafted");
    let built = async {
        let mut connection = connect.connect().await?;
        let migrated = migrate(&mut connection, options.clock.now_us()).await;
        let switched = match migrated {
            Ok(_version) => switch_to_log(&mut connection).await,
            Err(error) => Err(error),
        };
        connection.close().await?;
        switched
    };
    built
        .await
        .map_err(|error| failure(path, error, Duration::ZERO))?;
    check_closed(&draft, path)?;

    File::open(&draft)
        .and_then(|file| file.sync_all())
        .map_err(|error| file_error("sync", &draft, error))?;
    triplane_kernel::failpoint!("create.before_rename");
    fs::rename(&draft, path).map_err(|error| file_error("make", path, error))?;
    triplane_kernel::failpoint!("create.renamed");
    lock.folder
        .sync_all()
        .map_err(|error| file_error("sync the folder of", path, error))
}

/// Makes the finished file one with a write-ahead log: two bytes of its header.
pub(crate) async fn switch_to_log(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query("PRAGMA journal_mode = WAL")
        .execute(connection)
        .await?;
    Ok(())
}

/// Fails when the closed `draft` has left something in a log: it is not whole without it, and a log
/// is not renamed with its file.
pub(crate) fn check_closed(draft: &Path, path: &Path) -> Result<(), StateError> {
    match fs::metadata(beside(draft, "-wal")) {
        Ok(log) if log.len() > 0 => Err(StateError::DiskFull {
            path: path.to_owned(),
        }),
        _ => Ok(()),
    }
}

fn remove(path: &Path) -> Result<(), StateError> {
    match fs::remove_file(path) {
        // A file system that cannot be written says so first, even of a file that is not there.
        Err(error) if path.symlink_metadata().is_ok() => Err(file_error("remove", path, error)),
        _ => Ok(()),
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
