//! The runtime itself: the one way to run operations.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use triplane_interception::{Action, ExecutionContext, Outcome, ToolCall, Workspace};
use triplane_kernel::Scope;
use triplane_signals::{Observer, Signal, SignalFilter};
use triplane_state::{Committed, DeliveryTally, DeliveryWorker, StateError, Store};

use crate::error::RuntimeError;
use crate::event::{AgentEvent, Enforcement};
use crate::operation::{Decided, Operations, Pending};
use crate::runtime::delivery::DeliveryTask;

/// An agent runtime's three planes behind one handle.
///
/// Cheap to clone; all clones share one store, one plan and one delivery worker. See
/// [`operation`](crate::operation) for the order in which every operation runs.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) operations: Arc<Operations>,
    pub(crate) worker: DeliveryWorker,
    pub(crate) task: Option<DeliveryTask>,
    pub(crate) workspace: Workspace,
    pub(crate) session: Arc<str>,
}

/// What a runtime had done and left when it shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Leftover {
    /// What its delivery task did.
    pub delivery: DeliveryTally,
    /// The intents that the store still holds for a later delivery.
    pub pending: u64,
    /// Whether a delivery was cut off by the end of the budget; it will be tried again.
    pub cut_off: bool,
}

impl Runtime {
    pub(crate) fn new(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Judges a proposed event, commits the decision with its evidence and answers it.
    ///
    /// The caller performs what was allowed, and tells the result by [`record`](Self::record).
    ///
    /// # Errors
    ///
    /// Any [`RuntimeError`] means that nothing is on record and nothing was permitted: a caller
    /// that waits must deny.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future decides nothing for the caller; the commit may have happened.
    pub async fn decide(&self, event: AgentEvent) -> Result<Decided, RuntimeError> {
        self.submit(event).await?.recorded().await
    }

    /// Like [`decide`](Self::decide), but returns as soon as the commit is queued.
    ///
    /// Events are committed in the order of these calls, many in one transaction, so a reader of a
    /// long file submits some and then awaits the oldest.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide), for what can be known before the commit.
    ///
    /// # Cancel safety
    ///
    /// A dropped future has queued nothing.
    pub async fn submit(&self, event: AgentEvent) -> Result<Pending, RuntimeError> {
        self.inner.operations.submit(event, &Scope::new()).await
    }

    /// Commits a fact that was seen afterwards; it is not judged.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when it could not be committed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave the fact committed.
    pub async fn record(&self, event: AgentEvent) -> Result<Committed, RuntimeError> {
        let event = AgentEvent {
            call: None,
            enforcement: Enforcement::AfterTheFact,
            ..event
        };
        Ok(self.submit(event).await?.recorded().await?.committed)
    }

    /// Makes an action from an asynchronous function of its arguments.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Name`] when `name` is not a name.
    pub fn action<A, R, E, F, Fut>(&self, name: &str, run: F) -> Result<Action, RuntimeError>
    where
        A: DeserializeOwned + Send,
        R: Serialize,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Fn(A, ExecutionContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
    {
        Ok(Action::new(name, run)?)
    }

    /// Judges a call of `action`, performs it if it may happen, and commits how it ended.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`] when the outcome could not be committed. The action may have run by then:
    /// its effect is then known to nobody but itself.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the action where it stands, and nothing is recorded of it.
    pub async fn call(&self, action: &Action, arguments: Value) -> Result<Outcome, RuntimeError> {
        self.call_scoped(action, arguments, &Scope::new()).await
    }

    /// Like [`call`](Self::call), with a scope that can ask the action to stop.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Self::call); a cancelled scope, unlike a drop, is put on record.
    pub async fn call_scoped(
        &self,
        action: &Action,
        arguments: Value,
        scope: &Scope,
    ) -> Result<Outcome, RuntimeError> {
        let call = ToolCall {
            session: self.inner.session.to_string(),
            agent: None,
            tool: action.name().to_string(),
            arguments,
            call_id: None,
            cwd: Some(self.inner.workspace.root.clone()),
            workspace: self.inner.workspace.clone(),
        };
        self.inner.operations.call(action, call, scope).await
    }

    /// Registers an observer of committed facts. Nothing that it does changes them.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Name`] when `name` is not a name.
    pub fn observe(
        &self,
        name: &str,
        filter: SignalFilter,
        observe: impl Fn(&Signal) + Send + Sync + 'static,
    ) -> Result<Observer, RuntimeError> {
        Ok(self
            .inner
            .operations
            .observation
            .observe(name, filter, observe)?)
    }

    /// Removes an observer; `false` when it was removed before.
    pub fn unobserve(&self, observer: &Observer) -> bool {
        self.inner.operations.observation.unobserve(observer)
    }

    /// Conveys what is due now to this runtime's sinks.
    ///
    /// # Errors
    ///
    /// [`StateError`] when the store cannot be read or written. What a sink answers is no error: it
    /// is counted.
    ///
    /// # Cancel safety
    ///
    /// An intent whose delivery was cut off is conveyed again later, under the same key.
    pub async fn deliver_due(&self) -> Result<DeliveryTally, StateError> {
        self.inner.worker.deliver_due().await
    }

    /// Conveys what is due, and what comes due, until `stop` is ready; then the attempts under way
    /// come to their end. `told` hears of each round that did something and of each store that could
    /// not be used. For a runtime with [`DeliveryMode::OnDemand`](crate::DeliveryMode::OnDemand).
    ///
    /// # Cancel safety
    ///
    /// As [`deliver_due`](Self::deliver_due).
    pub async fn watch(
        &self,
        stop: impl Future<Output = ()>,
        told: impl FnMut(Result<DeliveryTally, &StateError>),
    ) -> DeliveryTally {
        self.inner.worker.watch(stop, told).await
    }

    /// The store, for reading.
    pub fn store(&self) -> &Store {
        &self.inner.operations.store
    }

    /// Conveys what is due within `budget`, closes the store and says what is left.
    ///
    /// Other clones of the runtime can do nothing more afterwards.
    ///
    /// # Errors
    ///
    /// [`StateError`] when the store cannot be closed, or cannot say what is left; it is closed all
    /// the same then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the store open; nothing committed is lost.
    pub async fn shutdown(&self, budget: Duration) -> Result<Leftover, StateError> {
        let (delivery, ended) = match &self.inner.task {
            Some(task) => task.stop(budget).await,
            None => (DeliveryTally::default(), true),
        };
        let store = self.store();
        let pending = store.unsettled().await;
        store.close().await?;
        Ok(Leftover {
            delivery,
            pending: pending?,
            cut_off: !ended,
        })
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("session", &self.inner.session)
            .field("delivery", &self.inner.worker)
            .finish_non_exhaustive()
    }
}
