//! Why a plan cannot be built.

use std::time::Duration;

use crate::name::{RegistrationName, StageName};

/// The longest budget of a teardown stage: a shield must end while somebody still waits for it.
pub const TEARDOWN_BUDGET_MAX: Duration = Duration::from_hours(1);

/// The rule that a plan breaks.
///
/// A name that is empty never gets here: [`RegistrationName`] and [`StageName`] refuse it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanBuildError {
    /// Two stages have one name.
    #[error("stage `{stage}` is declared twice")]
    DuplicateStage {
        /// The name in question.
        stage: StageName,
    },
    /// A registration names a stage that the owner does not declare.
    #[error("`{registration}` is registered in stage `{stage}`, which the owner does not declare")]
    UnknownStage {
        /// The registration in question.
        registration: RegistrationName,
        /// The stage it names.
        stage: StageName,
    },
    /// Two registrations have one name.
    #[error("`{name}` is registered twice")]
    DuplicateName {
        /// The name in question.
        name: RegistrationName,
    },
    /// Two registrations claim a stage that holds one.
    #[error("`{second}` is registered in exclusive stage `{stage}`, which `{first}` holds already")]
    ExclusiveStageTaken {
        /// The stage in question.
        stage: StageName,
        /// The registration that was composed first.
        first: RegistrationName,
        /// The one that came after it.
        second: RegistrationName,
    },
    /// A teardown stage has no budget.
    #[error("teardown stage `{stage}` has no budget")]
    TeardownWithoutBudget {
        /// The stage in question.
        stage: StageName,
    },
    /// A teardown stage has a budget of zero, or one above [`TEARDOWN_BUDGET_MAX`].
    #[error(
        "teardown stage `{stage}` has a budget of {budget:?}; it must be above zero and at most \
         {TEARDOWN_BUDGET_MAX:?}"
    )]
    TeardownBudgetOutOfRange {
        /// The stage in question.
        stage: StageName,
        /// Its budget.
        budget: Duration,
    },
    /// An ordinary stage comes after a teardown stage.
    #[error("ordinary stage `{stage}` comes after teardown stage `{teardown}`")]
    OrdinaryAfterTeardown {
        /// The ordinary stage.
        stage: StageName,
        /// The teardown stage before it.
        teardown: StageName,
    },
}
