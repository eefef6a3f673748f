//! How a command ended, and what is known of it.

use std::io;
use std::time::Duration;

use triplane_kernel::CancelCause;

use crate::capture::Captured;

/// The report of a command that is over.
#[derive(Debug)]
#[must_use]
pub struct Completed {
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote to its standard output.
    pub stdout: Captured,
    /// What it wrote to its standard error.
    pub stderr: Captured,
    /// From before the spawn until the group was killed and the leader reaped.
    pub took: Duration,
    /// What kept the command from reaching further than it should.
    pub containment: Containment,
}

impl Completed {
    /// Whether the command ran and exited with 0.
    pub fn is_success(&self) -> bool {
        matches!(self.outcome, Outcome::Exited(0))
    }
}

/// How a command ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// It exited with this code.
    Exited(i32),
    /// A signal with this number ended it, and it was not ours.
    Signalled(i32),
    /// It was killed with its group when its time ran out. What it had done by then is unknown.
    TimedOut,
    /// It was killed with its group because its scope was cancelled, by whom the cause says.
    Cancelled(CancelCause),
    /// It never ran.
    SpawnFailed(io::Error),
    /// It ran, and the system would not say how it ended.
    Lost(io::Error),
}

/// What keeps a command from reaching further than it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Containment {
    /// Nothing does. It has the rights of this process, and a child that leaves the process group
    /// outlives it.
    NotContained,
}
