//! The callbacks of the old message manager, from its sync and from its async entry.

use crate::declare::Setting;
use crate::policy::{
    CompletionTiming, DispatchConcurrency, DispatchFailure, DispatchPolicy, ErrorSurface,
    HandlerCancellation, HandlerClassification, PhaseDeclaration, PhaseSelector, PredicateFailure,
    ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy, SyncHandlerMode,
};
use crate::profile::build::{policy, stage};

/// The message-added profile of the sync entry, as ADR-0120 D2 pins it.
///
/// A callback that is declared async is rejected before the message is added. All callbacks run; then
/// one failure is raised bare and several as a group, cancellations and failures beyond the ordinary
/// ones among them (`message_added_sync/cancellation_and_failure`). An awaitable that a sync callback
/// returns is dropped unawaited, which is deprecated.
///
/// The record pins no predicate failure, and these callbacks have no predicates: it counts as a
/// failure of the callback, so that the drain goes on as it does for every failure here.
pub fn message_added_sync() -> DispatchPolicy {
    message_added(SyncEntryPolicy::RejectDeclaredAsyncBeforeOwnerEffect)
}

/// The message-added profile of the async entry: as [`message_added_sync`], without a sync entry, and
/// callbacks that are declared async are awaited in their turn
/// (`message_added_async/declared_async_awaited`). A cancellation of the emitter is collected, too:
/// later callbacks run before it surfaces (`message_added_async/emitter_cancelled_is_collected`).
pub fn message_added_async() -> DispatchPolicy {
    message_added(SyncEntryPolicy::Unavailable)
}

#[expect(deprecated, reason = "the profile keeps what the old loop does")]
fn message_added(sync_entry: SyncEntryPolicy) -> DispatchPolicy {
    policy(PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency: DispatchConcurrency::Sequential,
        sync_handlers: SyncHandlerMode::Inline,
        handler_classification: HandlerClassification::ByDeclaration,
        returned_value_classifier: ReturnedValueClassifier::NotInspected,
        returned_awaitable: ReturnedAwaitableDisposition::DiscardUnawaited,
        sync_entry,
        predicate_failure: PredicateFailure::CollectAsHandlerFailure,
        invocation: stage(
            DispatchFailure::Collect,
            CompletionTiming::AwaitAll,
            ErrorSurface::UnwrapSingleElseGroup,
            HandlerCancellation::Collect,
        ),
        returned_awaitables: Setting::Undefined,
        deadline_disposition: Setting::Undefined,
        deadline_seconds: Setting::Undefined,
    })
}
