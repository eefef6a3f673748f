//! `TerminalCallbackRegistry`: handlers for the end of a run, under one short budget.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use triplane_kernel::{
    Called, CancelCause, Deadline, DispatchError, DispatchPolicy, Handler, HandlerFailure, Key,
    Keyed, Offload, Registration, RegistrationName, Scope, SpawnBlocking, profile,
};

use crate::legacy::callback::Callback;
use crate::legacy::error::Raised;
use crate::legacy::fan_out::dispatcher;
use crate::legacy::value::Value;

/// What ended: a session, a play, an invocation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntityRef {
    /// Its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
}

/// What a terminal event belongs to, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the id of its name")]
pub struct Correlation {
    pub invocation_id: Option<String>,
    pub session_id: Option<String>,
    pub schedule_run_id: Option<String>,
    pub run_id: Option<String>,
}

/// The fact that a run came to its end (ADR-0095), version 1 (plane: delivery).
///
/// Move to a [`DeliveryIntent`](triplane_state::delivery::DeliveryIntent), which is committed with the end of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTerminalEnvelope {
    /// Unique everywhere.
    pub event_id: String,
    /// What ended.
    pub entity: EntityRef,
    /// Its status before.
    pub previous_status: Option<String>,
    /// Its status from now on.
    pub terminal_status: String,
    /// Why.
    pub reason_code: String,
    /// When, in seconds since 1970 UTC.
    pub occurred_at: f64,
    /// What it belongs to.
    pub correlation: Correlation,
    /// Whether the fact stands in a store.
    pub durable: bool,
}

impl RunTerminalEnvelope {
    /// The envelope as it was written.
    pub fn to_json(&self) -> serde_json::Value {
        let Correlation {
            invocation_id,
            session_id,
            schedule_run_id,
            run_id,
        } = &self.correlation;
        json!({
            "schema": "lionagi.run-terminal",
            "schema_version": 1,
            "event_id": self.event_id,
            "durable": self.durable,
            "entity": {"kind": self.entity.kind, "id": self.entity.id},
            "previous_status": self.previous_status,
            "terminal_status": self.terminal_status,
            "reason_code": self.reason_code,
            "occurred_at": self.occurred_at,
            "correlation": {
                "invocation_id": invocation_id,
                "session_id": session_id,
                "schedule_run_id": schedule_run_id,
                "run_id": run_id,
            },
            "artifacts": [],
        })
    }
}

impl Keyed for RunTerminalEnvelope {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

/// The old registry of terminal callbacks (plane: observation).
///
/// Move to a delivery, which is committed with the run's end and survives a crash; these callbacks are
/// told in process, once, and are forgotten when their budget runs out.
///
/// It is the kernel's profile `terminal_callbacks`: everybody beside each other, those declared sync on
/// other threads. A failure is logged and nothing of a callback reaches the emitter.
#[derive(Debug)]
pub struct TerminalCallbackRegistry {
    policy: DispatchPolicy,
    offload: Arc<dyn Offload>,
    registrations: Mutex<Vec<Registered>>,
}

/// How one callback is registered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalFilter {
    /// Only entities of these kinds; all, when there is no list.
    pub kinds: Option<Vec<String>>,
    /// Only entities with these ids; all, when there is no list.
    pub ids: Option<Vec<String>>,
    /// Whether callbacks that do not override are left out where this one matches.
    pub precedence: Precedence,
}

/// Whether a callback stands for all others where it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Precedence {
    /// It is called beside the others.
    #[default]
    Beside,
    /// Where it matches, only callbacks that override are called.
    Override,
}

#[derive(Debug, Clone)]
struct Registered {
    name: RegistrationName,
    callback: Callback<RunTerminalEnvelope>,
    filter: TerminalFilter,
}

impl TerminalCallbackRegistry {
    /// Without callbacks. All callbacks of one event share `budget`;
    /// [`TERMINAL_BUDGET`](triplane_kernel::profile::TERMINAL_BUDGET) is the usual one.
    pub fn new(budget: Deadline) -> Self {
        Self::under(profile::terminal_callbacks(budget))
    }

    pub(crate) fn under(policy: DispatchPolicy) -> Self {
        Self {
            policy,
            offload: Arc::new(SpawnBlocking),
            registrations: Mutex::default(),
        }
    }

    /// Runs callbacks that are declared sync through `offload` instead of the blocking threads of the
    /// runtime.
    #[must_use]
    pub fn with_offload(mut self, offload: Arc<dyn Offload>) -> Self {
        self.offload = offload;
        self
    }

    /// Registers a callback under a name. One of the same name is replaced, and its place is kept.
    pub fn register(
        &self,
        name: RegistrationName,
        callback: &Callback<RunTerminalEnvelope>,
        filter: TerminalFilter,
    ) {
        let registered = Registered {
            name,
            callback: callback.clone(),
            filter,
        };
        let mut all = self.lock();
        let place = all.iter_mut().find(|other| other.name == registered.name);
        let replaced = if let Some(place) = place {
            Some(std::mem::replace(place, registered))
        } else {
            all.push(registered);
            None
        };
        // Dropped behind the lock, like all that is removed: a callback's end may run anything.
        drop(all);
        drop(replaced);
    }

