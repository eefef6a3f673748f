//! The old registry of terminal callbacks: everybody beside each other, under one short budget.

use crate::deadline::Deadline;
use crate::declare::Setting;
use crate::policy::{
    CompletionTiming, DeadlineDisposition, DispatchConcurrency, DispatchFailure, DispatchPolicy,
    ErrorSurface, HandlerCancellation, HandlerClassification, PhaseDeclaration, PhaseSelector,
    PredicateFailure, ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy,
    SyncHandlerMode,
};
use crate::profile::build::{policy, stage};

/// The budget of the old registry (ADR-0095): ten seconds that all callbacks of one fact share.
pub const TERMINAL_BUDGET: Deadline = Deadline::whole_secs(10);

/// The `TerminalCallbackRegistry` profile, as ADR-0120 D2 pins it, with its budget.
///
/// Callbacks that are declared sync run elsewhere; what outlives the budget there may go on and is
/// reported as abandoned (`terminal_callbacks/deadline_abandons_sync`); what waits here is cancelled
/// silently (`terminal_callbacks/deadline_cancels_async`). An ordinary failure is logged. A callback
/// that cancels itself cancels its siblings (`terminal_callbacks/handler_cancels_itself`).
///
/// The old registry logs and swallows a failure beyond the ordinary ones, too
/// (`terminal_callbacks/base_exception_logged`), and swallows a callback's own cancellation. In the
/// kernel both leave the emission as an error; the facade makes ordinary failures of the first and
/// drops the second.
pub fn terminal_callbacks(budget: Deadline) -> DispatchPolicy {
    policy(PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency: DispatchConcurrency::Concurrent,
        sync_handlers: SyncHandlerMode::Offload,
        handler_classification: HandlerClassification::ByDeclaration,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::AwaitInInvocation,
        sync_entry: SyncEntryPolicy::Unavailable,
        predicate_failure: PredicateFailure::Propagate,
        invocation: stage(
            DispatchFailure::Isolate,
            CompletionTiming::AwaitAll,
            ErrorSurface::LogOnly,
            HandlerCancellation::Propagate,
        ),
        returned_awaitables: Setting::Undefined,
        deadline_disposition: Setting::Value(DeadlineDisposition::SilentStop),
        deadline_seconds: Setting::Value(budget.as_secs()),
    })
}
