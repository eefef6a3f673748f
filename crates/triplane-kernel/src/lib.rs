//! How handlers are run: an ordered interceptor chain that can say no, and a fan-out that cannot.

pub mod name;
pub mod cancel;
pub mod failure;
mod contain;
pub mod intercept;
pub mod dispatch;

pub use cancel::{CancelCause, Cooperation, Scope};
pub use dispatch::{
    AsyncHandlerFn, AwaitableKind, Called, Declared, DispatchEntry, DispatchError, DispatchPolicy,
    DispatchReport, DispatchSnapshot, FanoutDispatcher, Handler, HandlerFn, HandlerOutcome, Key,
    Keyed, NotRun, Offload, Registration, RegistrationId, SpawnBlocking, async_handler_fn,
    handler_fn,
};
pub use failure::{HandlerError, HandlerFailure};
pub use intercept::{
    ChainOutcome, Decision, Denial, EVIDENCE_FAILURE, Ending, EntryState, EvidenceRef, Interceptor,
    InterceptorChain, InterceptorEntry, InterceptorPlan, InterceptorRegistration,
    InterceptorReport, PlanBuildError, PlanBuilder, PlanEntry, StageDeclaration, StageFailure,
    StageKind, StageOrder, Step, TeardownReport, intercept_fn,
};
pub use name::{NameRefused, RegistrationName, StageName};
