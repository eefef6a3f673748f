//! One phase: which registrations it calls, how, and for how long.

use serde::{Deserialize, Serialize};

use crate::deadline::{Deadline, DeadlineRefused};
use crate::declare::Setting;
use crate::policy::axes::{
    CompletionTiming, DeadlineDisposition, Declared, DispatchConcurrency, HandlerClassification,
    PhaseSelector, PredicateFailure, ReturnedAwaitableDisposition, ReturnedValueClassifier,
    SyncEntryPolicy, SyncHandlerMode,
};
use crate::policy::error::{FieldPath, PolicyError};
use crate::policy::stage::{DispatchStagePolicy, StageDeclared};

/// A phase as it is written, valid or not; [`DispatchPhase::new`] checks it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseDeclaration<Stage = DispatchStagePolicy> {
    /// Which registrations the phase calls.
    pub selector: PhaseSelector,
    /// Whether they run one after the other or beside each other.
    pub concurrency: DispatchConcurrency,
    /// Where handlers that are declared sync run.
    pub sync_handlers: SyncHandlerMode,
    /// What tells a handler that must be awaited.
    pub handler_classification: HandlerClassification,
    /// Which returned values are taken for awaitables.
    pub returned_value_classifier: ReturnedValueClassifier,
    /// What is done with them.
    pub returned_awaitable: ReturnedAwaitableDisposition,
    /// Whether an owner that cannot wait may emit.
    pub sync_entry: SyncEntryPolicy,
    /// What a predicate's failure means.
    pub predicate_failure: PredicateFailure,
    /// How the calls are treated.
    pub invocation: Stage,
    /// How gathered awaitables are treated, when they are gathered.
    #[serde(default = "undefined", skip_serializing_if = "Setting::is_omitted")]
    pub returned_awaitables: Setting<Stage>,
    /// What happens when the deadline runs out; required with one, refused without.
    #[serde(default = "undefined", skip_serializing_if = "Setting::is_omitted")]
    pub deadline_disposition: Setting<DeadlineDisposition>,
    /// One budget in seconds for everything in the phase; see [`Deadline`].
    #[serde(default = "undefined", skip_serializing_if = "Setting::is_omitted")]
    pub deadline_seconds: Setting<f64>,
}

fn undefined<T>() -> Setting<T> {
    Setting::Undefined
}

/// A valid phase of a policy (ADR-0120 D2).
///
/// Phases run in the order of declaration; each registration is called by exactly one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    into = "PhaseDeclaration",
    try_from = "PhaseDeclaration<StageDeclared>"
)]
pub struct DispatchPhase {
    pub(crate) selector: PhaseSelector,
    pub(crate) concurrency: DispatchConcurrency,
    pub(crate) sync_handlers: SyncHandlerMode,
    pub(crate) handler_classification: HandlerClassification,
    pub(crate) returned_value_classifier: ReturnedValueClassifier,
    pub(crate) returned_awaitable: ReturnedAwaitableDisposition,
    pub(crate) sync_entry: SyncEntryPolicy,
    pub(crate) predicate_failure: PredicateFailure,
    pub(crate) invocation: DispatchStagePolicy,
    pub(crate) returned_awaitables: Option<DispatchStagePolicy>,
    pub(crate) deadline: Option<(Deadline, DeadlineDisposition)>,
}

impl DispatchPhase {
    /// Checks a declaration.
    ///
    /// # Errors
    ///
    /// Returns the rule that is broken, the first in the order of `docs/kernel-semantics.md`.
    pub fn new(declared: PhaseDeclaration) -> Result<Self, PolicyError> {
        let second = absent_or_value(declared.returned_awaitables, "returned_awaitables")?;
        let disposition = absent_or_value(declared.deadline_disposition, "deadline_disposition")?;
        let seconds = absent_or_value(declared.deadline_seconds, "deadline_seconds")?;
        check_returned_awaitable(&declared, second.is_some())?;
        let deadline = check_deadline(seconds, disposition)?;
        check_completion(&declared, second, deadline.is_some())?;
        check_sync_entry(&declared, deadline.is_some())?;
        Ok(Self {
            selector: declared.selector,
            concurrency: declared.concurrency,
            sync_handlers: declared.sync_handlers,
            handler_classification: declared.handler_classification,
            returned_value_classifier: declared.returned_value_classifier,
            returned_awaitable: declared.returned_awaitable,
            sync_entry: declared.sync_entry,
            predicate_failure: declared.predicate_failure,
            invocation: declared.invocation,
            returned_awaitables: second,
            deadline,
        })
    }

