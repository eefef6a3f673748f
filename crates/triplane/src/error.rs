//! What can go wrong with a runtime.

use std::error::Error;

use triplane_interception::PlanError;
use triplane_kernel::{HandlerFailure, NameRefused};
use triplane_state::StateError;

/// Why a runtime could not do what it was asked. A denial is never an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The store cannot be opened, read or written, or a participant could not stage its rows;
    /// nothing was committed then.
    #[error(transparent)]
    State(#[from] StateError),
    /// The guards and the policy do not make a plan.
    #[error("the plan cannot be compiled: {0}")]
    Plan(#[from] PlanError),
    /// A guard that was [still being made](crate::RuntimeBuilder::guard_later) could not be made.
    #[error("a guard cannot be made: {0}")]
    Guard(#[source] Box<dyn Error + Send + Sync>),
    /// Two sinks or destinations have one name.
    #[error("the destination {name:?} is declared twice")]
    DuplicateDestination {
        /// The name.
        name: String,
    },
    /// The name of an action or an observer is not a name.
    #[error("this cannot be a name: {0}")]
    Name(#[from] NameRefused),
    /// The judging was cancelled: nothing was decided, and the operation must not be performed.
    #[error("nothing was decided: {0}")]
    Undecided(#[from] HandlerFailure),
    /// What happened cannot be written as JSON.
    #[error("the outcome cannot be written as JSON: {0}")]
    Payload(#[source] serde_json::Error),
}
