//! The old session observer: call everybody, then gather what they returned.

use crate::declare::Setting;
use crate::policy::{
    CompletionTiming, DispatchConcurrency, DispatchFailure, DispatchPolicy, ErrorSurface,
    HandlerCancellation, HandlerClassification, PhaseDeclaration, PhaseSelector, PredicateFailure,
    ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy, SyncHandlerMode,
};
use crate::profile::build::{policy, stage};

/// The `SessionObserver` profile, as ADR-0120 D2 pins it.
///
/// A failing call stops the dispatch, and awaitables that were returned before it never run
/// (`session_observer/invocation_failure_abandons_awaitables`). Otherwise the awaitables are gathered:
/// one failure surfaces bare, several as a group (`session_observer/one_awaitable_failure_unwrapped`,
/// `session_observer/two_immediate_failures_grouped`), a cancellation is data and cancels the
/// siblings (`session_observer/one_cancelled_one_sibling`).
///
/// The record's table lets a filter's failure propagate, and the recording tells two kinds apart: a
/// failing predicate is logged and does not match (`session_observer/predicate_failure_is_no_match`),
/// which is the value here; a filter object that raises stops the dispatch
/// (`session_observer/filter_failure_propagates`), for which the facade's filter answers a fatal
/// failure.
pub fn session_observer() -> DispatchPolicy {
    policy(PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency: DispatchConcurrency::Sequential,
        sync_handlers: SyncHandlerMode::Inline,
        handler_classification: HandlerClassification::ByReturnValue,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::GatherAfterInvocations,
        sync_entry: SyncEntryPolicy::Unavailable,
        predicate_failure: PredicateFailure::NoMatch,
        invocation: stage(
            DispatchFailure::Propagate,
            CompletionTiming::StopOnFailure,
            ErrorSurface::RaiseFirst,
            HandlerCancellation::Propagate,
        ),
        returned_awaitables: Setting::Value(stage(
            DispatchFailure::Collect,
            CompletionTiming::CancelRemainingOnFailure,
            ErrorSurface::UnwrapSingleElseGroup,
            HandlerCancellation::Collect,
        )),
        deadline_disposition: Setting::Undefined,
        deadline_seconds: Setting::Undefined,
    })
}
