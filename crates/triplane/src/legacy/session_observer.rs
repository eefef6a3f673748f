//! `SessionObserver`: signals are stored in memory, routed, and told to those whose conditions hold.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use triplane_kernel::{
    ChainOutcome, DispatchPolicy, EVIDENCE_FAILURE, HandlerFailure, HandlerOutcome,
    InterceptorChain, Scope, profile,
};
use triplane_signals::SignalClass;

use crate::legacy::callback::Callback;
use crate::legacy::condition::{Condition, Conditions, Predicate};
use crate::legacy::emission::Emission;
use crate::legacy::error::{Raised, StateCompatibilityRefused};
use crate::legacy::fan_out::dispatcher;
use crate::legacy::flow::Flow;
use crate::legacy::gate::gate;
use crate::legacy::persistence::{Binding, SignalSink};
use crate::legacy::subscription::{Subscription, Subscriptions};
use crate::legacy::value::{Signal, TypeName, Value};

/// The old observer of a session (plane: observation).
///
/// Move to [`SessionObservation`](triplane_signals::SessionObservation), whose observers cannot keep
/// each other from hearing, and to a guard for what [`gate`](Self::gate) was used for: no gate stands
/// before a fact.
///
/// It is the kernel's profile `session_observer`. An emission asks the gate, stores the signal, writes
/// it to the streams whose routes hold, and tells the subscribers: first all are called, then what they
/// returned to be awaited is awaited together.
///
/// A bound sink gets every signal that is stored, whatever the gate says: that is the one place where
/// this name differs on purpose from what was recorded, see `docs/divergences.md`.
pub struct SessionObserver {
    flow: Flow,
    policy: DispatchPolicy,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Replaced as a whole when subscriptions are removed: an emission that runs keeps its list, and
    /// hears of what is added to that list.
    subscriptions: Arc<Subscriptions>,
    routes: Vec<(Arc<Predicate>, String)>,
    gate: Option<InterceptorChain<Value>>,
    bound: Option<Arc<Subscription>>,
    /// Of the latest binding, also when it was taken back.
    binding: Option<Arc<Binding>>,
}

/// What one subscriber answered.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Answer {
    /// This value.
    Value(Value),
    /// It was cancelled while it was awaited.
    Cancelled,
}

/// Neither a condition nor a role was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an observer needs a condition or a role")]
pub struct NoCondition;

impl SessionObserver {
    /// Without subscribers.
    pub fn new() -> Self {
        Self::under(profile::session_observer())
    }

    pub(crate) fn under(policy: DispatchPolicy) -> Self {
        Self {
            flow: Flow::default(),
            policy,
            state: Mutex::default(),
        }
    }

    /// Subscribes a handler to what meets all conditions, emitted in `role` if one is given. A handler
    /// that is subscribed twice is told twice.
    ///
    /// # Errors
    ///
    /// [`NoCondition`] when there is neither a condition nor a role.
    pub fn observe(
        &self,
        conditions: Vec<Condition>,
        role: Option<&str>,
        callback: &Callback<Value>,
    ) -> Result<(), NoCondition> {
        let conditions = Conditions::new(conditions, role.map(str::to_owned)).ok_or(NoCondition)?;
        let callback = callback.clone();
        self.state()
            .subscriptions
            .push(Arc::new(Subscription::Callback {
                conditions,
                callback,
            }));
        Ok(())
    }

    /// Removes every subscription of a handler, and says how many there were.
    pub fn unobserve(&self, callback: &Callback<Value>) -> usize {
        let (removed, old) = self.state().remove(|subscription| match subscription {
            Subscription::Callback {
                callback: other, ..
            } => other.is(callback),
            Subscription::Sink(_) => false,
        });
        // Dropped behind the lock: a handler's end may run anything, this observer included.
        drop(old);
        removed
    }

    /// The number of subscriptions; a bound sink is one.
    pub fn subscription_count(&self) -> usize {
        self.state().subscriptions.lock().len()
    }

