//! The signal log: immutable facts, in order, forever.
//!
//! Rows are appended by commits only. In each session the sequence is dense from 1, and a reader
//! that has seen n never later finds a new row at or below n: the sequence is given under the write
//! lock, in the transaction that commits the row.

mod read;
mod cursor;

pub use cursor::{CursorUnreadable, SignalCursor, SignalPage};
pub use read::{SessionSummary, SignalRecord};

pub(crate) use read::{end_of, page, page_direct, sessions, sessions_like, signal};
