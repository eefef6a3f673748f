//! How handlers are run: an ordered interceptor chain that can say no, and a fan-out that cannot.

pub mod declare;
pub mod name;
pub mod cancel;
pub mod deadline;
pub mod failure;
mod contain;
pub mod policy;
pub mod intercept;
pub mod dispatch;
pub mod profile;

pub use cancel::{CancelCause, Cooperation, Scope};
pub use deadline::Deadline;
pub use dispatch::{
    AsyncHandlerFn, AwaitableKind, Called, Discarding, DispatchEntry, DispatchError,
    DispatchReport, DispatchSnapshot, FanoutDispatcher, Handler, HandlerFn, HandlerOutcome, Key,
    Keyed, LateOutcome, LateSink, NotRun, Offload, Registration, RegistrationId, ShutdownReport,
    SpawnBlocking, Subscription, async_handler_fn, handler_fn,
};
pub use failure::{HandlerError, HandlerFailure};
pub use intercept::{
    ChainOutcome, Decision, Denial, EVIDENCE_FAILURE, Ending, EntryState, EvidenceRef, Interceptor,
    InterceptorChain, InterceptorEntry, InterceptorPlan, InterceptorRegistration,
    InterceptorReport, PlanBuildError, PlanBuilder, PlanEntry, StageDeclaration, StageFailure,
    StageKind, StageOrder, Step, TeardownReport, intercept_fn,
};
pub use name::{NameRefused, RegistrationName, StageName};
pub use policy::{
    Declared, DispatchPhase, DispatchPolicy, DispatchStagePolicy, PhaseDeclaration, PolicyError,
};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
