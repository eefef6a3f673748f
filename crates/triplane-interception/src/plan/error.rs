//! Why guards and policies do not make a plan.

use triplane_kernel::{NameRefused, PlanBuildError};

/// Why a plan cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A guard's name is not a name.
    #[error("the guard cannot be named so: {0}")]
    Name(#[from] NameRefused),
    /// The kernel refuses the plan, for example because two guards have one name.
    #[error(transparent)]
    Build(#[from] PlanBuildError),
}
