//! An action: a name and a callable that only the executor can call.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use triplane_kernel::{NameRefused, RegistrationName, Scope};

/// A callable of this process, under the name that policies know it by.
///
/// Holding an action is not enough to run it: the one road to the callable is the
/// [`ActionExecutor`](crate::ActionExecutor), which asks the plan first. An in-process callable is
/// *not contained*: it can do whatever the process can.
#[derive(Clone)]
pub struct Action {
    name: RegistrationName,
    callable: Arc<Callable>,
}

type Callable =
    dyn Fn(Value, ExecutionContext) -> BoxFuture<'static, Result<Value, ActionError>> + Send + Sync;

/// What an action is told about the call that it serves.
#[derive(Debug, Clone)]
pub struct ExecutionContext {
    /// The session that the call belongs to.
    pub session: String,
    /// The request to stop: an action that runs long should look at it.
    pub scope: Scope,
}

/// Why an action has no value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActionError {
    /// The arguments are not what the action takes.
    #[error("the arguments do not fit: {0}")]
    Arguments(#[source] serde_json::Error),
    /// The action failed.
    #[error("{0}")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
    /// The value of the action cannot be written as JSON.
    #[error("the value cannot be written as JSON: {0}")]
    Value(#[source] serde_json::Error),
}

impl Action {
    /// Makes an action from an asynchronous function of its arguments.
    ///
    /// # Errors
    ///
    /// [`NameRefused`] when `name` is not a name.
    pub fn new<A, R, E, F, Fut>(name: &str, run: F) -> Result<Self, NameRefused>
    where
        A: DeserializeOwned + Send,
        R: Serialize,
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Fn(A, ExecutionContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
    {
        let callable = move |arguments: Value, cx: ExecutionContext| {
            let started = serde_json::from_value(arguments).map(|arguments| run(arguments, cx));
            let finished = async move {
                let value = started.map_err(ActionError::Arguments)?.await;
                let value = value.map_err(|error| ActionError::Failed(error.into()))?;
                serde_json::to_value(value).map_err(ActionError::Value)
            };
            Box::pin(finished) as BoxFuture<'static, _>
        };
        Ok(Self {
            name: RegistrationName::new(name)?,
            callable: Arc::new(callable),
        })
    }

    /// The name that policies and records know the action by.
    pub fn name(&self) -> &RegistrationName {
        &self.name
    }

    pub(crate) fn start(
        &self,
        arguments: Value,
        cx: ExecutionContext,
    ) -> BoxFuture<'static, Result<Value, ActionError>> {
        (self.callable)(arguments, cx)
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Action")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
