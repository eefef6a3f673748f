//! How profiles are built: through the same rules as any other policy.

use crate::policy::{
    CompletionTiming, DispatchFailure, DispatchPhase, DispatchPolicy, DispatchStagePolicy,
    ErrorSurface, HandlerCancellation, PhaseDeclaration, PolicyError,
};

pub(crate) fn stage(
    failure: DispatchFailure,
    completion: CompletionTiming,
    error_surface: ErrorSurface,
    handler_cancellation: HandlerCancellation,
) -> DispatchStagePolicy {
    valid(DispatchStagePolicy::new(
        failure,
        completion,
        error_surface,
        handler_cancellation,
    ))
}

/// The policy of one phase.
pub(crate) fn policy(phase: PhaseDeclaration) -> DispatchPolicy {
    valid(DispatchPhase::new(phase).and_then(|phase| DispatchPolicy::new([phase])))
}

fn valid<T>(built: Result<T, PolicyError>) -> T {
    match built {
        Ok(value) => value,
        Err(error) => unreachable!("a named profile is valid: {error}"),
    }
}
