//! How deep handlers are nested in handlers through emissions, on this thread and at this moment.

use std::cell::Cell;

use crate::dispatch::error::DispatchError;

/// The deepest nesting. Each level has its frames on the stack, and a handler that emits what it
/// handles would otherwise end in an overflow, which takes the process down.
const DEPTH_MAX: usize = 64;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Refuses to begin an emission that is nested too deep.
#[inline]
pub(crate) fn check() -> Result<(), DispatchError> {
    if DEPTH.get() >= DEPTH_MAX {
        return Err(DispatchError::NestedTooDeep { limit: DEPTH_MAX });
    }
    Ok(())
}

/// One level: handlers are called or polled while it lives.
pub(crate) struct Level(());

#[inline]
pub(crate) fn enter() -> Level {
    DEPTH.set(DEPTH.get() + 1);
    Level(())
}

impl Drop for Level {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
