//! Why a policy cannot be built: one variant per rule.

use std::fmt;

/// Where in a declaration a rule is broken, for example `phases[1].invocation.error_surface`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldPath(String);

impl FieldPath {
    pub(crate) fn new(field: &str) -> Self {
        Self(field.to_owned())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $text:literal),+ $(,)?) => {
        /// The rule that a policy breaks, and where.
        ///
        /// Rules of the record (ADR-0120 D2) and rules added here stand apart in
        /// `docs/kernel-semantics.md`, with the reason of each.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum PolicyError {
            $($(#[$doc])* $rule {
                /// The field in question.
                at: FieldPath,
            },)+
        }

        impl PolicyError {
            /// The field in question.
            pub fn at(&self) -> &FieldPath {
                match self { $(Self::$rule { at } => at),+ }
            }

            /// The name of the rule, which is the name of the variant.
            pub fn rule(&self) -> &'static str {
                match self { $(Self::$rule { .. } => stringify!($rule)),+ }
            }

            fn text(&self) -> &'static str {
                match self { $(Self::$rule { .. } => $text),+ }
            }

            /// The same error seen from the declaration that holds the one it was found in.
            pub(crate) fn within(mut self, outer: &str) -> Self {
                match &mut self { $(Self::$rule { at } => at.0 = format!("{outer}.{}", at.0)),+ }
                self
            }
        }
    };
}

rules! {
    // Rules of the record: one stage.
    /// `error_surface=raise_group` without `failure=collect`.
    RaiseGroupNeedsCollect = "raise_group requires failure=collect",
    /// `error_surface=raise_group` without `completion=await_all`.
    RaiseGroupNeedsAwaitAll = "raise_group requires completion=await_all",
    /// `error_surface=unwrap_single_else_group` without `failure=collect`.
    UnwrapNeedsCollect = "unwrap_single_else_group requires failure=collect",
    /// `error_surface=unwrap_single_else_group` with another completion than the two.
    UnwrapNeedsAwaitAllOrCancelRemaining =
        "unwrap_single_else_group requires completion=await_all or cancel_remaining_on_failure",
    /// `error_surface=log_only` without `failure=isolate`.
    LogOnlyNeedsIsolate = "log_only requires failure=isolate",

    // Rules of the record: one phase.
    /// `gather_after_invocations` without `by_return_value`.
    GatherNeedsReturnValue = "gather_after_invocations requires handler_classification=by_return_value",
    /// `gather_after_invocations` with a sync entry.
    GatherNeedsAsyncEntry = "gather_after_invocations requires sync_entry=unavailable",
    /// `gather_after_invocations` in a concurrent phase.
    GatherNeedsSequential =
        "gather_after_invocations requires concurrency=sequential: handlers are called in order",
    /// `gather_after_invocations` without a stage for what it gathers.
    GatherNeedsSecondStage = "gather_after_invocations requires a returned_awaitables stage",
    /// A `returned_awaitables` stage without `gather_after_invocations`.
    SecondStageNeedsGather =
        "a returned_awaitables stage requires returned_awaitable=gather_after_invocations",
    /// `by_return_value` with `not_inspected`.
    ReturnValueNeedsClassifier = "by_return_value requires a classifier other than not_inspected",
    /// A narrow selector without `by_declaration`.
    SelectorNeedsDeclaration =
        "declared_sync and declared_async require handler_classification=by_declaration",
    /// A deadline without a disposition.
    DeadlineNeedsDisposition = "a deadline requires a deadline_disposition",
    /// A deadline that is infinite or not a number.
    DeadlineNotFinite = "a deadline must be a finite number of seconds",
    /// A deadline that is zero, negative or below one nanosecond.
    DeadlineNotPositive = "a deadline must be above zero",
    /// A deadline above [`DEADLINE_MAX`](crate::deadline::DEADLINE_MAX).
    DeadlineTooLong = "a deadline must not be longer than 365 days",

    // Rules of the record: the phases together.
    /// No phase.
    NoPhases = "a policy requires a phase",
    /// A registration would be selected by two phases.
    OverlappingSelectors = "two phases select the same registrations",
    /// A registration would be selected by no phase.
    IncompleteSelectors = "no phase selects the registrations of the other declaration",
    /// `preserve_registration_order=false` with a sequential phase.
    OrderNeedsSequential =
        "preserve_registration_order=false requires every phase to be concurrent",

    // Added rules: one stage.
    /// `failure=propagate` without `error_surface=raise_first`.
    PropagateNeedsRaiseFirst = "failure=propagate requires error_surface=raise_first",
    /// `error_surface=raise_first` with `failure=isolate`.
    RaiseFirstForbidsIsolate = "raise_first requires failure=propagate or collect",
    /// A completion that waits for a failure, with `failure=isolate`.
    IsolateNeedsAwaitAllOrDetach =
        "failure=isolate requires completion=await_all or detach_bounded: an isolated failure ends nothing",
    /// `completion=detach_bounded` with `failure=propagate`.
    DetachForbidsPropagate = "detach_bounded requires failure=collect or isolate",

    // Added rules: one phase.
    /// `null` where leaving the key out means none.
    NullForbidden = "null is no value of this field; leave it out",
    /// `completion=stop_on_failure` where the handlers run beside each other.
    StopNeedsSequential =
        "stop_on_failure requires handlers that are called one after the other; use cancel_remaining_on_failure",
    /// `completion=cancel_remaining_on_failure` where nothing runs beside the one that fails.
    CancelRemainingNeedsConcurrent =
        "cancel_remaining_on_failure requires handlers that run beside each other; use stop_on_failure",
    /// `completion=detach_bounded` where handlers are called one after the other.
    DetachNeedsConcurrent =
        "detach_bounded requires handlers that run beside each other: what has not begun cannot be let go",
    /// `completion=detach_bounded` without a deadline.
    DetachNeedsDeadline = "detach_bounded requires a deadline",
    /// A disposition without a deadline.
    DispositionNeedsDeadline = "a deadline_disposition requires deadline_seconds",
    /// `by_declaration` with `not_inspected` and a disposition that must see the awaitable.
    NotInspectedNeedsDiscard =
        "not_inspected requires returned_awaitable=discard_unawaited: what is not seen cannot be awaited or rejected",
    /// `sync_handlers=offload` without `by_declaration`.
    OffloadNeedsDeclaration =
        "offload requires handler_classification=by_declaration: a returned value comes too late to choose the thread",
    /// A sync entry in a concurrent phase.
    SyncEntryNeedsSequential = "a sync entry requires concurrency=sequential",
    /// A sync entry with offloaded handlers.
    SyncEntryNeedsInline = "a sync entry requires sync_handlers=inline",
    /// A sync entry with a deadline.
    SyncEntryForbidsDeadline = "a sync entry cannot have a deadline: it has no wait to end",

    // Added rules: the phases together.
    /// Some phases have a sync entry and others have none.
    SyncEntryNeedsAllPhases = "a sync entry runs every phase: no phase may have sync_entry=unavailable",
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at(), self.text())
    }
}

impl std::error::Error for PolicyError {}
