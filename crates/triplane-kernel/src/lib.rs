//! How handlers are run: an ordered interceptor chain that can say no, and a fan-out that cannot.
//!
//! Two mechanisms, and no bus:
//!
//! - an [`InterceptorChain`] asks one registration after the other whether an operation may happen.
//!   Each may continue, replace the context, stop or deny. What a failure means is declared for each
//!   stage of the [plan](InterceptorPlan);
//! - a [`FanoutDispatcher`] tells every matching handler of a signal. No handler can keep another from
//!   hearing it, change the signal, or change what has happened. How failures, time and cancellation
//!   are treated is one declared [`DispatchPolicy`], which cannot be built wrong.
//!
//! Reading a signature tells what a handler may do: an [`Interceptor`] answers with a [`Decision`], a
//! [`Handler`] with a value that nobody must heed.
//!
//! The modules in reading order: [`declare`] (values that are stored and compared), [`name`],
//! [`cancel`] (a request to stop), [`deadline`], [`failure`], [`policy`], [`intercept`], [`dispatch`],
//! [`profile`] (the policies of old mechanisms by name). Interception and dispatch do not see each
//! other, and nothing here knows tools, databases or wire formats.

#[doc(hidden)]
pub mod failpoint;
mod sync;
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
    ChainOutcome, ChainVerdict, Decision, Denial, EVIDENCE_FAILURE, Ending, EntryState,
    EvidenceRef, InterceptFn, Interceptor, InterceptorChain, InterceptorEntry, InterceptorPlan,
    InterceptorRegistration, InterceptorReport, PlanBuildError, PlanBuilder, PlanEntry,
    StageDeclaration, StageFailure, StageKind, StageOrder, Step, TeardownReport, intercept_fn,
};
pub use name::{NameRefused, RegistrationName, StageName};
pub use policy::{
    Declared, DispatchPhase, DispatchPolicy, DispatchStagePolicy, PhaseDeclaration, PolicyError,
};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
