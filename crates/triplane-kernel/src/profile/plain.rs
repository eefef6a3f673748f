//! Two policies for new code, apart from the profiles that keep the behaviour of old mechanisms.

use crate::declare::Setting;
use crate::policy::{
    CompletionTiming, DispatchConcurrency, DispatchFailure, DispatchPolicy, DispatchStagePolicy,
    ErrorSurface, HandlerCancellation, HandlerClassification, PhaseDeclaration, PhaseSelector,
    PredicateFailure, ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy,
    SyncHandlerMode,
};
use crate::profile::build::{policy, stage};

impl DispatchPolicy {
    /// One handler after the other, in the order of registration; a failure, of a predicate too, is
    /// logged, noted in the report and keeps nobody from hearing the signal.
    pub fn isolated_in_order() -> Self {
        let invocation = stage(
            DispatchFailure::Isolate,
            CompletionTiming::AwaitAll,
            ErrorSurface::LogOnly,
            HandlerCancellation::Propagate,
        );
        policy(in_order(invocation, PredicateFailure::Isolate))
    }

    /// One handler after the other; the first failure, of a predicate too, ends the emission and is
    /// raised.
    pub fn raising_in_order() -> Self {
        let invocation = stage(
            DispatchFailure::Propagate,
            CompletionTiming::StopOnFailure,
            ErrorSurface::RaiseFirst,
            HandlerCancellation::Propagate,
        );
        policy(in_order(invocation, PredicateFailure::Propagate))
    }
}

fn in_order(invocation: DispatchStagePolicy, predicate: PredicateFailure) -> PhaseDeclaration {
    PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency: DispatchConcurrency::Sequential,
        sync_handlers: SyncHandlerMode::Inline,
        handler_classification: HandlerClassification::ByDeclaration,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::AwaitInInvocation,
        sync_entry: SyncEntryPolicy::RejectDeclaredAsyncBeforeOwnerEffect,
        predicate_failure: predicate,
        invocation,
        returned_awaitables: Setting::Undefined,
        deadline_disposition: Setting::Undefined,
        deadline_seconds: Setting::Undefined,
    }
}
