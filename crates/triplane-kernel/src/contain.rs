//! The wall between a handler's panic and the loop that runs it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::HandlerFailure;

/// Runs `work`; a panic in it becomes a failure.
///
/// Nothing that `work` borrows is looked at after a panic except the index of the handler that
/// panicked, which makes the assertion of unwind safety true.
#[inline]
pub(crate) fn contain<T>(work: impl FnOnce() -> T) -> Result<T, HandlerFailure> {
    catch_unwind(AssertUnwindSafe(work)).map_err(panicked)
}

// Apart from the wall itself, which is then small enough to be built into the loop that it guards.
#[cold]
#[inline(never)]
fn panicked(payload: Box<dyn Any + Send>) -> HandlerFailure {
    let failure = HandlerFailure::panicked(&*payload);
    // A payload may panic when it is dropped, and the second payload likewise: that one is leaked,
    // since there is no end to it otherwise.
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_that_panics_when_dropped_is_contained() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                std::panic::panic_any("from the payload");
            }
        }
        let failure = contain(|| std::panic::panic_any(Bomb)).unwrap_err();
        assert_eq!(failure.to_string(), "panicked: a panic without a message");
    }
}
