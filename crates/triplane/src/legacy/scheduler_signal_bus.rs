//! `SchedulerSignalBus`: outcomes of scheduled runs, told to everybody beside each other.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use triplane_kernel::{
    Called, DispatchError, DispatchPolicy, Handler, HandlerFailure, Registration, Scope, profile,
};
use triplane_signals::SignalClass;

use crate::legacy::callback::Callback;
use crate::legacy::error::Raised;
use crate::legacy::fan_out::FanOut;
use crate::legacy::value::{Signal, Value};

/// A condition on a signal.
pub type SignalPredicate = dyn Fn(&Signal) -> Result<bool, HandlerFailure> + Send + Sync;

/// The old bus of the scheduler (plane: observation).
///
/// Move to [`SessionObservation`](triplane_signals::SessionObservation) in process, and to a delivery
/// for whoever must hear of a run's end for certain.
///
/// It is the kernel's profile `scheduler_signal_bus`: everybody is called before anybody is waited
/// for, all failures are raised as one group, and a handler's own cancellation is raised as
/// [`SchedulerHandlerCancelled`].
pub struct SchedulerSignalBus {
    subscriptions: FanOut<Subscription, Delivery, Option<Value>>,
    counters: Arc<Counters>,
}

#[derive(Clone)]
struct Subscription {
    classes: Vec<SignalClass>,
    predicates: Vec<Arc<SignalPredicate>>,
    callback: Callback<Signal>,
}

/// What was counted for one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCounters {
    /// Emissions, by class, in the order in which classes were first emitted.
    pub emitted: Vec<(SignalClass, u64)>,
    /// Deliveries to handlers whose conditions held.
    pub received: u64,
    /// Those of them that a handler answered something true to.
    pub acted_on: u64,
}

#[derive(Default)]
struct Counters {
    runs: Mutex<HashMap<String, RunCounters>>,
}

/// The counters of a run were taken while signals of the run were being delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the counters of run `{run_id}` are gone")]
pub struct CountersGone {
    /// The run.
    pub run_id: String,
}

/// A handler of the bus cancelled itself, or failed fatally (plane: observation).
///
/// Move to [`DispatchError::HandlerCancelled`], which the kernel raises under the same profile. Ordinary
/// failures of other handlers are the cause, or else the first cancellation is.
#[derive(Debug, Clone, thiserror::Error)]
#[error("a handler of the scheduler was cancelled: {raised}")]
pub struct SchedulerHandlerCancelled {
    /// What the kernel raised, with its report.
    pub raised: Raised,
}

/// What an emission of the bus raises.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SchedulerError {
    /// A handler cancelled itself, or failed fatally.
    #[error(transparent)]
    HandlerCancelled(#[from] SchedulerHandlerCancelled),
    /// Handlers failed, or the emitter was cancelled.
    #[error(transparent)]
    Raised(Raised),
}

impl SchedulerError {
    /// The same as the failure of a handler that raises it. The cancellation of a handler is of the
    /// class beyond ordinary errors: in the old package it was a cancellation that carries its cause,
    /// which [`HandlerFailure::Cancelled`] cannot.
    pub fn into_failure(self) -> HandlerFailure {
        match self {
            Self::HandlerCancelled(cancelled) => HandlerFailure::fatal(cancelled),
            Self::Raised(raised) => raised.into_failure(),
        }
    }
}

/// No class of signal is minted for this status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no signal is minted for the status `{status}` of a run")]
pub struct UnknownRunStatus {
    /// The status.
    pub status: String,
}

/// One signal on its way, with where to count.
struct Delivery {
    signal: Arc<Signal>,
    counters: Arc<Counters>,
}

impl triplane_kernel::Keyed for Delivery {
    fn keys(&self) -> impl Iterator<Item = triplane_kernel::Key> {
        triplane_kernel::Keyed::keys(&*self.signal)
    }
}

impl SchedulerSignalBus {
    /// Without handlers and counters.
    pub fn new() -> Self {
        Self::under(profile::scheduler_signal_bus())
    }

    pub(crate) fn under(policy: DispatchPolicy) -> Self {
        Self {
            subscriptions: FanOut::new(policy, register),
            counters: Arc::default(),
        }
    }

    /// Adds a handler for signals of one of these classes (of any, when there are none) that all
    /// predicates accept. One that is added twice is told twice.
    pub fn observe(
        &self,
        classes: Vec<SignalClass>,
        predicates: Vec<Arc<SignalPredicate>>,
        callback: &Callback<Signal>,
    ) {
        let callback = callback.clone();
        self.subscriptions.change(|all| {
            all.push(Subscription {
                classes,
                predicates,
                callback,
            });
        });
    }

    /// Removes every subscription of a handler, and says how many there were.
    pub fn unobserve(&self, callback: &Callback<Signal>) -> usize {
        let removed: Vec<_> = self.subscriptions.change(|all| {
            let removed = all.extract_if(.., |other| other.callback.is(callback));
            removed.collect()
        });
        removed.len()
    }

    /// The number of subscriptions.
    pub fn subscription_count(&self) -> usize {
        self.subscriptions.read(<[_]>::len)
    }

