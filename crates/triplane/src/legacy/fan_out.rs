//! The list of handlers behind a legacy name, and the dispatcher that is made of it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use triplane_kernel::{DispatchPolicy, FanoutDispatcher, Keyed, Registration};

/// Entries in the order of registration, and a dispatcher over them.
///
/// A dispatcher is made once for each state of the list and never changed, so that an emission goes
/// on with what it began with, and a snapshot for a sync entry is never stale. Only the kernel runs
/// handlers; this makes registrations.
pub(crate) struct FanOut<E, S, T> {
    policy: DispatchPolicy,
    register: fn(&E) -> Registration<S, T>,
    state: Mutex<State<E, S, T>>,
}

struct State<E, S, T> {
    entries: Vec<E>,
    dispatcher: Option<Arc<FanoutDispatcher<S, T>>>,
}

impl<E, S, T> FanOut<E, S, T>
where
    S: Keyed + Send + Sync + 'static,
    T: Send + 'static,
{
    pub(crate) fn new(policy: DispatchPolicy, register: fn(&E) -> Registration<S, T>) -> Self {
        Self {
            policy,
            register,
            state: Mutex::new(State {
                entries: Vec::new(),
                dispatcher: None,
            }),
        }
    }

    pub(crate) fn policy(&self) -> &DispatchPolicy {
        &self.policy
    }

    /// Looks at the entries.
    pub(crate) fn read<R>(&self, look: impl FnOnce(&[E]) -> R) -> R {
        look(&self.lock().entries)
    }

    /// Changes the entries. Emissions that run already do not see it. What is removed must be returned,
    /// so that it is dropped behind the lock.
    pub(crate) fn change<R>(&self, change: impl FnOnce(&mut Vec<E>) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state.entries);
        // Dropped behind the lock: a handler's end may run anything, this list included.
        let old = state.dispatcher.take();
        drop(state);
        drop(old);
        result
    }

    /// The dispatcher over the entries as they are now.
    pub(crate) fn dispatcher(&self) -> Arc<FanoutDispatcher<S, T>> {
        let mut state = self.lock();
        if let Some(dispatcher) = &state.dispatcher {
            return Arc::clone(dispatcher);
        }
        let registrations = state.entries.iter().map(self.register);
        let dispatcher = Arc::new(dispatcher(self.policy.clone(), registrations));
        state.dispatcher = Some(Arc::clone(&dispatcher));
        dispatcher
    }

    /// The list is changed by whole operations of `Vec`, so that a panic leaves it whole.
    fn lock(&self) -> MutexGuard<'_, State<E, S, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A dispatcher over these registrations, in their order.
pub(crate) fn dispatcher<S, T>(
    policy: DispatchPolicy,
    registrations: impl IntoIterator<Item = Registration<S, T>>,
) -> FanoutDispatcher<S, T>
where
    S: Keyed + Send + Sync + 'static,
    T: Send + 'static,
{
    let dispatcher = FanoutDispatcher::new(policy);
    for registration in registrations {
        dispatcher.register(registration);
    }
    dispatcher
}

impl<E, S, T> fmt::Debug for FanOut<E, S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FanOut")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