    /// Appends every signal whose payload `condition` accepts to the stream `into`, before subscribers
    /// are told. A failure of the condition leaves them untold.
    pub fn route(
        &self,
        condition: impl Fn(&Value) -> Result<bool, HandlerFailure> + Send + Sync + 'static,
        into: impl Into<String>,
    ) {
        self.state().routes.push((Arc::new(condition), into.into()));
    }

    /// Puts a handler before routes and subscribers: unless it answers something true, they do not hear
    /// of the payload. [`authorize`](Self::authorize) asks it, too.
    pub fn gate(&self, check: &Callback<Value>) {
        let old = self.state().gate.replace(gate(check));
        drop(old);
    }

    /// Takes the gate away.
    pub fn clear_gate(&self) {
        let old = self.state().gate.take();
        drop(old);
    }

    /// Asks the gate about an action. A refusal is stored as a signal of the class
    /// [`GateDenied`](SignalClass::GateDenied), of which no subscriber hears.
    ///
    /// # Errors
    ///
    /// [`Raised`] when the gate was cancelled or failed fatally. Its ordinary failure is logged, and
    /// a refusal.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stores nothing.
    pub async fn authorize(&self, action: Value, scope: &Scope) -> Result<bool, Raised> {
        let Some(gate) = self.state().gate.clone() else {
            return Ok(true);
        };
        let asked = gate.apply(action.clone(), scope).await.into_outcome();
        let denial = match asked {
            ChainOutcome::Proceed(_) => return Ok(true),
            ChainOutcome::Failed { failure, .. } => return Err(failure.into()),
            ChainOutcome::Denied { denial, .. } => denial,
        };
        if denial.evidence(EVIDENCE_FAILURE).is_some() {
            tracing::warn!(failure = %denial.reason, "a gate failed, which refuses the action");
        }
        let signal = Signal::new(SignalClass::GateDenied).carrying(action);
        self.flow.add(Arc::new(signal));
        Ok(false)
    }

    /// Emits a signal, or the signal around any other value, and returns what subscribers answered:
    /// first those that answered at once, then those that were awaited, each in the order of
    /// subscription. A bound sink answers [`Value::Null`].
    ///
    /// # Errors
    ///
    /// [`Raised`] when the gate was cancelled or failed fatally (then nothing is stored), when a route
    /// failed, or as the profile says of subscribers.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves later subscribers untold; a write to a bound sink that was begun
    /// counts as not confirmed.
    pub async fn emit(
        &self,
        event: impl Into<Value>,
        scope: &Scope,
    ) -> Result<Vec<Answer>, Raised> {
        let event = match event.into() {
            Value::Signal(signal) => signal,
            data => Arc::new(Signal::new(SignalClass::Signal).carrying(data)),
        };
        let gate = self.state().gate.clone();
        let allowed = match gate {
            None => true,
            Some(gate) => {
                let asked = gate.apply(event.data.clone(), scope).await;
                match asked.into_outcome() {
                    ChainOutcome::Proceed(_) => true,
                    ChainOutcome::Denied { .. } => false,
                    ChainOutcome::Failed { failure, .. } => return Err(failure.into()),
                }
            }
        };
        self.flow.add(Arc::clone(&event));
        if !allowed {
            let sink = self.state().bound.clone();
            let emission = Emission::new(event, sink.into_iter().collect());
            self.dispatch(emission, scope).await?;
            return Ok(Vec::new());
        }
        let routes = self.state().routes.clone();
        for (condition, stream) in routes {
            if condition(&event.data)? {
                self.flow.append(&stream, Arc::clone(&event));
            }
        }
        let list = Arc::clone(&self.state().subscriptions);
        self.dispatch(Emission::over(event, list), scope).await
    }

    async fn dispatch(&self, emission: Emission, scope: &Scope) -> Result<Vec<Answer>, Raised> {
        let emission = Arc::new(emission);
        let dispatcher = dispatcher(self.policy.clone(), emission.registrations());
        let report = dispatcher.emit(&emission, scope).await?;
        let (mut at_once, mut awaited) = (Vec::new(), Vec::new());
        for entry in report.entries() {
            match entry.outcome {
                HandlerOutcome::Value(heard) if heard.at_once => {
                    at_once.push(Answer::Value(heard.value.clone()));
                }
                HandlerOutcome::Value(heard) => awaited.push(Answer::Value(heard.value.clone())),
                HandlerOutcome::Cancelled(_) | HandlerOutcome::CancelledBySibling => {
                    awaited.push(Answer::Cancelled);
                }
                _ => {}
            }
        }
        at_once.append(&mut awaited);
        Ok(at_once)
    }

