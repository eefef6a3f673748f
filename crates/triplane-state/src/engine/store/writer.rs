//! The only connection that writes.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use rusqlite::Connection;
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use tokio::sync::Mutex;

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
        let mut held = self.held.lock().await;
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
        self.direct_and(body, |committed| committed)
            .await?
            .transpose()
    }

    /// As [`Writer::direct`], and tells `then` of what was committed before anybody is woken: it runs
    /// on the connection's thread and its answer is the answer. It hears of an error only when the
    /// store was moved away meanwhile.
    pub(crate) async fn direct_and<T: Send + 'static, U: Send + 'static>(
        &self,
        body: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        then: impl FnOnce(Result<T, StateError>) -> U + Send + 'static,
    ) -> Result<Option<U>, StateError> {
        let mut held = Arc::clone(&self.held).lock_owned().await;
        if held.connection.is_none() {
            return Err(StateError::Closed);
        }
        let patience = Patience::new(self.options.busy_timeout);
        self.file.check(&self.options.path)?;
        if matches!(held.shortcut, Shortcut::Possible) {
            let opened = Direct::open(&self.options, Role::Writer).await;
            held.shortcut = opened.map_or(Shortcut::None, Shortcut::Open);
        }
        let Shortcut::Open(direct) = &held.shortcut else {
            return Ok(None);
        };
        let (file, options) = (self.file, Arc::clone(&self.options));
        let ran = direct.run(move |connection| {
            transaction(connection, &patience, body).map(|value| {
                // SQLite goes on writing to a file that nobody can open any more.
                then(file.check(&options.path).map(|()| value))
            })
        });
        match ran.await {
            Some(Ran::Committed(told)) => Ok(Some(told)),
            Some(Ran::Busy(waited)) => Err(StateError::Busy {
                path: self.options.path.clone(),
                waited,
            }),
            Some(Ran::Failed) | None => Ok(None),
        }
    }

    /// Closes the connections once the running transaction has ended.
    ///
    /// # Errors
    ///
    /// What the database said.
    pub(crate) async fn close(&self) -> Result<(), StateError> {
        let mut held = self.held.lock().await;
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

/// Whether the driver takes `connection` for one with an open transaction for good. SQLite undoes a
/// transaction by itself when the error was one of the worst; the driver's own rollback fails then, and
/// it begins no other one.
async fn in_transaction(connection: &mut SqliteConnection) -> bool {
    // Behind a rollback that is on its way.
    connection.is_in_transaction()
        && (connection.execute("SELECT 1").await.is_err() || connection.is_in_transaction())
}
