//! Why an emission answers an error instead of a report.

use std::error::Error;

use crate::cancel::CancelCause;
use crate::dispatch::report::DispatchReport;
use crate::name::RegistrationName;

/// What an emission raises.
///
/// The first variants mean that no handler was called. In the others handlers were called, and the
/// report inside names them all; values that were returned are not kept.
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
    /// A handler is declared async, and a sync entry waits for nothing.
    #[error("`{name}` is declared async and cannot be called from a sync entry")]
    DeclaredAsync {
        /// The first such registration.
        name: RegistrationName,
    },
    /// The first failure, by a policy that raises it.
    #[error("{}", first_failure(.report))]
    Failed {
        /// What every matched registration came to; the failure is in it.
        report: Box<DispatchReport>,
    },
    /// The emission was cancelled.
    #[error("the emission was cancelled")]
    Cancelled {
        /// By whom.
        cause: CancelCause,
        /// What every matched registration came to.
        report: Box<DispatchReport>,
    },
}

impl DispatchError {
    /// What the matched registrations came to, if handlers were called.
    pub fn report(&self) -> Option<&DispatchReport> {
        match self {
            Self::Failed { report } | Self::Cancelled { report, .. } => Some(report),
            Self::ForeignSnapshot | Self::StaleSnapshot { .. } | Self::DeclaredAsync { .. } => None,
        }
    }
}

fn first_failure(report: &DispatchReport) -> String {
    match report.failures().next() {
        Some((name, failure)) => {
            let mut text = format!("handler `{name}`: {failure}");
            let mut source = failure.source().and_then(Error::source);
            while let Some(error) = source {
                text.push_str(": ");
                text.push_str(&error.to_string());
                source = error.source();
            }
            text
        }
        None => "a handler failed".to_owned(),
    }
}