    /// Tells everybody, and returns what they answered, in the order of subscription. A signal with a
    /// `run_id` is counted, whether anybody hears of it or not.
    ///
    /// # Errors
    ///
    /// [`SchedulerError`], when everybody has answered.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the handlers that wait.
    pub async fn emit(
        &self,
        signal: Arc<Signal>,
        scope: &Scope,
    ) -> Result<Vec<Value>, SchedulerError> {
        self.counters.emitted(&signal);
        let delivery = Arc::new(Delivery {
            signal,
            counters: Arc::clone(&self.counters),
        });
        // The old bus made a task of each handler, and tasks begin when whatever is ready has had its
        // turn: handlers that stand beside one that emits are called before those of its emission.
        tokio::task::yield_now().await;
        match self.subscriptions.dispatcher().emit(&delivery, scope).await {
            Ok(report) => Ok(report.into_values().flatten().collect()),
            Err(error @ DispatchError::HandlerCancelled { .. }) => {
                let raised = error.into();
                Err(SchedulerHandlerCancelled { raised }.into())
            }
            Err(error) => Err(SchedulerError::Raised(error.into())),
        }
    }

    /// Takes the counters of a run; `None` when nothing was emitted for it since they were last taken.
    pub fn pop_run_counters(&self, run_id: &str) -> Option<RunCounters> {
        self.counters.lock().remove(run_id)
    }

    /// The counters of every run, by its id, in the order of ids.
    pub fn counters(&self) -> Vec<(String, RunCounters)> {
        let runs = self.counters.lock();
        let mut all: Vec<_> = runs
            .iter()
            .map(|(id, run)| (id.clone(), run.clone()))
            .collect();
        all.sort_by(|(one, _), (two, _)| one.cmp(two));
        all
    }

    /// The policy of every emission: the kernel's profile `scheduler_signal_bus`.
    pub fn policy(&self) -> &DispatchPolicy {
        self.subscriptions.policy()
    }
}

/// The signal of a run's end. A run whose time ran out has failed.
///
/// # Errors
///
/// [`UnknownRunStatus`] when the status is not an end.
pub fn schedule_run_signal(
    run_id: &str,
    status: &str,
    reason_code: &str,
) -> Result<Signal, UnknownRunStatus> {
    let class = match status {
        "completed" => SignalClass::ScheduleRunSucceeded,
        "failed" | "timed_out" => SignalClass::ScheduleRunFailed,
        "cancelled" => SignalClass::ScheduleRunCancelled,
        _ => {
            let status = status.to_owned();
            return Err(UnknownRunStatus { status });
        }
    };
    Ok(Signal::new(class)
        .with("run_id", run_id)
        .with("reason_code", reason_code))
}

impl Counters {
    fn emitted(&self, signal: &Signal) {
        let run_id = signal.text("run_id");
        if run_id.is_empty() {
            return;
        }
        let mut runs = self.lock();
        let emitted = &mut runs.entry(run_id.to_owned()).or_default().emitted;
        match emitted.iter_mut().find(|(class, _)| *class == signal.class) {
            Some((_, count)) => *count += 1,
            None => emitted.push((signal.class, 1)),
        }
    }

    fn count(&self, signal: &Signal, count: fn(&mut RunCounters)) -> Result<(), HandlerFailure> {
        let run_id = signal.text("run_id");
        if run_id.is_empty() {
            return Ok(());
        }
        if let Some(run) = self.lock().get_mut(run_id) {
            count(run);
            return Ok(());
        }
        let run_id = run_id.to_owned();
        Err(HandlerFailure::failed(CountersGone { run_id }))
    }

    /// Counts are changed one at a time, so that a panic leaves them whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, RunCounters>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn register(subscription: &Subscription) -> Registration<Delivery, Option<Value>> {
    let told = Told(subscription.clone());
    let registration = subscription.callback.registration(None, told);
    let classes = subscription.classes.iter();
    classes.fold(registration, |registration, class| {
        registration.on(class.key())
    })
}

/// A subscription as a handler. Its predicates are asked in its own turn, between the calls of the
/// others, and one that fails has failed as the handler does: `None` is no match.
struct Told(Subscription);

impl Told {
    fn accepts(&self, signal: &Signal) -> Result<bool, HandlerFailure> {
        for predicate in &self.0.predicates {
            if !predicate(signal)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Handler<Delivery, Option<Value>> for Told {
    fn call<'a>(
        &'a self,
        delivery: &'a Delivery,
        scope: &'a Scope,
    ) -> Called<'a, Result<Option<Value>, HandlerFailure>> {
        let Delivery { signal, counters } = delivery;
        match self.accepts(signal) {
            Ok(true) => {}
            Ok(false) => return Called::Now(Ok(None)),
            Err(failure) => return Called::Now(Err(failure)),
        }
        if let Err(gone) = counters.count(signal, |run| run.received += 1) {
            return Called::Now(Err(gone));
        }
        let acted = move |answer: Result<Value, HandlerFailure>| {
            let value = answer?;
            if value.is_truthy() {
                counters.count(signal, |run| run.acted_on += 1)?;
            }
            match value {
                // An error that is returned counts as one that is raised.
                Value::Error(error) => Err(error.into_failure()),
                value => Ok(Some(value)),
            }
        };
        match self.0.callback.handler().call(signal, scope) {
            Called::Now(answer) => Called::Now(acted(answer)),
            Called::Later { kind, future } => Called::Later {
                kind,
                future: Box::pin(async move { acted(future.await) }),
            },
        }
    }
}

impl Default for SchedulerSignalBus {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SchedulerSignalBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedulerSignalBus")
            .field("subscriptions", &self.subscription_count())
            .finish_non_exhaustive()
    }
}
