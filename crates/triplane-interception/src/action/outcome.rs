//! How an operation ended: the closed set.

use std::fmt;

use serde_json::Value;
use triplane_kernel::{CancelCause, HandlerFailure};

use crate::guard::Finding;

/// The outcome of one call of an action.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// The action ran and answered this.
    Succeeded(Value),
    /// The action was not run: this was found.
    Denied(Finding),
    /// The action ran, or could not be started, and has no value.
    Failed(HandlerFailure),
    /// The call was cancelled. Whether the action had an effect is unknown.
    Cancelled(CancelCause),
}

impl Outcome {
    /// The wire string: `succeeded`, `denied`, `failed` or `cancelled`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Succeeded(_) => "succeeded",
            Self::Denied(_) => "denied",
            Self::Failed(_) => "failed",
            Self::Cancelled(_) => "cancelled",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Succeeded(value) => write!(f, "succeeded: {value}"),
            Self::Denied(finding) => write!(f, "denied: {finding}"),
            Self::Failed(failure) => write!(f, "failed: {failure}"),
            Self::Cancelled(cause) => write!(f, "{}", HandlerFailure::Cancelled(*cause)),
        }
    }
}
