//! Everything that the rooms above need of an open store.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Row as _, SqliteConnection};
use tokio::sync::{Notify, OnceCell};
use uuid::Uuid;

use crate::engine::store::busy::failure;
use crate::engine::store::connect::{connect_keeper, connect_writer};
use crate::engine::store::creation::ensure_file;
use crate::engine::store::options::StoreOptions;
use crate::engine::store::owners::take_owner_steps;
use crate::engine::store::paths::{FileIdentity, absolute};
use crate::engine::store::readers::Readers;
use crate::engine::store::writer::Writer;
use crate::error::StateError;

/// One open store: its writer, its readers and what was chosen for it.
#[derive(Debug)]
pub(crate) struct Connections {
    pub(crate) options: Arc<StoreOptions>,
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    identity: OnceCell<StoreIdentity>,
    /// Wakes whoever delivers in this process.
    pub(crate) enqueued: Notify,
}

/// Which store this is, and which copy of it.
#[derive(Debug)]
struct StoreIdentity {
    id: String,
    epoch: Uuid,
}

impl StoreIdentity {
    async fn read(connection: &mut SqliteConnection) -> Result<Self, sqlx::Error> {
        let row = sqlx::query("SELECT store_id, store_epoch FROM meta")
            .fetch_one(connection)
            .await?;
        let epoch = Uuid::parse_str(row.try_get(1)?);
        Ok(Self {
            id: row.try_get(0)?,
            epoch: epoch.map_err(|error| sqlx::Error::Decode(error.into()))?,
        })
    }
}

impl Connections {
    /// Makes the store if it does not exist, and opens the writer. Readers follow when needed.
    pub(crate) async fn open(mut options: StoreOptions) -> Result<Self, StateError> {
        // Readers follow later, perhaps from another folder; and SQLite takes a name that begins
        // with "file:" for an address.
        options.path = absolute(&options.path)?;
        ensure_file(&options).await?;
        let file = FileIdentity::of(&options.path)?;
        let connection = connect_writer(&options).await?;
        let options = Arc::new(options);
        take_owner_steps(&options).await?;
        Ok(Self {
            writer: Writer::new(connection, file, Arc::clone(&options)),
            readers: Readers::new(Arc::clone(&options)),
            identity: OnceCell::new(),
            enqueued: Notify::new(),
            options,
        })
    }

    pub(crate) fn now_us(&self) -> i64 {
        self.options.clock.now_us()
    }

    /// The id that the store got when it was made and that its backups keep.
    pub(crate) async fn store_id(&self) -> Result<&str, StateError> {
        Ok(&self.identity().await?.id)
    }

    /// The epoch of this copy of the store, which cursors belong to.
    pub(crate) async fn epoch(&self) -> Result<Uuid, StateError> {
        Ok(self.identity().await?.epoch)
    }

    async fn identity(&self) -> Result<&StoreIdentity, StateError> {
        self.identity
            .get_or_try_init(|| async {
                let mut reader = self.readers.lend().await?;
                StoreIdentity::read(&mut reader)
                    .await
                    .map_err(|error| self.failure(error))
            })
            .await
    }

    pub(crate) fn failure(&self, error: sqlx::Error) -> StateError {
        failure(&self.options.path, error, Duration::ZERO)
    }

    /// Closes the readers and then the writer. As the last connection it empties the log, unless
    /// another one is there to keep it.
    pub(crate) async fn close(&self) -> Result<(), StateError> {
        self.readers.close().await;
        let keeper = connect_keeper(&self.options);
        triplane_kernel::failpoint!("close.before_checkpoint");
        let closed = self.writer.close().await;
        triplane_kernel::failpoint!("close.checkpointed");
        drop(keeper);
        closed
    }
}
