//! The form of the journals: one JSON line for each thing that was meant, answered or received.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A fact that is about to be told, with the ids of every row that is to go along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The identity of the fact.
    pub key: String,
    /// The session whose log its signal goes to.
    pub session: String,
    /// The id of the operation.
    pub operation: String,
    /// The id of the audit row.
    pub audit: String,
    /// The id of the signal.
    pub signal: String,
    /// The id of the intent.
    pub intent: String,
    /// Whether the owner writes a row of its own in the same transaction.
    pub owner_row: bool,
    /// The key under which only one intent may stand.
    pub dedup: Option<String>,
    /// The sink that the intent is for.
    pub sink: String,
}

/// One line of the producer's journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Entry {
    /// About to be told.
    Meant(Planned),
    /// Told, and then taken back by its owner: it must not be there.
    TakenBack {
        /// The identity of the fact.
        key: String,
    },
    /// The store has answered that the fact is committed.
    Acked {
        /// The identity of the fact.
        key: String,
        /// The process.
        pid: u32,
        /// The signal's position in its session's log; nothing when the fact was there before.
        sequence: Option<u64>,
        /// The intent that stands for it, perhaps the first one with the same dedup key.
        intent: Option<String>,
        /// Whether it was awaited before the next one of the same process was told.
        in_turn: bool,
    },
    /// The store refused something that nothing stood against.
    Refused {
        /// What was asked for.
        what: String,
        /// What it said.
        error: String,
    },
    /// A consumer's acknowledgement was confirmed.
    Confirmed {
        /// The intent.
        intent: String,
    },
    /// Intents are about to be purged.
    Purging,
    /// A purge was confirmed.
    Purged {
        /// The intents.
        intents: Vec<String>,
    },
    /// A connection was asked for its `synchronous` level.
    Synchronous {
        /// What it said: 1 is NORMAL, 2 is FULL.
        level: i64,
    },
    /// A backup was confirmed.
    BackedUp {
        /// Where it stands.
        path: String,
        /// How many signals it holds.
        signals: u64,
    },
    /// A process came to the end of its work.
    Idle,
}

/// One line of a destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Whether the delivery begins or has been answered.
    pub moment: Moment,
    /// The intent.
    pub intent: String,
    /// The identity of the fact.
    pub key: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// The worker's process; nothing when a command of its own wrote the line.
    pub pid: Option<u32>,
    /// When the batch with this attempt came, on the clock that nobody sets: its lease has run since.
    pub leased_us: Option<i64>,
    /// The clock that nobody sets, in microseconds, where it is known.
    pub boot_us: Option<i64>,
}

/// When a destination wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// The delivery has come.
    Begun,
    /// The destination is about to answer.
    Ended,
}

/// A file that lines are appended to, each on the disk when the call returns.
#[derive(Debug)]
pub struct Journal {
    file: File,
    synced: bool,
}

impl Journal {
    /// Opens or makes the file.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self { file, synced: true })
    }

    /// The same without waiting for the disk: for processes that are stopped and never killed.
    #[must_use]
    pub const fn without_sync(mut self) -> Self {
        self.synced = false;
        self
    }

    /// Appends the lines with one write, and waits for the disk.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn write<T: Serialize>(&self, lines: &[T]) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&serde_json::to_string(line)?);
            text.push('\n');
        }
        (&self.file).write_all(text.as_bytes())?;
        if self.synced {
            self.file.sync_data()?;
        }
        Ok(())
    }
}

/// Reads a journal. A line without an end was being written when its process died.
///
/// # Errors
///
/// A file that cannot be read, other than a missing one, or a whole line that is none.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().map(|line| Ok(serde_json::from_str(line)?));
    lines.collect()
}
