//! The only connection that writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use rusqlite::Connection;
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::engine::store::busy::{Patience, failure, is_busy};
use crate::engine::store::connect::{Role, connect_writer};
use crate::engine::store::direct::{Direct, Ran, transaction};
use crate::engine::store::options::{Lifetime, StoreOptions};
use crate::engine::store::paths::FileIdentity;
use crate::error::StateError;

/// The only connection of this process that writes: one transaction at a time, first come, first
/// served. Other processes are kept out by SQLite's own lock.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    held: Arc<Mutex<Held>>,
    /// How many wait for it.
    waiting: Arc<AtomicUsize>,
    file: FileIdentity,
    options: Arc<StoreOptions>,
}

/// What whoever has the writer has.
#[derive(Debug)]
struct Held {
    /// Nothing after the store was closed.
    connection: Option<SqliteConnection>,
    shortcut: Shortcut,
}

/// The connection for what is written again and again.
#[derive(Debug)]
enum Shortcut {
    /// Not asked for yet.
    Possible,
    Open(Direct),
    /// It cannot be had, or it would not be worth its opening.
    None,
}

/// Why a transaction is to be undone.
#[derive(Debug)]
pub(crate) enum Undo {
    /// A statement failed.
    Database(sqlx::Error),
    /// Whoever runs it does not want it.
    Because(StateError),
}

impl From<sqlx::Error> for Undo {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl Writer {
    pub(crate) fn new(
        connection: SqliteConnection,
        file: FileIdentity,
        options: Arc<StoreOptions>,
    ) -> Self {
        Self {
            held: Arc::new(Mutex::new(Held {
                connection: Some(connection),
                shortcut: match options.lifetime {
                    Lifetime::Long => Shortcut::Possible,
                    Lifetime::Short => Shortcut::None,
                },
            })),
            waiting: Arc::default(),
            file,
            options,
        }
    }

    /// Runs `body` in one immediate transaction: committed when it answers `Ok`, undone otherwise.
    ///
    /// `body` must await nothing but the connection.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`] when others held the store for the whole busy time, [`StateError::Moved`]
    /// when its path names another file by now, [`StateError::Closed`] after [`Writer::close`], what
    /// `body` answered, or what the database said to the commit.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe. Dropping the future rolls back, unless the commit was on its way already.
    pub(crate) async fn transaction<T, B>(&self, body: B) -> Result<T, StateError>
    where
        B: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, Undo>>,
    {
        let mut held = self.take().await;
        let connection = held.connection.as_mut().ok_or(StateError::Closed)?;
        let patience = Patience::new(self.options.busy_timeout);
        self.file.check(&self.options.path)?;
        if in_transaction(connection).await {
            *connection = connect_writer(&self.options).await?;
        }
        triplane_kernel::failpoint!("tx.before_begin");
        loop {
            let mut transaction = match connection.begin_with("BEGIN IMMEDIATE").await {
                Ok(transaction) => transaction,
                Err(error) if is_busy(&error) && patience.is_left() => continue,
                Err(error) => return Err(self.failure(error, patience.waited())),
            };
            triplane_kernel::failpoint!("tx.begun");
            let value = match body(&mut transaction).await {
                Ok(value) => value,
                Err(Undo::Because(error)) => return Err(error),
                Err(Undo::Database(error)) => return Err(self.failure(error, patience.waited())),
            };
            triplane_kernel::failpoint!("tx.before_commit");
            return match transaction.commit().await {
                // SQLite goes on writing to a file that nobody can open any more.
                Ok(()) => {
                    triplane_kernel::failpoint!("tx.committed");
                    self.file.check(&self.options.path).map(|()| value)
                }
                Err(error) => Err(self.failure(error, patience.waited())),
            };
        }
    }

    /// Runs `body` in one immediate transaction where its connection is: committed when it answers
    /// `Ok`. Answers nothing when nothing is committed and [`Writer::transaction`] would say why, or
    /// when there is no such connection.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`], [`StateError::Moved`] and [`StateError::Closed`] as there.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the transaction may still be committed, whole.
    pub(crate) async fn direct<T: Send + 'static>(
        &self,
        body: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<Option<T>, StateError> {
        let ran = self.lend(move |lent| lent.transaction(body)).await?;
        ran.transpose().map(Option::flatten)
    }

