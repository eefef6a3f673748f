//! Opening one connection, and reading back what it really runs with.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Row as _, SqliteConnection};

use crate::engine::schema::{APPLICATION_ID, SCHEMA_VERSION, migrate};
use crate::engine::store::busy::{Patience, failure, is_busy, until_free};
use crate::engine::store::options::{Lifetime, StoreOptions, Synchronous};
use crate::engine::store::paths::beside;
use crate::error::StateError;

/// The oldest SQLite whose write-ahead log is free of the reset race (fixed in 3.51.3).
const SQLITE_OLDEST: &str = "3.51.3";
const _: () = assert!(libsqlite3_sys::SQLITE_VERSION_NUMBER >= 3_051_003);

/// The log is emptied into the database at this many pages of 4 KiB. A commit changes the last page of
/// a dozen trees, and each page is written back once however often it stands in the log: with a fifth
/// of this, writing back took longer than committing.
pub(crate) const LOG_PAGES_MAX: u32 = 4_000;
/// A log that a large transaction has stretched is cut to as many bytes when it begins anew. More than
/// the pages above and what the commit that passes them brings, or each log would be cut and grown.
pub(crate) const LOG_BYTES_MAX: u32 = 20 << 20;

/// A larger log is not kept: opening the store reads it, a fifth of a millisecond for this much.
const LOG_BYTES_KEPT: u64 = 400 << 10;

/// The writer asks SQLite to wait this long only and then asks anew: SQLite's own waits grow to
/// 100 ms, with which a process that looks in now and then starves behind one that writes all the
/// time.
pub(crate) const WRITER_WAIT: Duration = Duration::from_millis(12);

/// How many rows a reader's thread reads ahead of whoever takes them: a page, mostly.
const ROWS_AHEAD: usize = 256;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Writer,
    Reader,
}

/// The options of a connection to `path`. The journal mode is not among them: it is a property of
/// the file, set when it is made.
pub(crate) fn connect_options(options: &StoreOptions, role: Role) -> SqliteConnectOptions {
    let synchronous = match options.synchronous {
        _ if triplane_kernel::planted!("normal_sold_as_power") => SqliteSynchronous::Normal,
        Synchronous::Full => SqliteSynchronous::Full,
        Synchronous::Normal => SqliteSynchronous::Normal,
    };
    let connect = SqliteConnectOptions::new()
        .filename(&options.path)
        .foreign_keys(true)
        .synchronous(synchronous)
        .disable_statement_logging();
    match role {
        Role::Writer => connect
            .busy_timeout(WRITER_WAIT.min(options.busy_timeout))
            // Statements differ by their number of rows; a full group recurs, the others hardly.
            .statement_cache_capacity(24)
            .pragma("journal_size_limit", LOG_BYTES_MAX.to_string())
            .pragma("wal_autocheckpoint", LOG_PAGES_MAX.to_string()),
        Role::Reader => connect
            .busy_timeout(options.busy_timeout)
            .row_buffer_size(ROWS_AHEAD)
            .pragma("query_only", "ON"),
    }
}

/// Opens the writer's connection to a store file that exists, and upgrades its schema if needed.
pub(crate) async fn connect_writer(options: &StoreOptions) -> Result<SqliteConnection, StateError> {
    let connect = connect_options(options, Role::Writer);
    let (mut connection, settings) = until_free(&options.path, options.busy_timeout, || async {
        let mut connection = connect.connect().await?;
        let settings = Settings::read(&mut connection).await?;
        Ok((connection, settings))
    })
    .await?;
    settings.check(&options.path, options.synchronous)?;
    if settings.schema_version < SCHEMA_VERSION {
        upgrade(&mut connection, options).await?;
    }
    Ok(connection)
}

/// A connection that keeps the log from being emptied and removed when the others close, or nothing
/// when the log is to be emptied.
///
/// Whoever closes a store last takes it for itself and empties its log: SQLite then waits for the
/// disk twice, and the next commit waits once more for a new log. A connection that may only read
/// cannot take the file for itself, so it is the one to close last. It reads one page, which is in memory,
/// and so it does without a thread. The log must be emptied at some
/// time: what a checkpoint has moved already is forgotten with the last connection, so only emptying
/// it makes it short again.
pub(crate) fn connect_keeper(options: &StoreOptions) -> Option<Connection> {
    let log = fs::metadata(beside(&options.path, "-wal")).ok()?;
    if options.lifetime == Lifetime::Long || log.len() > LOG_BYTES_KEPT {
        return None;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // Without it the log is emptied, which is only slower.
    let connection = Connection::open_with_flags(&options.path, flags).ok()?;
    // Any read takes the shared lock; this one does not even look at the schema.
    let looked = connection.query_row("PRAGMA schema_version", [], |_row| Ok(()));
    looked.ok().map(|()| connection)
}

async fn upgrade(
    connection: &mut SqliteConnection,
    options: &StoreOptions,
) -> Result<(), StateError> {
    let patience = Patience::new(options.busy_timeout);
    loop {
        match migrate(connection, options.clock.now_us()).await {
            Err(error) if is_busy(&error) && patience.is_left() => {}
            Ok(found) if found > SCHEMA_VERSION => {
                return Err(StateError::NewerSchema {
                    path: options.path.clone(),
                    found,
                    known: SCHEMA_VERSION,
                });
            }
            Ok(_upgraded) => return Ok(()),
            Err(error) => return Err(failure(&options.path, error, patience.waited())),
        }
    }
}

/// What a connection really runs with.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) journal_mode: String,
    pub(crate) synchronous: i64,
    pub(crate) foreign_keys: i64,
    pub(crate) application_id: i32,
    pub(crate) schema_version: i64,
    pub(crate) sqlite_version: String,
}