    /// Whether the phase drops what a handler of this declaration returns, by `discard_unawaited`.
    #[expect(deprecated, reason = "this finds those who still rely on it")]
    pub(crate) fn discards(&self, declared: Declared) -> bool {
        let discards = self.returned_awaitable == ReturnedAwaitableDisposition::DiscardUnawaited;
        let awaited_by_declaration = self.handler_classification
            == HandlerClassification::ByDeclaration
            && declared == Declared::Async;
        discards && self.selector.selects(declared) && !awaited_by_declaration
    }

    /// The phase as it would be written.
    pub fn declaration(&self) -> PhaseDeclaration {
        let (deadline, disposition) = self.deadline.unzip();
        PhaseDeclaration {
            selector: self.selector,
            concurrency: self.concurrency,
            sync_handlers: self.sync_handlers,
            handler_classification: self.handler_classification,
            returned_value_classifier: self.returned_value_classifier,
            returned_awaitable: self.returned_awaitable,
            sync_entry: self.sync_entry,
            predicate_failure: self.predicate_failure,
            invocation: self.invocation,
            returned_awaitables: self.returned_awaitables.into(),
            deadline_disposition: disposition.into(),
            deadline_seconds: deadline.map(Deadline::as_secs).into(),
        }
    }
}

/// A key with `null` says something, and a phase has no use for it: leaving it out means none.
fn absent_or_value<T>(setting: Setting<T>, field: &str) -> Result<Option<T>, PolicyError> {
    match setting {
        Setting::Null => Err(PolicyError::NullForbidden {
            at: FieldPath::new(field),
        }),
        Setting::Undefined | Setting::Unset => Ok(None),
        Setting::Value(value) => Ok(Some(value)),
    }
}

#[expect(
    deprecated,
    reason = "the deprecated disposition is still declared and checked"
)]
fn check_returned_awaitable(declared: &PhaseDeclaration, second: bool) -> Result<(), PolicyError> {
    use HandlerClassification::{ByDeclaration, ByReturnValue};
    use ReturnedAwaitableDisposition::{DiscardUnawaited, GatherAfterInvocations};
    use ReturnedValueClassifier::NotInspected;

    let disposition = || FieldPath::new("returned_awaitable");
    let stage = || FieldPath::new("returned_awaitables");
    let classifier = || FieldPath::new("returned_value_classifier");
    let by_return_value = declared.handler_classification == ByReturnValue;
    if declared.returned_awaitable == GatherAfterInvocations {
        if !by_return_value {
            return Err(PolicyError::GatherNeedsReturnValue { at: disposition() });
        }
        if declared.sync_entry != SyncEntryPolicy::Unavailable {
            return Err(PolicyError::GatherNeedsAsyncEntry {
                at: FieldPath::new("sync_entry"),
            });
        }
        if declared.concurrency != DispatchConcurrency::Sequential {
            return Err(PolicyError::GatherNeedsSequential {
                at: FieldPath::new("concurrency"),
            });
        }
        if !second {
            return Err(PolicyError::GatherNeedsSecondStage { at: stage() });
        }
    } else if second {
        return Err(PolicyError::SecondStageNeedsGather { at: stage() });
    }
    match (
        declared.handler_classification,
        declared.returned_value_classifier,
    ) {
        (ByReturnValue, NotInspected) => {
            return Err(PolicyError::ReturnValueNeedsClassifier { at: classifier() });
        }
        (ByDeclaration, NotInspected) if declared.returned_awaitable != DiscardUnawaited => {
            return Err(PolicyError::NotInspectedNeedsDiscard { at: classifier() });
        }
        (ByDeclaration | ByReturnValue, _) => {}
    }
    if by_return_value && declared.selector != PhaseSelector::All {
        return Err(PolicyError::SelectorNeedsDeclaration {
            at: FieldPath::new("selector"),
        });
    }
    if by_return_value && declared.sync_handlers == SyncHandlerMode::Offload {
        return Err(PolicyError::OffloadNeedsDeclaration {
            at: FieldPath::new("sync_handlers"),
        });
    }
    Ok(())
}