    /// Removes the callback of this name, if there is one.
    pub fn unregister(&self, name: &str) {
        let mut all = self.lock();
        let at = all.iter().position(|other| other.name.as_str() == name);
        let removed = at.map(|at| all.remove(at));
        drop(all);
        drop(removed);
    }

    /// Removes every callback.
    pub fn clear(&self) {
        let removed = std::mem::take(&mut *self.lock());
        drop(removed);
    }

    /// Whether a callback has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.lock().iter().any(|other| other.name.as_str() == name)
    }

    /// The names, in the order in which they were first registered.
    pub fn names(&self) -> Vec<RegistrationName> {
        self.lock()
            .iter()
            .map(|registered| registered.name.clone())
            .collect()
    }

    /// Tells the callbacks that match, until all have answered or the budget is used up. A callback that
    /// cancels itself ends the emission for all.
    ///
    /// # Errors
    ///
    /// [`Raised`] when the emitter was cancelled, and for nothing else.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with its time driver.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the callbacks that wait; one that runs on another thread goes on, and
    /// nobody hears what it comes to.
    pub async fn emit(&self, envelope: RunTerminalEnvelope, scope: &Scope) -> Result<(), Raised> {
        let targets = self.targets(&envelope);
        if targets.is_empty() {
            return Ok(());
        }
        let registrations = targets.iter().map(Registered::registration);
        let dispatcher = dispatcher(self.policy.clone(), registrations);
        let dispatcher = dispatcher.with_offload(Arc::clone(&self.offload));
        match dispatcher.emit(&Arc::new(envelope), scope).await {
            Ok(_) => Ok(()),
            // A callback's own cancellation has ended the emission, and that is all it does.
            Err(DispatchError::Cancelled {
                cause: CancelCause::Handler,
                report,
            }) if report.raised().len() > 0 => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The policy of every emission: the kernel's profile `terminal_callbacks`, with the budget.
    pub fn policy(&self) -> &DispatchPolicy {
        &self.policy
    }

    fn targets(&self, envelope: &RunTerminalEnvelope) -> Vec<Registered> {
        let mut targets = self.lock().clone();
        targets.retain(|registered| registered.filter.matches(&envelope.entity));
        let overrides = |one: &Registered| one.filter.precedence == Precedence::Override;
        if targets.iter().any(overrides) {
            targets.retain(overrides);
        }
        targets
    }

    /// The list is changed by whole operations of `Vec`, so that a panic leaves it whole.
    fn lock(&self) -> MutexGuard<'_, Vec<Registered>> {
        self.registrations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registered {
    fn registration(&self) -> Registration<RunTerminalEnvelope> {
        let told = Told(self.callback.clone());
        let registration = self.callback.registration(Some(&self.name), told);
        // On another thread it cannot look at its scope: when time is up it is left behind.
        registration.heedless_elsewhere()
    }
}

impl TerminalFilter {
    fn matches(&self, entity: &EntityRef) -> bool {
        let among = |listed: &Option<Vec<String>>, value: &String| {
            listed.as_ref().is_none_or(|listed| listed.contains(value))
        };
        among(&self.kinds, &entity.kind) && among(&self.ids, &entity.id)
    }
}

/// A callback that cannot fail fatally: the old registry made no difference there.
struct Told(Callback<RunTerminalEnvelope>);

impl Handler<RunTerminalEnvelope, ()> for Told {
    fn call<'a>(
        &'a self,
        envelope: &'a RunTerminalEnvelope,
        scope: &'a Scope,
    ) -> Called<'a, Result<(), HandlerFailure>> {
        match self.0.handler().call(envelope, scope) {
            Called::Now(answer) => Called::Now(ordinary(answer)),
            Called::Later { kind, future } => Called::Later {
                kind,
                future: Box::pin(async move { ordinary(future.await) }),
            },
        }
    }
}

fn ordinary(answer: Result<Value, HandlerFailure>) -> Result<(), HandlerFailure> {
    match answer {
        Ok(_) => Ok(()),
        Err(HandlerFailure::Fatal(error)) => Err(HandlerFailure::Failed(error)),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use triplane_testkit::suite::handler;

    use super::*;

    fn ended() -> RunTerminalEnvelope {
        RunTerminalEnvelope {
            event_id: "e".to_owned(),
            entity: EntityRef {
                kind: "run".to_owned(),
                id: "r".to_owned(),
            },
            previous_status: None,
            terminal_status: "completed".to_owned(),
            reason_code: "done".to_owned(),
            occurred_at: 1.0,
            correlation: Correlation::default(),
            durable: false,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_terminal_callback_keeps_what_every_handler_keeps() {
        let samples = || vec![Arc::new(ended())];
        let now = Callback::sync("now", |_: &RunTerminalEnvelope| Ok(Value::default()));
        let later = Callback::asynchronous("later", |_: &RunTerminalEnvelope, _| {
            Box::pin(async {
                tokio::task::yield_now().await;
                Err(HandlerFailure::fatal("broken"))
            })
        });
        for callback in [now.expect("a name"), later.expect("a name")] {
            let declared = callback.declared();
            handler::check(Arc::new(Told(callback)), declared, samples).await;
        }
    }
}
