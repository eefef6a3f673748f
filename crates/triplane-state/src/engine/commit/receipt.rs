//! What a commit answers.

use serde::Serialize;
use uuid::Uuid;

/// The answer of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[must_use]
pub enum Committed {
    /// The fact and everything staged with it are committed.
    Recorded(Receipt),
    /// The fact was on record already; nothing was written.
    AlreadyRecorded(Recorded),
}

/// Whether there is something new to deliver.
pub(crate) fn has_intents(committed: &Committed) -> bool {
    match committed {
        Committed::Recorded(receipt) => !receipt.intents.is_empty(),
        Committed::AlreadyRecorded(_) => false,
    }
}

/// Proof that a fact is committed. Only a commit makes one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Receipt {
    pub(crate) operation: Uuid,
    pub(crate) identity: String,
    pub(crate) committed_at_us: i64,
    pub(crate) signals: Vec<SignalReceipt>,
    pub(crate) intents: Vec<IntentReceipt>,
}

impl Receipt {
    /// The operation.
    pub fn operation(&self) -> Uuid {
        self.operation
    }

    /// The identity that the fact was written under, unique in the store: its key, or the key plus
    /// `#` and a digest when another fact had the key.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// When the transaction was made, in microseconds since 1970 UTC.
    pub fn committed_at_us(&self) -> i64 {
        self.committed_at_us
    }

    /// The signals, in the order in which they were staged.
    pub fn signals(&self) -> &[SignalReceipt] {
        &self.signals
    }

    /// The intents, in the order in which they were staged.
    pub fn intents(&self) -> &[IntentReceipt] {
        &self.intents
    }
}

/// A signal that stands in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SignalReceipt {
    /// The signal.
    pub id: Uuid,
    /// The session whose log it stands in.
    pub session: String,
    /// Its position there, from 1.
    pub sequence: u64,
}

/// An intent that stands in the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IntentReceipt {
    /// The intent: the staged one, or the first one with the same dedup key.
    pub id: Uuid,
    /// The sink that it is for.
    pub sink: String,
    /// Whether this commit wrote it.
    pub enqueued: Enqueued,
}

/// Whether a commit wrote an intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Enqueued {
    /// Written by this commit.
    New,
    /// An intent with the same dedup key was there first.
    Before,
    /// An intent with the same dedup key was there first, and an operator has purged it since. Its
    /// key stays taken.
    Purged,
}

/// A fact that was on record before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Recorded {
    /// The operation that it was recorded as.
    pub operation: Uuid,
    /// The identity that it stands under.
    pub identity: String,
    /// When it was committed, in microseconds since 1970 UTC.
    pub committed_at_us: i64,
    /// How it was decided then, if it was judged.
    pub decision: Option<String>,
    /// The rule that spoke then.
    pub rule: Option<String>,
}
