//! One stage: how failures, completion and cancellation are treated while one set of handlers runs.

use serde::{Deserialize, Serialize};

use crate::policy::axes::{CompletionTiming, DispatchFailure, ErrorSurface, HandlerCancellation};
use crate::policy::error::{FieldPath, PolicyError};

/// A valid combination of the four axes of a stage (ADR-0120 D2).
///
/// ```
/// use triplane_kernel::policy::{
///     CompletionTiming, DispatchFailure, DispatchStagePolicy, ErrorSurface, HandlerCancellation,
/// };
///
/// let refused = DispatchStagePolicy::new(
///     DispatchFailure::Isolate,
///     CompletionTiming::AwaitAll,
///     ErrorSurface::RaiseGroup,
///     HandlerCancellation::Propagate,
/// );
/// assert_eq!(
///     refused.unwrap_err().to_string(),
///     "error_surface: raise_group requires failure=collect"
/// );
/// ```
///
/// There is no way around the rules:
///
/// ```compile_fail
/// use triplane_kernel::policy::*;
/// let stage = DispatchStagePolicy { failure: DispatchFailure::Isolate };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "StageDeclared", try_from = "StageDeclared")]
pub struct DispatchStagePolicy {
    failure: DispatchFailure,
    completion: CompletionTiming,
    error_surface: ErrorSurface,
    handler_cancellation: HandlerCancellation,
}

/// A stage as it is written, valid or not.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StageDeclared {
    failure: DispatchFailure,
    completion: CompletionTiming,
    error_surface: ErrorSurface,
    handler_cancellation: HandlerCancellation,
}

impl DispatchStagePolicy {
    /// Checks the four axes against each other.
    ///
    /// # Errors
    ///
    /// Returns the rule that is broken, the first in the order of `docs/kernel-semantics.md`.
    pub fn new(
        failure: DispatchFailure,
        completion: CompletionTiming,
        error_surface: ErrorSurface,
        handler_cancellation: HandlerCancellation,
    ) -> Result<Self, PolicyError> {
        use CompletionTiming::{AwaitAll, CancelRemainingOnFailure, DetachBounded, StopOnFailure};
        use DispatchFailure::{Collect, Isolate, Propagate};
        use ErrorSurface::{LogOnly, RaiseFirst, RaiseGroup, ReturnReport, UnwrapSingleElseGroup};

        let surface = || FieldPath::new("error_surface");
        let timing = || FieldPath::new("completion");
        match (error_surface, failure, completion) {
            (RaiseGroup, Propagate | Isolate, _) => {
                return Err(PolicyError::RaiseGroupNeedsCollect { at: surface() });
            }
            (RaiseGroup, Collect, StopOnFailure | CancelRemainingOnFailure | DetachBounded) => {
                return Err(PolicyError::RaiseGroupNeedsAwaitAll { at: surface() });
            }
            (UnwrapSingleElseGroup, Propagate | Isolate, _) => {
                return Err(PolicyError::UnwrapNeedsCollect { at: surface() });
            }
            (UnwrapSingleElseGroup, Collect, StopOnFailure | DetachBounded) => {
                return Err(PolicyError::UnwrapNeedsAwaitAllOrCancelRemaining { at: surface() });
            }
            (LogOnly, Propagate | Collect, _) => {
                return Err(PolicyError::LogOnlyNeedsIsolate { at: surface() });
            }
            (ReturnReport, Propagate, _) => {
                return Err(PolicyError::PropagateNeedsRaiseFirst { at: surface() });
            }
            (RaiseFirst, Isolate, _) => {
                return Err(PolicyError::RaiseFirstForbidsIsolate { at: surface() });
            }
            (RaiseGroup, Collect, AwaitAll)
            | (UnwrapSingleElseGroup, Collect, AwaitAll | CancelRemainingOnFailure)
            | (LogOnly, Isolate, _)
            | (ReturnReport, Collect | Isolate, _)
            | (RaiseFirst, Propagate | Collect, _) => {}
        }
        match (failure, completion) {
            (Isolate, StopOnFailure | CancelRemainingOnFailure) => {
                Err(PolicyError::IsolateNeedsAwaitAllOrDetach { at: timing() })
            }
            (Propagate, DetachBounded) => Err(PolicyError::DetachForbidsPropagate { at: timing() }),
            (Isolate, AwaitAll | DetachBounded)
            | (Propagate, AwaitAll | StopOnFailure | CancelRemainingOnFailure)
            | (Collect, _) => Ok(Self {
                failure,
                completion,
                error_surface,
                handler_cancellation,
            }),
        }
    }

    /// What an ordinary failure means.
    pub fn failure(self) -> DispatchFailure {
        self.failure
    }

    /// When the stage is complete.
    pub fn completion(self) -> CompletionTiming {
        self.completion
    }

    /// In which form failures reach the emitter.
    pub fn error_surface(self) -> ErrorSurface {
        self.error_surface
    }

    /// What a handler's own cancellation means.
    pub fn handler_cancellation(self) -> HandlerCancellation {
        self.handler_cancellation
    }
}

impl From<DispatchStagePolicy> for StageDeclared {
    fn from(stage: DispatchStagePolicy) -> Self {
        Self {
            failure: stage.failure,
            completion: stage.completion,
            error_surface: stage.error_surface,
            handler_cancellation: stage.handler_cancellation,
        }
    }
}

impl TryFrom<StageDeclared> for DispatchStagePolicy {
    type Error = PolicyError;

    fn try_from(declared: StageDeclared) -> Result<Self, PolicyError> {
        Self::new(
            declared.failure,
            declared.completion,
            declared.error_surface,
            declared.handler_cancellation,
        )
    }
}