fn check_deadline(
    seconds: Option<f64>,
    disposition: Option<DeadlineDisposition>,
) -> Result<Option<(Deadline, DeadlineDisposition)>, PolicyError> {
    let at = || FieldPath::new("deadline_seconds");
    let deadline = match seconds.map(Deadline::from_secs).transpose() {
        Ok(deadline) => deadline,
        Err(DeadlineRefused::NotFinite { .. }) => {
            return Err(PolicyError::DeadlineNotFinite { at: at() });
        }
        Err(DeadlineRefused::NotPositive { .. }) => {
            return Err(PolicyError::DeadlineNotPositive { at: at() });
        }
        Err(DeadlineRefused::TooLong { .. }) => {
            return Err(PolicyError::DeadlineTooLong { at: at() });
        }
    };
    let at = || FieldPath::new("deadline_disposition");
    match (deadline, disposition) {
        (None, None) => Ok(None),
        (Some(deadline), Some(disposition)) => Ok(Some((deadline, disposition))),
        (Some(_), None) => Err(PolicyError::DeadlineNeedsDisposition { at: at() }),
        (None, Some(_)) => Err(PolicyError::DispositionNeedsDeadline { at: at() }),
    }
}

fn check_completion(
    declared: &PhaseDeclaration,
    second: Option<DispatchStagePolicy>,
    deadline: bool,
) -> Result<(), PolicyError> {
    let invocation = (declared.invocation, declared.concurrency, "invocation");
    // What is gathered is awaited concurrently, however it was called.
    let gathered = second.map(|stage| {
        (
            stage,
            DispatchConcurrency::Concurrent,
            "returned_awaitables",
        )
    });
    for (stage, concurrency, field) in [Some(invocation), gathered].into_iter().flatten() {
        let at = || FieldPath::new("completion");
        let checked = match (stage.completion(), concurrency) {
            (CompletionTiming::StopOnFailure, DispatchConcurrency::Concurrent) => {
                Err(PolicyError::StopNeedsSequential { at: at() })
            }
            (CompletionTiming::CancelRemainingOnFailure, DispatchConcurrency::Sequential) => {
                Err(PolicyError::CancelRemainingNeedsConcurrent { at: at() })
            }
            (CompletionTiming::DetachBounded, DispatchConcurrency::Sequential) => {
                Err(PolicyError::DetachNeedsConcurrent { at: at() })
            }
            (CompletionTiming::DetachBounded, DispatchConcurrency::Concurrent) if !deadline => {
                Err(PolicyError::DetachNeedsDeadline { at: at() })
            }
            _ => Ok(()),
        };
        checked.map_err(|error| error.within(field))?;
    }
    Ok(())
}

fn check_sync_entry(declared: &PhaseDeclaration, deadline: bool) -> Result<(), PolicyError> {
    let at = || FieldPath::new("sync_entry");
    match declared.sync_entry {
        SyncEntryPolicy::Unavailable => return Ok(()),
        SyncEntryPolicy::Allow | SyncEntryPolicy::RejectDeclaredAsyncBeforeOwnerEffect => {}
    }
    if declared.concurrency == DispatchConcurrency::Concurrent {
        return Err(PolicyError::SyncEntryNeedsSequential { at: at() });
    }
    if declared.sync_handlers == SyncHandlerMode::Offload {
        return Err(PolicyError::SyncEntryNeedsInline { at: at() });
    }
    if deadline {
        return Err(PolicyError::SyncEntryForbidsDeadline { at: at() });
    }
    Ok(())
}

impl From<DispatchPhase> for PhaseDeclaration {
    fn from(phase: DispatchPhase) -> Self {
        phase.declaration()
    }
}

impl TryFrom<PhaseDeclaration<StageDeclared>> for DispatchPhase {
    type Error = PolicyError;

    fn try_from(declared: PhaseDeclaration<StageDeclared>) -> Result<Self, PolicyError> {
        let stage = |stage, field| {
            DispatchStagePolicy::try_from(stage).map_err(|error: PolicyError| error.within(field))
        };
        Self::new(PhaseDeclaration {
            invocation: stage(declared.invocation, "invocation")?,
            returned_awaitables: match declared.returned_awaitables {
                Setting::Value(second) => Setting::Value(stage(second, "returned_awaitables")?),
                Setting::Undefined => Setting::Undefined,
                Setting::Unset => Setting::Unset,
                Setting::Null => Setting::Null,
            },
            selector: declared.selector,
            concurrency: declared.concurrency,
            sync_handlers: declared.sync_handlers,
            handler_classification: declared.handler_classification,
            returned_value_classifier: declared.returned_value_classifier,
            returned_awaitable: declared.returned_awaitable,
            sync_entry: declared.sync_entry,
            predicate_failure: declared.predicate_failure,
            deadline_disposition: declared.deadline_disposition,
            deadline_seconds: declared.deadline_seconds,
        })
    }
}