/// One statement for all: every statement costs a hop to the connection's thread.
pub(crate) const SETTINGS: &str = "\
    SELECT (SELECT journal_mode FROM pragma_journal_mode), \
           (SELECT synchronous FROM pragma_synchronous), \
           (SELECT foreign_keys FROM pragma_foreign_keys), \
           (SELECT application_id FROM pragma_application_id), \
           (SELECT user_version FROM pragma_user_version), \
           sqlite_version()";

impl Settings {
    pub(crate) async fn read(connection: &mut SqliteConnection) -> Result<Self, sqlx::Error> {
        let row: SqliteRow = sqlx::query(SETTINGS).fetch_one(connection).await?;
        Ok(Self {
            journal_mode: row.try_get(0)?,
            synchronous: row.try_get(1)?,
            foreign_keys: row.try_get(2)?,
            application_id: row.try_get(3)?,
            schema_version: row.try_get(4)?,
            sqlite_version: row.try_get(5)?,
        })
    }

    /// Refuses what is not a triplane store of a known version, and every setting that differs.
    pub(crate) fn check(&self, path: &Path, synchronous: Synchronous) -> Result<(), StateError> {
        if version(&self.sqlite_version) < version(SQLITE_OLDEST) {
            return Err(StateError::OldSqlite {
                found: self.sqlite_version.clone(),
                wanted: SQLITE_OLDEST,
            });
        }
        if self.application_id != APPLICATION_ID {
            return Err(StateError::ForeignDatabase {
                path: path.to_owned(),
                found: self.application_id,
            });
        }
        if self.schema_version > SCHEMA_VERSION {
            return Err(StateError::NewerSchema {
                path: path.to_owned(),
                found: self.schema_version,
                known: SCHEMA_VERSION,
            });
        }
        let wanted = |setting, wanted: &str, found: &str| {
            if wanted == found {
                return Ok(());
            }
            Err(StateError::SettingRefused {
                path: path.to_owned(),
                setting,
                wanted: wanted.to_owned(),
                found: found.to_owned(),
            })
        };
        wanted("journal_mode", "wal", &self.journal_mode)?;
        if !triplane_kernel::planted!("normal_sold_as_power") {
            wanted(
                "synchronous",
                &synchronous.level().to_string(),
                &self.synchronous.to_string(),
            )?;
        }
        wanted("foreign_keys", "1", &self.foreign_keys.to_string())
    }
}

fn version(text: &str) -> Vec<u32> {
    text.split('.')
        .map_while(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            journal_mode: "wal".to_owned(),
            synchronous: 2,
            foreign_keys: 1,
            application_id: APPLICATION_ID,
            schema_version: SCHEMA_VERSION,
            sqlite_version: "3.53.0".to_owned(),
        }
    }

    fn check(settings: &Settings, starts: &str) {
        let refused = settings
            .check(Path::new("x.db"), Synchronous::Full)
            .expect_err("refused");
        let text = refused.to_string();
        assert!(text.contains(starts), "{text}");
    }

    #[test]
    fn every_setting_that_differs_is_refused() {
        assert!(
            settings()
                .check(Path::new("x.db"), Synchronous::Full)
                .is_ok()
        );
        check(
            &Settings {
                journal_mode: "delete".to_owned(),
                ..settings()
            },
            "journal_mode = delete",
        );
        check(
            &Settings {
                synchronous: 1,
                ..settings()
            },
            "synchronous = 1 instead of 2",
        );
        check(
            &Settings {
                foreign_keys: 0,
                ..settings()
            },
            "foreign_keys = 0",
        );
        check(
            &Settings {
                application_id: 7,
                ..settings()
            },
            "another program",
        );
        check(
            &Settings {
                schema_version: SCHEMA_VERSION + 1,
                ..settings()
            },
            "newer triplane",
        );
        check(
            &Settings {
                sqlite_version: "3.51.2".to_owned(),
                ..settings()
            },
            "SQLite 3.51.2",
        );
        check(
            &Settings {
                sqlite_version: "3.9.20".to_owned(),
                ..settings()
            },
            "SQLite 3.9.20",
        );
    }
}
