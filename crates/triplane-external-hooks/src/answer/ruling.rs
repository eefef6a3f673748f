//! What was decided about an event, and what is said to the harness.

use serde_json::Value;
use triplane_interception::Finding;

/// What was decided about an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling {
    /// It may happen as it is, or there was nothing to decide.
    Allow,
    /// It must not happen. This is also the ruling when the decision itself failed: a store that
    /// cannot be opened, a guard that ran out of time.
    Deny(Finding),
    /// The call may happen with other arguments.
    Rewrite {
        /// The arguments to use instead of those proposed: all of them, not only the changed ones.
        arguments: Value,
        /// Why, a sentence for the agent and for people.
        reason: String,
    },
}

/// What a hook process says: its two outputs and its exit code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct HarnessAnswer {
    /// To be written to standard output: empty, or one JSON object and a line break.
    pub stdout: String,
    /// To be written to standard error: empty, or lines of text.
    pub stderr: String,
    /// To be exited with.
    pub exit: u8,
}
