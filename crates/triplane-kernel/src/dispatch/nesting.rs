//! How deep emissions are nested in handlers of emissions, on this thread and at this moment.

use std::cell::Cell;

use crate::dispatch::error::DispatchError;

/// The deepest nesting. Each level has its frames on the stack, and a handler that emits what it
/// handles would otherwise end in an overflow, which takes the process down.
pub(crate) const DEPTH_MAX: u32 = 64;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// One level, left when it is dropped.
pub(crate) struct Level(());

/// Enters one level for the time of one call or one poll.
pub(crate) fn enter() -> Result<Level, DispatchError> {
    DEPTH.with(|depth| {
        if depth.get() == DEPTH_MAX {
            return Err(DispatchError::NestedTooDeep { limit: DEPTH_MAX });
        }
        depth.set(depth.get() + 1);
        Ok(Level(()))
    })
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
    }
}
