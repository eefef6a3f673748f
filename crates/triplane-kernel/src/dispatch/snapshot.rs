//! What a synchronous owner takes before its effect, and gives back with the signal.

/// The registrations of one dispatcher at one revision (ADR-0120 D2).
///
/// It holds a revision and no list: a dispatcher refuses a snapshot of any other revision than its
/// current one, so what would be listed is what the dispatcher has.
///
/// Only a dispatcher's preflight makes one:
///
/// ```compile_fail
/// let forged = triplane_kernel::DispatchSnapshot { dispatcher: 0, revision: 0 };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct DispatchSnapshot {
    pub(crate) dispatcher: u64,
    pub(crate) revision: u64,
}

impl DispatchSnapshot {
    /// The revision of the registrations; it rises with every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }
}