    /// The signals that were routed into a stream; empty when there is none of this name.
    pub fn stream(&self, name: &str) -> Vec<Arc<Signal>> {
        self.flow.stream(name)
    }

    /// Every signal that was stored.
    pub fn stored(&self) -> Vec<Arc<Signal>> {
        self.flow.items()
    }

    /// The stored signals that are of this type, or whose payload is or has a field of it.
    pub fn by_type(&self, type_name: impl Into<TypeName>) -> Vec<Arc<Signal>> {
        let condition = vec![Condition::Type(type_name.into())];
        let Some(conditions) = Conditions::new(condition, None) else {
            return Vec::new();
        };
        let mut items = self.flow.items();
        items.retain(|signal| {
            conditions
                .matches(signal)
                .is_ok_and(|found| !found.is_empty())
        });
        items
    }

    /// Stores every signal from now on through `sink`, and calls `on_window_opened` the first time that
    /// the store is found locked. An earlier binding is taken back; its count is gone.
    pub fn bind_persistence(
        &self,
        session: impl Into<String>,
        sink: Arc<dyn SignalSink>,
        on_window_opened: Option<Arc<dyn Fn() + Send + Sync>>,
    ) {
        let binding = Arc::new(Binding::new(session.into(), sink, on_window_opened));
        let subscription = Arc::new(Subscription::Sink(Arc::clone(&binding)));
        let mut state = self.state();
        let old = state.remove(|subscription| matches!(subscription, Subscription::Sink(_)));
        state.subscriptions.push(Arc::clone(&subscription));
        let old = (
            old,
            state.bound.replace(subscription),
            state.binding.replace(binding),
        );
        drop(state);
        drop(old);
    }

    /// Stores no further signals. What was not confirmed is logged, and can still be read.
    pub fn unbind_persistence(&self) {
        let mut state = self.state();
        let old = state.remove(|subscription| matches!(subscription, Subscription::Sink(_)));
        let bound = state.bound.take();
        let binding = state.binding.clone();
        drop(state);
        drop(old);
        if let (Some(_), Some(binding)) = (bound, binding)
            && binding.unconfirmed() > 0
        {
            tracing::warn!(session = %binding.session(), signals = binding.unconfirmed(),
                failure = "not confirmed", "signals may be missing from the store");
        }
    }

    /// How many signals the latest bound sink could not confirm, those that are being written included.
    pub fn persist_dropped(&self) -> u64 {
        let state = self.state();
        state
            .binding
            .as_ref()
            .map_or(0, |binding| binding.unconfirmed())
    }

    /// The first write that the latest bound store refused for good.
    pub fn persist_refusal(&self) -> Option<StateCompatibilityRefused> {
        self.state().binding.as_ref()?.refusal()
    }

    /// The policy of every emission: the kernel's profile `session_observer`.
    pub fn policy(&self) -> &DispatchPolicy {
        &self.policy
    }

    /// The lists are changed by whole operations, so that a panic leaves them whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Removes subscriptions, and returns their number and the list that held them.
    fn remove(&mut self, removes: impl Fn(&Subscription) -> bool) -> (usize, Arc<Subscriptions>) {
        let before = self.subscriptions.lock().clone();
        let kept: Vec<_> = before.iter().filter(|one| !removes(one)).cloned().collect();
        let gone = before.len() - kept.len();
        let list = Arc::new(Subscriptions(Mutex::new(kept)));
        (gone, std::mem::replace(&mut self.subscriptions, list))
    }
}

impl Default for SessionObserver {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SessionObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionObserver")
            .field("stored", &self.flow.items().len())
            .field("subscriptions", &self.subscription_count())
            .finish_non_exhaustive()
    }
}
