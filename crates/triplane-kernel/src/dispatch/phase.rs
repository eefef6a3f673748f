//! What every runner of a phase shares: what is called, what it may borrow, and when time is up.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::cancel::Scope;
use crate::contain::contain;
use crate::dispatch::call::{Calls, Ended, EntryPoint, Pause, owned};
use crate::dispatch::detached::Detached;
use crate::dispatch::index::{Entry, List};
use crate::dispatch::offload::Offload;
use crate::dispatch::planned::Planned;
use crate::dispatch::work::{Offloaded, Work};
use crate::failure::HandlerFailure;
use crate::policy::{DispatchConcurrency, DispatchPhase};

/// What the dispatcher lends to its emissions.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) phases: Box<[Planned]>,
    /// Whether reports say how long each handler took.
    pub(crate) timed: bool,
    pub(crate) offload: Arc<dyn Offload>,
    pub(crate) detached: Detached,
}

/// How many handlers an emission calls or settles before it lets others of its task run. A ready
/// handler costs tens of nanoseconds, so that a timer beside them is some microseconds late.
pub(crate) const YIELD_AFTER: usize = 256;

/// One emission, as its phases see it.
pub(crate) struct Emission<'e, S, T> {
    pub(crate) host: &'e Host,
    pub(crate) list: &'e List<S, T>,
    pub(crate) signal: &'e Arc<S>,
    pub(crate) scope: &'e Scope,
    pub(crate) from: EntryPoint,
}

/// One phase of one emission.
pub(crate) struct Phase<'e, S, T> {
    pub(crate) planned: &'e Planned,
    pub(crate) policy: &'e DispatchPhase,
    pub(crate) calls: Calls,
    pub(crate) host: &'e Host,
    pub(crate) list: &'e List<S, T>,
    pub(crate) signal: &'e Arc<S>,
    pub(crate) scope: &'e Scope,
    /// The scope of handlers that must see requests which are not the emitter's own; made when
    /// there is one.
    pub(crate) inner: &'e OnceLock<Scope>,
}

impl<'e, S, T> Phase<'e, S, T> {
    #[inline]
    pub(crate) fn new(
        emission: &Emission<'e, S, T>,
        planned: &'e Planned,
        inner: &'e OnceLock<Scope>,
    ) -> Self {
        let &Emission {
            host,
            list,
            signal,
            scope,
            from,
        } = emission;
        Self {
            planned,
            policy: &planned.phase,
            calls: planned.calls(from),
            host,
            list,
            signal,
            scope,
            inner,
        }
    }

    /// Whether each registration is simply called, here and in its turn, with the emitter's scope:
    /// nothing is asked of it first, and it cannot outlive the emission.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.planned.plain && !self.list.predicates && !self.list.cooperative && !self.host.timed
    }

    #[inline]
    pub(crate) fn selects(&self, entry: &Entry<S, T>) -> bool {
        self.policy.selector.selects(entry.registration.declared)
    }

    /// Asks the predicate, if there is one.
    #[inline]
    pub(crate) fn matches(&self, entry: &Entry<S, T>) -> Result<bool, HandlerFailure> {
        match &entry.registration.predicate {
            None => Ok(true),
            Some(accepts) => contain(|| accepts(self.signal)).and_then(|accepted| accepted),
        }
    }

    /// The scope that a handler sees.
    ///
    /// A handler that does not look at its scope gets the emitter's: it costs nothing. One that
    /// does must see the requests of this phase too. Beside others it gets a scope apart from the
    /// emitter's, whose request the phase passes on: a request made once would otherwise reach
    /// only the first that waits.
    #[inline]
    pub(crate) fn scope_of(&self, entry: &Entry<S, T>) -> &'e Scope {
        if entry.cooperates() {
            self.scope_of_cooperative()
        } else {
            self.scope
        }
    }

    fn scope_of_cooperative(&self) -> &'e Scope {
        match self.policy.concurrency {
            DispatchConcurrency::Sequential
                if self.policy.deadline.is_none() && !self.gathers() =>
            {
                self.scope
            }
            DispatchConcurrency::Sequential if !self.gathers() => {
                self.inner.get_or_init(|| self.scope.child())
            }
            DispatchConcurrency::Sequential | DispatchConcurrency::Concurrent => {
                self.inner.get_or_init(Scope::new)
            }
        }
    }

    pub(crate) fn gathers(&self) -> bool {
        self.policy.returned_awaitables.is_some()
    }
}

impl<S, T> Phase<'_, S, T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    /// Makes the call elsewhere.
    pub(crate) fn offload(&self, entry: &Arc<Entry<S, T>>) -> Work<'static, T> {
        let call = self.owned(entry, Pause::BeforeAwaiting);
        Work::Offloaded(Offloaded::submit(&*self.host.offload, call))
    }

    /// The call as a future that may outlive the emission.
    pub(crate) fn owned(
        &self,
        entry: &Arc<Entry<S, T>>,
        pause: Pause,
    ) -> BoxFuture<'static, Ended<T>> {
        let scope = self.scope_of(entry).clone();
        owned(
            Arc::clone(entry),
            Arc::clone(self.signal),
            scope,
            self.calls,
            pause,
        )
    }
}

/// The shared deadline of a phase.
pub(crate) struct Timer<'t> {
    /// When time is up.
    pub(crate) ends: Option<Instant>,
    /// Made at the first wait: a phase in which nobody waits needs no timer.
    pub(crate) sleep: Pin<&'t mut Option<Sleep>>,
    pub(crate) expired: bool,
}

impl Timer<'_> {
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(ends) = self.ends else {
            return Poll::Pending;
        };
        if self.sleep.is_none() {
            self.sleep.set(Some(sleep_until(ends)));
        }
        if let Some(sleep) = self.sleep.as_mut().as_pin_mut() {
            std::task::ready!(sleep.poll(cx));
        }
        self.expired = true;
        Poll::Ready(())
    }

    /// Looks at the clock. Handlers that never wait are not interrupted, so that a phase looks
    /// again whenever it has waited.
    pub(crate) fn look(&mut self) -> bool {
        if let Some(ends) = self.ends
            && ends <= Instant::now()
        {
            self.expired = true;
        }
        self.expired
    }
}
