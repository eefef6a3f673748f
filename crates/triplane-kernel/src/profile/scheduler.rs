//! The old signal bus of the scheduler: everybody beside each other, all failures together.

use crate::declare::Setting;
use crate::policy::{
    CompletionTiming, DispatchConcurrency, DispatchFailure, DispatchPolicy, ErrorSurface,
    HandlerCancellation, HandlerClassification, PhaseDeclaration, PhaseSelector, PredicateFailure,
    ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy, SyncHandlerMode,
};
use crate::profile::build::{policy, stage};

/// The `SchedulerSignalBus` profile, as ADR-0120 D2 pins it.
///
/// Even one failure is raised as a group (`scheduler_signal_bus/one_failure_grouped`), and a
/// predicate's failure joins it (`scheduler_signal_bus/predicate_failure_collected`). A handler's own
/// cancellation wins, with the failures as its cause (`scheduler_signal_bus/cancellation_and_failures`);
/// a failure beyond the ordinary ones counts as one
/// (`scheduler_signal_bus/base_exception_counts_as_cancellation`). The emitter's cancellation
/// propagates as itself (`scheduler_signal_bus/emitter_cancelled`).
pub fn scheduler_signal_bus() -> DispatchPolicy {
    policy(PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency: DispatchConcurrency::Concurrent,
        sync_handlers: SyncHandlerMode::Inline,
        handler_classification: HandlerClassification::ByReturnValue,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::AwaitInInvocation,
        sync_entry: SyncEntryPolicy::Unavailable,
        predicate_failure: PredicateFailure::CollectAsHandlerFailure,
        invocation: stage(
            DispatchFailure::Collect,
            CompletionTiming::AwaitAll,
            ErrorSurface::RaiseGroup,
            HandlerCancellation::Translate,
        ),
        returned_awaitables: Setting::Undefined,
        deadline_disposition: Setting::Undefined,
        deadline_seconds: Setting::Undefined,
    })
}
