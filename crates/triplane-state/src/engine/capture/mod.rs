//! What the store did not capture: known gaps, and intervals in which nothing can be known.
//!
//! ```text
//! refused commit ─► noted in memory ─► next commit that works ─► capture_gap
//!                                  └─► closing ─► the file `.gaps` beside the store ─┐
//! store that cannot be opened ──────► the file `.gaps` beside the store ─────────────┴─► capture_gap
//! ```
//!
//! A gap is a fact that somebody tried to commit and that was refused: counted, with its cause. That
//! no gap is on record does not mean that nothing is missing. A process that was killed takes its
//! notes along, and nobody notes anything when no process is there. So each handle that stays open
//! and commits leaves markers when it opens and when it closes, and what lies between the markers of
//! none is an interval in which nothing can be known.

mod gap;
mod spool;
mod note;
mod recorder;
mod report;

pub use gap::GapCause;
pub use note::note_uncaptured;
pub use report::{CaptureBinding, CaptureGap, CaptureReport, UnknownInterval};

pub(crate) use recorder::Capture;
pub(crate) use report::report;

#[cfg(test)]
mod tests;
