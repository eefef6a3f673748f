//! What a recorded session is made of.

use crate::wire::{HookEvent, Unreadable};

/// One find in a recorded session, and the line it stands on.
#[derive(Debug, Clone)]
pub struct Item {
    /// The number of the line, from 1.
    pub line: u64,
    /// What was found there.
    pub what: Entry,
}

/// What was found on a line.
#[derive(Debug, Clone)]
pub enum Entry {
    /// An event.
    Event(Box<HookEvent>),
    /// A known entry that holds no event: text, thinking, a summary, a command's output.
    WithoutEvent,
    /// Something that was not read.
    Skipped(Skip),
}

/// Why something was not read. Displays as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Skip {
    /// The line is longer than is read.
    #[error("the line is longer than {max} bytes")]
    TooLong {
        /// The longest line that is read, in bytes.
        max: usize,
    },
    /// The line, or an event in it, cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The entry is of a type that is not known.
    #[error("entries of type {0:?} are not known")]
    UnknownType(String),
}
