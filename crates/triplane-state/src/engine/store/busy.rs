//! Telling "locked by others" from everything else, and waiting for it.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use libsqlite3_sys as ffi;
use rusqlite::ErrorCode;

use crate::error::StateError;

/// The wait between two tries that SQLite itself did not wait for.
const PAUSE: Duration = Duration::from_millis(1);

/// Runs `attempt` until it meets no lock of others, for `timeout` at most.
pub(crate) async fn until_free<T, F>(
    path: &Path,
    timeout: Duration,
    mut attempt: impl FnMut() -> F,
) -> Result<T, StateError>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let patience = Patience::new(timeout);
    loop {
        match attempt().await {
            Err(error) if is_busy(&error) && patience.is_left() => {
                tokio::time::sleep(PAUSE).await;
            }
            result => return result.map_err(|error| failure(path, error, patience.waited())),
        }
    }
}

/// How long has been waited, and whether there is time for one more try.
#[derive(Debug)]
pub(crate) struct Patience {
    since: Instant,
    timeout: Duration,
}

impl Patience {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            since: Instant::now(),
            timeout,
        }
    }

    pub(crate) fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    pub(crate) fn is_left(&self) -> bool {
        self.waited() < self.timeout
    }
}

/// The typed form of what the database said about the store at `path`.
pub(crate) fn failure(path: &Path, error: sqlx::Error, waited: Duration) -> StateError {
    let path = path.to_owned();
    // A new log needs room for its index, and that is where a full disk is noticed first.
    if result_code(&error) == Some(ffi::SQLITE_IOERR_SHMSIZE) {
        return StateError::DiskFull { path };
    }
    match primary_code(&error) {
        Some(ffi::SQLITE_BUSY) => StateError::Busy { path, waited },
        Some(ffi::SQLITE_NOTADB) => StateError::NotADatabase { path },
        Some(ffi::SQLITE_READONLY) => StateError::ReadOnly { path },
        // That the file is there was seen before: what cannot be opened is the log beside it.
        Some(ffi::SQLITE_CANTOPEN) if path.exists() => StateError::ReadOnly { path },
        Some(ffi::SQLITE_CANTOPEN) => StateError::Moved { path },
        Some(ffi::SQLITE_FULL) => StateError::DiskFull { path },
        Some(ffi::SQLITE_CORRUPT) => StateError::Damaged { path },
        _ => match error {
            sqlx::Error::WorkerCrashed | sqlx::Error::PoolClosed => StateError::Closed,
            error => StateError::Database {
                path,
                source: Arc::new(error),
            },
        },
    }
}

/// As [`failure`], of what another road to the database said.
pub(crate) fn direct_failure(path: &Path, error: rusqlite::Error, waited: Duration) -> StateError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => StateError::Busy { path, waited },
        Some(ErrorCode::NotADatabase) => StateError::NotADatabase { path },
        Some(ErrorCode::ReadOnly) => StateError::ReadOnly { path },
        Some(ErrorCode::CannotOpen) if path.exists() => StateError::ReadOnly { path },
        Some(ErrorCode::CannotOpen) => StateError::Moved { path },
        Some(ErrorCode::DiskFull) => StateError::DiskFull { path },
        Some(ErrorCode::DatabaseCorrupt) => StateError::Damaged { path },
        _ => StateError::Database {
            path,
            source: Arc::new(sqlx::Error::AnyDriverError(Box::new(error))),
        },
    }
}

pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(ffi::SQLITE_BUSY)
}

/// SQLite's result code without the extension in its upper bits.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    Some(result_code(error)? & 0xff)
}

fn result_code(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error()?.code()?.parse().ok()
}
