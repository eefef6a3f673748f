//! A few connections that only read, opened when they are first needed.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};

use crate::engine::store::busy::until_free;
use crate::engine::store::connect::{Role, Settings, connect_options};
use crate::engine::store::direct::Direct;
use crate::engine::store::options::{Lifetime, StoreOptions};
use crate::error::StateError;

/// How many readers work at once. Readers never wait for the writer, and it never for them.
const READERS_MAX: u32 = 4;

/// The connections that only read.
#[derive(Debug)]
pub(crate) struct Readers {
    options: Arc<StoreOptions>,
    idle: Arc<Mutex<Vec<SqliteConnection>>>,
    permits: Arc<Semaphore>,
    /// For pages of the log and batches of deliveries; nothing when it cannot be had.
    direct: OnceCell<Option<Direct>>,
}

impl Readers {
    pub(crate) fn new(options: Arc<StoreOptions>) -> Self {
        Self {
            options,
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(READERS_MAX as usize)),
            direct: OnceCell::new(),
        }
    }

    /// Reads with `job` where its connection is, one job after the other. Answers nothing when there
    /// is no such connection, or when what it reads fails: a [loan](Readers::lend) will say why.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub(crate) async fn direct<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Option<T> {
        let open = || async {
            match self.options.lifetime {
                Lifetime::Long => Direct::open(&self.options, Role::Reader).await,
                Lifetime::Short => None,
            }
        };
        let direct = self.direct.get_or_init(open).await.as_ref()?;
        direct.run(job).await?.ok()
    }

    /// Lends a connection; dropping the loan gives it back.
    ///
    /// # Errors
    ///
    /// [`StateError::Closed`] after [`Readers::close`]; whatever opening a connection can meet.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a loan that was not handed out is not taken.
    pub(crate) async fn lend(&self) -> Result<Reader, StateError> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_closed| StateError::Closed)?;
        let idle = lock(&self.idle).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open().await?,
        };
        Ok(Reader {
            connection: Some(connection),
            idle: Arc::clone(&self.idle),
            _permit: permit,
        })
    }

    async fn open(&self) -> Result<SqliteConnection, StateError> {
        let options = &self.options;
        let connect = connect_options(options, Role::Reader);
        let (connection, settings) = until_free(&options.path, options.busy_timeout, || async {
            let mut connection = connect.connect().await?;
            let settings = Settings::read(&mut connection).await?;
            Ok((connection, settings))
        })
        .await?;
        settings.check(&options.path, options.synchronous)?;
        Ok(connection)
    }

    /// Waits for every loan to come back and closes the connections.
    pub(crate) async fn close(&self) {
        if let Ok(all) = self.permits.acquire_many(READERS_MAX).await {
            self.permits.close();
            if let Some(Some(direct)) = self.direct.get() {
                direct.close().await;
            }
            let idle = std::mem::take(&mut *lock(&self.idle));
            for connection in idle {
                // Nothing can be lost with a connection that only read.
                connection.close().await.ok();
            }
            drop(all);
        }
    }
}

/// A connection on loan.
pub(crate) struct Reader {
    connection: Option<SqliteConnection>,
    idle: Arc<Mutex<Vec<SqliteConnection>>>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            lock(&self.idle).push(connection);
        }
    }
}

impl Deref for Reader {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        self.connection.as_ref().expect("lent until dropped")
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().expect("lent until dropped")
    }
}

fn lock(idle: &Mutex<Vec<SqliteConnection>>) -> std::sync::MutexGuard<'_, Vec<SqliteConnection>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}
