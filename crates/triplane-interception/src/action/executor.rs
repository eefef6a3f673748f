//! The one road to a callable.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use serde_json::Value;
use triplane_kernel::{HandlerFailure, Scope};

use crate::action::cancellable::Cancellable;
use crate::action::descriptor::{Action, ExecutionContext};
use crate::action::outcome::Outcome;
use crate::plan::{Judged, ToolCallDecision, ToolCallPlan};
use crate::tool_call::ToolCall;

/// Runs actions, each only after the plan has let it pass (ADR-0121).
#[derive(Debug)]
pub struct ActionExecutor {
    plan: Arc<ToolCallPlan>,
}

/// What came of one call: how it was judged, and how it ended.
#[derive(Debug)]
pub struct Executed {
    /// What the plan said, unless the call was cancelled before it had decided.
    pub judged: Option<Judged>,
    /// How the call ended.
    pub outcome: Outcome,
}

impl ActionExecutor {
    /// An executor that asks this plan.
    pub fn new(plan: Arc<ToolCallPlan>) -> Self {
        Self { plan }
    }

    /// Judges the call and, if it may happen, runs the action with the arguments as judged.
    ///
    /// A panic of the action is its failure. A cancellation of `scope` drops the action.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the action where it stands; whether it had an effect is unknown.
    pub async fn execute(&self, action: &Action, call: Arc<ToolCall>, scope: &Scope) -> Executed {
        let judged = match self.plan.judge(Arc::clone(&call), scope).await {
            Ok(judged) => judged,
            Err(failure) => {
                return Executed {
                    judged: None,
                    outcome: ended(Err(failure)),
                };
            }
        };
        let arguments = match &judged.decision {
            ToolCallDecision::Denied(finding) => {
                let outcome = Outcome::Denied(finding.clone());
                return Executed {
                    judged: Some(judged),
                    outcome,
                };
            }
            ToolCallDecision::Rewritten { arguments, .. } => arguments.clone(),
            ToolCallDecision::Allowed => call.arguments.clone(),
        };
        let cx = ExecutionContext {
            session: call.session.clone(),
            scope: scope.clone(),
        };
        let outcome = ended(run(action, arguments, cx, scope).await);
        Executed {
            judged: Some(judged),
            outcome,
        }
    }
}

async fn run(
    action: &Action,
    arguments: Value,
    cx: ExecutionContext,
    scope: &Scope,
) -> Result<Value, HandlerFailure> {
    // The closure may panic before its first await, so starting it is inside the contained future.
    let running = AssertUnwindSafe(async { action.start(arguments, cx).await }).catch_unwind();
    match (Cancellable {
        running,
        request: scope.cancelled(),
    })
    .await
    {
        Ok(Ok(result)) => result.map_err(HandlerFailure::failed),
        Ok(Err(payload)) => Err(HandlerFailure::panicked(payload.as_ref())),
        Err(cause) => Err(HandlerFailure::Cancelled(cause)),
    }
}

fn ended(result: Result<Value, HandlerFailure>) -> Outcome {
    match result {
        Ok(value) => Outcome::Succeeded(value),
        Err(HandlerFailure::Cancelled(cause)) => Outcome::Cancelled(cause),
        Err(failure) => Outcome::Failed(failure),
    }
}

#[cfg(test)]
mod tests;
