//! The only connection that writes.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::Mutex;

use crate::engine::store::busy::{Patience, failure, is_busy};
use crate::engine::store::options::StoreOptions;
use crate::engine::store::paths::FileIdentity;
use crate::error::StateError;

/// The only connection of this process that writes: one transaction at a time, first come, first
/// served. Other processes are kept out by SQLite's own lock.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    connection: Arc<Mutex<Option<SqliteConnection>>>,
    file: FileIdentity,
    options: Arc<StoreOptions>,
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
            connection: Arc::new(Mutex::new(Some(connection))),
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
        let mut held = self.connection.lock().await;
        let connection = held.as_mut().ok_or(StateError::Closed)?;
        let patience = Patience::new(self.options.busy_timeout);
        self.file.check(&self.options.path)?;
        loop {
            let mut transaction = match connection.begin_with("BEGIN IMMEDIATE").await {
                Ok(transaction) => transaction,
                Err(error) if is_busy(&error) && patience.is_left() => continue,
                Err(error) => return Err(self.failure(error, patience.waited())),
            };
            let value = match body(&mut transaction).await {
                Ok(value) => value,
                Err(Undo::Because(error)) => return Err(error),
                Err(Undo::Database(error)) => return Err(self.failure(error, patience.waited())),
            };
            return match transaction.commit().await {
                // SQLite goes on writing to a file that nobody can open any more.
                Ok(()) => self.file.check(&self.options.path).map(|()| value),
                Err(error) => Err(self.failure(error, patience.waited())),
            };
        }
    }

    /// Closes the connection once the running transaction has ended.
    ///
    /// # Errors
    ///
    /// What the database said.
    pub(crate) async fn close(&self) -> Result<(), StateError> {
        let connection = self.connection.lock().await.take();
        match connection {
            Some(connection) => connection
                .close()
                .await
                .map_err(|error| self.failure(error, Duration::ZERO)),
            None => Ok(()),
        }
    }

    fn failure(&self, error: sqlx::Error, waited: Duration) -> StateError {
        failure(&self.options.path, error, waited)
    }
}
