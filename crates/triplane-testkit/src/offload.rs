//! Offloads that a test controls: tokio's paused clock stands still while blocking threads run.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use triplane_kernel::Offload;

/// Makes each call at once, on the thread that hands it in.
#[derive(Debug, Clone, Copy, Default)]
pub struct AtOnce;

impl Offload for AtOnce {
    fn submit(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}

/// Keeps calls until the test makes them, so that a deadline can come before or between them.
///
/// ```
/// use triplane_kernel::Offload;
/// use triplane_testkit::offload::Queue;
///
/// let queue = Queue::default();
/// queue.submit(Box::new(|| ()));
/// assert_eq!(queue.len(), 1);
/// assert!(queue.run_next());
/// assert!(!queue.run_next());
/// ```
#[derive(Default)]
pub struct Queue {
    calls: Mutex<VecDeque<Box<dyn FnOnce() + Send>>>,
}

impl Queue {
    /// The number of calls that are kept.
    pub fn len(&self) -> usize {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// Whether no call is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the oldest call on this thread; `false` when there is none.
    pub fn run_next(&self) -> bool {
        let next = self
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        let Some(call) = next else {
            return false;
        };
        call();
        true
    }
}

impl Offload for Queue {
    fn submit(&self, work: Box<dyn FnOnce() + Send>) {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(work);
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("calls", &self.len()).finish()
    }
}
