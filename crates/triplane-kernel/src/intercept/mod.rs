//! Interception: an ordered chain of registrations, each of which may say no.
//!
//! The owner of an operation declares [stages](StageDeclaration), composes registrations into an
//! [`InterceptorPlan`] and asks it through an [`InterceptorChain`] before it acts. One registration
//! is asked after the other, in the order of (stage, place, composition).
//!
//! | Answer | Next registration | Operation |
//! |---|---|---|
//! | continue | is asked | undecided |
//! | continue with another context | is asked, with that context | undecided |
//! | stop | is not asked | may happen |
//! | deny | is not asked | must not happen |
//! | failure, panic, in a stage that maps to deny | is not asked | must not happen |
//! | failure, panic, in a stage that isolates | is asked | undecided |
//! | failure, panic, in a stage that propagates | is not asked | the owner gets the failure |
//! | fatal failure, cancellation | is not asked | the owner gets it |
//!
//! Teardown stages stand last and run in every case, like a `finally`: they hold a cancellation
//! back for a declared budget, see [`StageKind::Teardown`]. No registration can be detached: an
//! operation never runs ahead of its judges. Nothing here waits for a second call to be made ready,
//! and a plan without registrations lets everything pass.

mod decision;
mod interceptor;
mod stage;
mod registration;
mod error;
mod plan;
mod report;
mod run;
mod ordinary;
mod teardown;
mod chain;

pub use chain::InterceptorChain;
pub use decision::{Decision, Denial, EvidenceRef};
pub use error::{PlanBuildError, TEARDOWN_BUDGET_MAX};
pub use interceptor::{InterceptFn, Interceptor, Step, intercept_fn};
pub use plan::{InterceptorPlan, PlanBuilder, PlanEntry};
pub use registration::InterceptorRegistration;
pub use report::{
    ChainOutcome, ChainVerdict, Ending, EntryState, InterceptorEntry, InterceptorReport,
    TeardownReport,
};
pub use run::EVIDENCE_FAILURE;
pub use stage::{StageDeclaration, StageFailure, StageKind, StageOrder};
