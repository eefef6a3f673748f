//! A connection on a thread of its own, for what is done again and again.
//!
//! Every statement that goes through the driver wakes its thread, and every row of an answer wakes
//! whoever waits: that costs more than the statements. A job runs where the connection is, as many
//! statements as it needs, and wakes once.
//!
//! It is a shorter way and no other one: what fails here is tried again on the ordinary connection,
//! which says why.

use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::oneshot;

use crate::engine::store::busy::Patience;
use crate::engine::store::connect::{
    LOG_BYTES_MAX, LOG_PAGES_MAX, Role, SETTINGS, Settings, WRITER_WAIT,
};
use crate::engine::store::options::StoreOptions;

/// How many statements stay prepared: every one that is asked here.
const STATEMENTS_MAX: usize = 96;

/// How long the thread waits for its next job before it sleeps.
const AWAKE: Duration = Duration::from_micros(80);

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The connection's thread, as long as this value exists.
#[derive(Debug)]
pub(crate) struct Direct {
    /// Nothing once it was closed.
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

/// What became of a transaction.
#[derive(Debug)]
pub(crate) enum Ran<T> {
    Committed(T),
    /// Others held the store for this long.
    Busy(Duration),
    /// Nothing is committed, and the ordinary connection will say why.
    Failed,
}

impl Direct {
    /// Opens a connection with the settings of `role`, or answers nothing when it cannot be had with
    /// all of them.
    pub(crate) async fn open(options: &StoreOptions, role: Role) -> Option<Self> {
        let (jobs, work) = mpsc::channel::<Job>();
        let (tell_opened, opened) = oneshot::channel();
        let (tell_ended, ended) = oneshot::channel();
        let options = options.clone();
        thread::Builder::new()
            .name("triplane-store".to_owned())
            .spawn(move || {
                let Some(connection) = connect(&options, role) else {
                    return;
                };
                if tell_opened.send(()).is_ok() {
                    while let Some(job) = next(&work) {
                        job(&connection);
                    }
                }
                drop(connection);
                tell_ended.send(()).ok();
            })
            .ok()?;
        opened.await.ok()?;
        Some(Self {
            jobs: Mutex::new(Some(jobs)),
            ended: Mutex::new(Some(ended)),
        })
    }

    /// Runs `job` on the connection's thread; answers nothing when there is none any more.
    ///
    /// When the future is dropped, the job runs all the same.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> T + Send + 'static,
    ) -> Option<T> {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            tell.send(job(connection)).ok();
        });
        lock(&self.jobs).as_ref()?.send(job).ok()?;
        told.await.ok()
    }

    /// Closes the connection once the jobs that wait are done.
    pub(crate) async fn close(&self) {
        drop(lock(&self.jobs).take());
        let ended = lock(&self.ended).take();
        if let Some(ended) = ended {
            // A thread that panicked has closed it as well.
            ended.await.ok();
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next job. A thread that sleeps is woken by the system, which takes longer than most jobs do:
/// whoever has just been answered mostly asks again before that, so it is waited for awake at first.
fn next(jobs: &mpsc::Receiver<Job>) -> Option<Job> {
    let since = Instant::now();
    loop {
        match jobs.try_recv() {
            Ok(job) => return Some(job),
            Err(mpsc::TryRecvError::Disconnected) => return None,
            Err(mpsc::TryRecvError::Empty) if since.elapsed() >= AWAKE => return jobs.recv().ok(),
            Err(mpsc::TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
}

/// Runs `body` in one immediate transaction: committed when it answers `Ok`, undone otherwise.
pub(crate) fn transaction<T>(
    connection: &Connection,
    patience: &Patience,
    body: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Ran<T> {
    match begin(connection, patience) {
        Ok(()) => {}
        Err(error) if is_busy(&error) => return Ran::Busy(patience.waited()),
        Err(_) => return Ran::Failed,
    }
    triplane_kernel::failpoint!("direct.begun");
    let ran = body(connection).and_then(|value| {
        triplane_kernel::failpoint!("direct.before_commit");
        execute(connection, "COMMIT").map(|()| value)
    });
    if let Ok(value) = ran {
        triplane_kernel::failpoint!("direct.committed");
        Ran::Committed(value)
    } else {
        // SQLite has undone it already when the error was one of the worst.
        execute(connection, "ROLLBACK").ok();
        Ran::Failed
    }
}

/// Begins an immediate transaction as soon as nobody else has one, while there is patience.
pub(crate) fn begin(connection: &Connection, patience: &Patience) -> rusqlite::Result<()> {
    loop {
        match execute(connection, "BEGIN IMMEDIATE") {
            Err(error) if is_busy(&error) && patience.is_left() => {}
            begun => return begun,
        }
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn connect(options: &StoreOptions, role: Role) -> Option<Connection> {
    let (connection, settings) = open(options, role).ok()?;
    settings.check(&options.path, options.synchronous).ok()?;
    Some(connection)
}

/// Opens a connection with the settings of `role`, and reads back what it really runs with.
pub(crate) fn open(options: &StoreOptions, role: Role) -> rusqlite::Result<(Connection, Settings)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&options.path, flags)?;
    set(&connection, options, role)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    let settings = connection.query_row(SETTINGS, [], |row| {
        Ok(Settings {
            journal_mode: row.get(0)?,
            synchronous: row.get(1)?,
            foreign_keys: row.get(2)?,
            application_id: row.get(3)?,
            schema_version: row.get(4)?,
            sqlite_version: row.get(5)?,
        })
    })?;
    Ok((connection, settings))
}

fn set(connection: &Connection, options: &StoreOptions, role: Role) -> rusqlite::Result<()> {
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", options.synchronous.level())?;
    match role {
        Role::Writer => {
            connection.busy_timeout(WRITER_WAIT.min(options.busy_timeout))?;
            connection.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
            connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)
        }
        Role::Reader => {
            connection.busy_timeout(options.busy_timeout)?;
            connection.pragma_update(None, "query_only", true)
        }
    }
}
