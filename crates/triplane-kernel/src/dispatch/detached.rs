//! Work that goes on when its emission has returned, and that the dispatcher owns.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::future::{Either, select};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::contain::contain;
use crate::dispatch::call::Ended;
use crate::dispatch::index::Entry;
use crate::dispatch::outcome::HandlerOutcome;
use crate::dispatch::registration::RegistrationId;
use crate::dispatch::stage::log_failure;
use crate::dispatch::work::{Stop, Work};
use crate::failure::HandlerFailure;
use crate::name::RegistrationName;
use crate::sync::{Mutex, MutexGuard};

/// What a detached handler came to after its emission had returned.
#[derive(Debug)]
#[non_exhaustive]
pub struct LateOutcome {
    /// The registration's id.
    pub id: RegistrationId,
    /// The registration's name.
    pub name: RegistrationName,
    /// How the handler ended; its value, if it returned one, is dropped.
    pub result: Result<(), HandlerFailure>,
}

/// Takes late outcomes. It is called on the runtime, must be quick and must not block.
pub type LateSink = Arc<dyn Fn(LateOutcome) + Send + Sync>;

/// What a shutdown left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ShutdownReport {
    /// The registrations whose detached handlers were stopped unfinished, in the order in which
    /// they were detached.
    pub abandoned: Vec<RegistrationName>,
}

/// The detached handlers of one dispatcher. Dropping it stops them.
pub(crate) struct Detached {
    shared: Arc<Shared>,
    pub(crate) room: usize,
    pub(crate) sink: LateSink,
}

#[derive(Debug, Default)]
struct Shared {
    running: Mutex<Running>,
    /// Told whenever one has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    closed: bool,
    handlers: BTreeMap<u64, (RegistrationName, Option<AbortHandle>)>,
}

impl Default for Detached {
    /// Room for 64, and a sink that logs failures.
    fn default() -> Self {
        Self {
            shared: Arc::default(),
            room: 64,
            sink: Arc::new(|late| {
                if let Err(failure) = late.result {
                    log_failure(&late.name, &failure, "a detached handler failed");
                }
            }),
        }
    }
}

impl Detached {
    /// Lets a handler go on by itself; without room it is stopped instead.
    pub(crate) fn let_go<S, T: Send + 'static, U>(
        &self,
        entry: &Entry<S, T>,
        mut work: Work<'static, T>,
    ) -> HandlerOutcome<U> {
        let name = &entry.registration.name;
        let Some(ticket) = self.enter(name) else {
            return match work.stop(Stop::Deadline) {
                HandlerOutcome::TimedOut => HandlerOutcome::Overflowed,
                known => known,
            };
        };
        let key = ticket.key;
        let (id, name, sink) = (entry.id, name.clone(), Arc::clone(&self.sink));
        let task = tokio::spawn(async move {
            let _leaves = ticket;
            let result = match poll_fn(|cx| work.poll(cx)).await {
                Ended::Answered(answer) => answer.map(drop),
                Ended::Unawaited => Ok(()),
            };
            if let Err(failure) = contain(|| sink(LateOutcome { id, name, result })) {
                tracing::error!(failure = %failure.chain(), "the sink of late outcomes panicked");
            }
        });
        if let Some((_, handle)) = self.shared.lock().handlers.get_mut(&key) {
            *handle = Some(task.abort_handle());
        }
        HandlerOutcome::Detached
    }

    fn enter(&self, name: &RegistrationName) -> Option<Ticket> {
        let mut running = self.shared.lock();
        if running.closed || running.handlers.len() >= self.room {
            return None;
        }
        let key = running.next;
        running.next += 1;
        running.handlers.insert(key, (name.clone(), None));
        Some(Ticket {
            shared: Arc::clone(&self.shared),
            key,
        })
    }

    /// The number of handlers that run by themselves.
    pub(crate) fn len(&self) -> usize {
        self.shared.lock().handlers.len()
    }

    /// Takes no more, waits at most `budget` for those that run, and stops the rest.
    pub(crate) async fn shutdown(&self, budget: Duration) -> ShutdownReport {
        self.shared.lock().closed = true;
        let mut timer = pin!(sleep(budget));
        loop {
            let mut ended = pin!(self.shared.ended.notified());
            ended.as_mut().enable();
            if self.shared.lock().handlers.is_empty() {
                break;
            }
            if let Either::Right(_) = select(ended, timer.as_mut()).await {
                break;
            }
        }
        ShutdownReport {
            abandoned: self.shared.stop(),
        }
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        self.shared.stop();
    }
}

impl Shared {
    fn stop(&self) -> Vec<RegistrationName> {
        let handlers = {
            let mut running = self.lock();
            running.closed = true;
            std::mem::take(&mut running.handlers)
        };
        let stopped = handlers.into_values().map(|(name, task)| {
            if let Some(task) = task {
                task.abort();
            }
            name
        });
        stopped.collect()
    }

    /// The lock is held for map operations only, none of which leaves the map half changed.
    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the detached, given back when it is dropped.
struct Ticket {
    shared: Arc<Shared>,
    key: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.shared.lock().handlers.remove(&self.key);
        self.shared.ended.notify_waiters();
    }
}

impl fmt::Debug for Detached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detached")
            .field("running", &self.len())
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}
