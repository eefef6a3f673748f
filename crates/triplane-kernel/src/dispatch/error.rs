//! Why an emission answers an error instead of a report.

use crate::cancel::CancelCause;
use crate::dispatch::outcome::HandlerOutcome;
use crate::dispatch::report::DispatchReport;
use crate::name::RegistrationName;

/// What an emission raises.
///
/// The variants without a report mean that no handler was called. In the others handlers were
/// called, and the report names them all; values that were returned are not kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DispatchError {
    /// The snapshot was taken from another dispatcher.
    #[error("the snapshot was taken from another dispatcher")]
    ForeignSnapshot,
    /// Registrations have changed since the snapshot was taken.
    #[error("the snapshot is of revision {snapshot}, the dispatcher is at revision {current}")]
    StaleSnapshot {
        /// The revision of the snapshot.
        snapshot: u64,
        /// The revision of the dispatcher.
        current: u64,
    },
    /// The policy has no sync entry.
    #[error("the policy has no sync entry")]
    NoSyncEntry,
    /// A handler is declared async, and the policy rejects it from its sync entry.
    #[error("`{name}` is declared async and cannot be called from a sync entry")]
    DeclaredAsync {
        /// The first such registration.
        name: RegistrationName,
    },
    /// Emissions are nested in handlers of emissions beyond the limit, which looks like a handler
    /// that emits what it handles.
    #[error("emissions are nested deeper than {limit}")]
    NestedTooDeep {
        /// The limit.
        limit: usize,
    },
    /// One failure, by a policy that raises it as it is.
    #[error("{}", raised(.report))]
    Failed {
        /// What every matched registration came to; [`DispatchReport::raised`] has the failure.
        report: Box<DispatchReport>,
    },
    /// Failures, and cancellations collected with them, by a policy that raises them together.
    #[error("{} handlers failed: {}", .report.raised().len(), raised(.report))]
    Group {
        /// What every matched registration came to; [`DispatchReport::raised`] has the members.
        report: Box<DispatchReport>,
    },
    /// The emission was cancelled, by its emitter or by a handler whose cancellation propagates.
    #[error("the emission was cancelled")]
    Cancelled {
        /// By whom.
        cause: CancelCause,
        /// What every matched registration came to.
        report: Box<DispatchReport>,
    },
    /// A handler cancelled itself or failed fatally, by a policy that translates this. It wins over
    /// ordinary failures, which are its cause.
    #[error("a handler cancelled itself: {}", raised(.report))]
    HandlerCancelled {
        /// What every matched registration came to; [`DispatchReport::raised`] has the ordinary
        /// failures, or the first cancellation when there are none.
        report: Box<DispatchReport>,
    },
    /// The deadline of a phase ran out, by a policy that raises this.
    #[error("the deadline ran out")]
    DeadlineExceeded {
        /// What every matched registration came to.
        report: Box<DispatchReport>,
    },
}

impl DispatchError {
    /// What the matched registrations came to, if handlers were called.
    pub fn report(&self) -> Option<&DispatchReport> {
        match self {
            Self::Failed { report }
            | Self::Group { report }
            | Self::Cancelled { report, .. }
            | Self::HandlerCancelled { report }
            | Self::DeadlineExceeded { report } => Some(report),
            Self::ForeignSnapshot
            | Self::StaleSnapshot { .. }
            | Self::NoSyncEntry
            | Self::DeclaredAsync { .. }
            | Self::NestedTooDeep { .. } => None,
        }
    }
}

/// What is raised, in one line.
fn raised(report: &DispatchReport) -> String {
    let members = report.raised().map(|entry| match entry.outcome {
        HandlerOutcome::Failed(failure) => format!("`{}`: {}", entry.name, failure.chain()),
        HandlerOutcome::PredicateFailed(failure) => {
            format!("the predicate of `{}`: {}", entry.name, failure.chain())
        }
        _ => format!("`{}`: cancelled", entry.name),
    });
    members.collect::<Vec<_>>().join("; ")
}
