//! How an emission treats its handlers.

/// The declared policy of a fan-out: valid by construction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchPolicy {
    pub(crate) on_failure: OnFailure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Isolate,
    Raise,
}

impl DispatchPolicy {
    /// One handler after the other, in the order of registration; a failure is logged, noted in the
    /// report and keeps nobody from hearing the signal.
    pub fn isolated_in_order() -> Self {
        Self {
            on_failure: OnFailure::Isolate,
        }
    }

    /// One handler after the other; the first failure ends the emission and is raised.
    pub fn raising_in_order() -> Self {
        Self {
            on_failure: OnFailure::Raise,
        }
    }
}
