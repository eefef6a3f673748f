//! The processor's clock, and whose panic it was.

use std::cell::Cell;
use std::panic;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::command::parser_thread::PATIENCE;

/// What takes longer on the processor's clock is slow: it would be refused as late.
pub const SLOW: Duration = PATIENCE;

thread_local! {
    static GRAMMAR_PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// Hears panics, so that those of the grammar can be told from our own: they end a job and are a
/// refusal. Must be called once before [`shell`](crate::fuzz::shell).
pub fn listen_to_panics() {
    let outer = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let file = info.location().map_or("", |location| location.file());
        let grammars = file.contains("brush-parser");
        GRAMMAR_PANICKED.set(grammars);
        if !grammars {
            outer(info);
        }
    }));
}

/// Whether the last panic of this thread was the grammar's.
pub(crate) fn grammar_panicked() -> bool {
    GRAMMAR_PANICKED.get()
}

/// What `work` answers, and how long this thread worked for it.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = worked();
    let answer = work();
    (answer, worked().saturating_sub(start))
}

fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}
