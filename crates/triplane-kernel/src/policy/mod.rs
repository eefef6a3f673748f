//! How a fan-out treats its handlers, declared as a value that cannot be wrong.
//!
//! A [`DispatchPolicy`] is one or two [phases](DispatchPhase); a phase calls the registrations that
//! its selector names, under a [stage policy](DispatchStagePolicy) for the calls and, when it
//! gathers returned awaitables, a second one for them. Every combination is either given a meaning
//! or refused by a rule with a name, see [`PolicyError`]; `docs/kernel-semantics.md` has both tables.
//! A policy is read through the same rules by which it is built.

mod axes;
mod error;
mod stage;
mod phase;
mod dispatch;

pub use axes::{
    CompletionTiming, DeadlineDisposition, Declared, DispatchConcurrency, DispatchFailure,
    ErrorSurface, HandlerCancellation, HandlerClassification, InterceptorDisposition,
    PhaseSelector, PredicateFailure, ReturnedAwaitableDisposition, ReturnedValueClassifier,
    SyncEntryPolicy, SyncHandlerMode,
};
pub use dispatch::DispatchPolicy;
pub use error::{FieldPath, PolicyError};
pub use phase::{DispatchPhase, PhaseDeclaration};
pub use stage::DispatchStagePolicy;