    /// Lends the connection that makes transactions on its own thread to `work`, which runs there.
    /// Answers nothing when there is no such connection.
    ///
    /// # Errors
    ///
    /// [`StateError::Moved`] and [`StateError::Closed`].
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, `work` runs all the same.
    pub(crate) async fn lend<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Lent<'_>) -> T + Send + 'static,
    ) -> Result<Option<T>, StateError> {
        let mut held = self.take().await;
        if held.connection.is_none() {
            return Err(StateError::Closed);
        }
        if matches!(held.shortcut, Shortcut::Possible) {
            // Later on each transaction looks.
            self.file.check(&self.options.path)?;
            let opened = Direct::open(&self.options, Role::Writer).await;
            held.shortcut = opened.map_or(Shortcut::None, Shortcut::Open);
        }
        let Shortcut::Open(direct) = &held.shortcut else {
            return Ok(None);
        };
        let (file, options, waiting) = (
            self.file,
            Arc::clone(&self.options),
            Arc::clone(&self.waiting),
        );
        let ran = direct.run(move |connection| {
            work(&Lent {
                connection,
                file,
                options: &options,
                waiting: &waiting,
            })
        });
        Ok(ran.await)
    }

    /// Waits for the writer.
    async fn take(&self) -> OwnedMutexGuard<Held> {
        let waits = Waits::begin(&self.waiting);
        let held = Arc::clone(&self.held).lock_owned().await;
        drop(waits);
        held
    }

    /// Closes the connections once the running transaction has ended.
    ///
    /// # Errors
    ///
    /// What the database said.
    pub(crate) async fn close(&self) -> Result<(), StateError> {
        let mut held = self.take().await;
        if let Shortcut::Open(direct) = std::mem::replace(&mut held.shortcut, Shortcut::None) {
            direct.close().await;
        }
        match held.connection.take() {
            Some(connection) => connection
                .close()
                .await
                .map_err(|error| self.failure(error, Duration::ZERO)),
            None => Ok(()),
        }
    }

    /// Whether there is a connection for what is written again and again.
    #[cfg(test)]
    pub(crate) async fn has_shortcut(&self) -> bool {
        matches!(self.held.lock().await.shortcut, Shortcut::Open(_))
    }

    fn failure(&self, error: sqlx::Error, waited: Duration) -> StateError {
        failure(&self.options.path, error, waited)
    }
}

/// The connection that makes transactions on its own thread, on loan.
pub(crate) struct Lent<'l> {
    connection: &'l Connection,
    file: FileIdentity,
    options: &'l StoreOptions,
    waiting: &'l AtomicUsize,
}

impl Lent<'_> {
    /// Runs `body` in one immediate transaction: committed when it answers `Ok`. Answers nothing when
    /// nothing is committed and [`Writer::transaction`] would say why.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`] and [`StateError::Moved`].
    pub(crate) fn transaction<T>(
        &self,
        body: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StateError> {
        let path = &self.options.path;
        self.file.check(path)?;
        let patience = Patience::new(self.options.busy_timeout);
        match transaction(self.connection, &patience, body) {
            // SQLite goes on writing to a file that nobody can open any more.
            Ran::Committed(value) => self.file.check(path).map(|()| Some(value)),
            Ran::Busy(waited) => Err(StateError::Busy {
                path: path.clone(),
                waited,
            }),
            Ran::Failed => Ok(None),
        }
    }

    /// Whether somebody waits for the writer.
    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

/// Counts among those who wait while it exists.
struct Waits<'w>(&'w AtomicUsize);

impl<'w> Waits<'w> {
    fn begin(waiting: &'w AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether the driver takes `connection` for one with an open transaction for good. SQLite undoes a
/// transaction by itself when the error was one of the worst; the driver's own rollback fails then, and
/// it begins no other one.
async fn in_transaction(connection: &mut SqliteConnection) -> bool {
    // Behind a rollback that is on its way.
    connection.is_in_transaction()
        && (connection.execute("SELECT 1").await.is_err() || connection.is_in_transaction())
}
