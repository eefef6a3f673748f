//! What can be chosen when a store is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::engine::schema::OwnerMigrations;

/// How a store is opened.
///
/// ```
/// use std::time::Duration;
/// use triplane_state::{StoreOptions, Synchronous};
///
/// let options = StoreOptions::new(".triplane/state.db")
///     .synchronous(Synchronous::Normal)
///     .busy_timeout(Duration::from_secs(2));
/// assert_eq!(options.path().file_name().unwrap(), "state.db");
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct StoreOptions {
    pub(crate) path: PathBuf,
    pub(crate) synchronous: Synchronous,
    pub(crate) lifetime: Lifetime,
    pub(crate) busy_timeout: Duration,
    pub(crate) unit_held_max: Duration,
    pub(crate) payload_bytes_max: usize,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) owners: Vec<OwnerMigrations>,
}

/// What a commit has survived when it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// Class `power`: a power cut. Every commit reaches the disk before it is acknowledged.
    #[default]
    Full,
    /// Class `process`: the death of the process. A power cut may undo the latest commits, whole
    /// and in order.
    Normal,
}

/// How long a program keeps its store open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lifetime {
    /// It works with the store for a while. The write-ahead log may grow to 20 MiB, and closing
    /// empties it into the database.
    #[default]
    Long,
    /// It commits a unit or two and is gone, and the next one is sure to follow. Closing leaves a
    /// log below half a MiB as it is: of five waits for the disk two remain.
    Short,
}

impl Synchronous {
    /// The number that SQLite gives to the setting.
    pub(crate) const fn level(self) -> i64 {
        match self {
            Self::Normal => 1,
            Self::Full => 2,
        }
    }
}

impl StoreOptions {
    /// The store in the file `path`, with `synchronous=FULL`, a busy time-out of 5 s, units that
    /// hold the writer for 5 s at most, and payloads of 64 MiB at most.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            synchronous: Synchronous::default(),
            lifetime: Lifetime::default(),
            busy_timeout: Duration::from_secs(5),
            unit_held_max: Duration::from_secs(5),
            payload_bytes_max: 64 << 20,
            clock: Arc::new(SystemClock::new()),
            owners: Vec::new(),
        }
    }

    /// The path of the store file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What a commit has survived when it is acknowledged.
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// How long the program keeps the store open.
    pub fn lifetime(mut self, lifetime: Lifetime) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// How long a call waits for other processes that hold the store before it answers
    /// [`StateError::Busy`](crate::StateError::Busy).
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How long a unit may hold the writer from its first own statement to its commit. After that
    /// it is rolled back, so that a forgotten unit does not stop all others.
    pub fn unit_held_max(mut self, held_max: Duration) -> Self {
        self.unit_held_max = held_max;
        self
    }

    /// The largest payload of a signal, in bytes. A larger one is refused.
    pub fn payload_bytes_max(mut self, bytes_max: usize) -> Self {
        self.payload_bytes_max = bytes_max;
        self
    }

    /// The clock that stored times are read from.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Takes the steps of an owner's tables that the store lacks, when it is opened.
    pub fn owner(mut self, owner: OwnerMigrations) -> Self {
        self.owners.push(owner);
        self
    }
}
