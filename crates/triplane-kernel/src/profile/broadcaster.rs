//! The old broadcaster: one type of event, told to each subscriber in turn.

use crate::declare::Setting;
use crate::policy::{
    CompletionTiming, DispatchConcurrency, DispatchFailure, DispatchPolicy, ErrorSurface,
    HandlerCancellation, HandlerClassification, PhaseDeclaration, PhaseSelector, PredicateFailure,
    ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy, SyncHandlerMode,
};
use crate::profile::build::{policy, stage};

/// The Broadcaster profile, as ADR-0120 D2 pins it.
///
/// Subscribers are called in order; what they return is awaited only when it is a coroutine
/// (`broadcaster/returned_awaitable_not_awaited`); an ordinary failure is logged; a cancellation and
/// a failure beyond the ordinary ones escape (`broadcaster/handler_cancels_itself`,
/// `broadcaster/base_exception`). An event of the wrong type is refused by the facade before
/// anything is dispatched (`broadcaster/wrong_event_type`).
///
/// The record pins no predicate failure, and a broadcaster has no predicates: `propagate`, so that
/// one that is added by mistake is heard of.
pub fn broadcaster() -> DispatchPolicy {
    policy(PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency: DispatchConcurrency::Sequential,
        sync_handlers: SyncHandlerMode::Inline,
        handler_classification: HandlerClassification::ByReturnValue,
        returned_value_classifier: ReturnedValueClassifier::AsyncioCoroutineOnly,
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
        deadline_disposition: Setting::Undefined,
        deadline_seconds: Setting::Undefined,
    })
}
