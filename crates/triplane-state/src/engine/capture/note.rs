//! A note of whoever could not even open the store.

use std::path::Path;

use crate::clock::{Clock as _, SystemClock};
use crate::engine::capture::gap::{Gap, GapCause};
use crate::engine::capture::spool;
use crate::error::StateError;

/// Notes that `facts` could not be captured because the store at `path` could not be opened. The
/// note stands in a file beside the store until the next commit that works records it.
///
/// Answers whether the note could be written: without the folder of the store there is no place for
/// it, and nothing is known of these facts then.
pub fn note_uncaptured(path: &Path, facts: u64, error: &StateError) -> bool {
    let now_us = SystemClock::new().now_us();
    let gap = Gap::new(GapCause::of_opening(error), facts, now_us, error);
    spool::append(path, &[gap]).is_ok()
}
