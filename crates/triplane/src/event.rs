//! An event of an agent's session, as its harness tells it.

use std::sync::Arc;

use serde_json::value::RawValue;
use triplane_interception::ToolCall;
use triplane_state::commit::{FactIdentity, Repeat};

/// One event of an agent's session.
///
/// With a `call` it is a proposal that the plan judges; without one it only states a fact.
#[derive(Debug, Clone)]
pub struct AgentEvent {
    /// The session that the event belongs to.
    pub session: String,
    /// The event's name, for example `PreToolUse`.
    pub name: String,
    /// What it happened to, for example the name of a tool.
    pub subject: Option<String>,
    /// The call that is proposed.
    pub call: Option<Arc<ToolCall>>,
    /// What makes the event the same event when it is told again.
    pub identity: FactIdentity,
    /// What must be equal for a repeated event to be the one on record.
    pub repeat: Repeat,
    /// When it occurred, in microseconds since 1970 UTC.
    pub occurred_at_us: i64,
    /// Whether anybody is bound by the decision.
    pub enforcement: Enforcement,
    /// The event itself, one JSON value.
    pub payload: Box<RawValue>,
}

/// Whether anybody is bound by a decision. Every recorded decision carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// The answer goes to a caller that waits for it.
    Enforced,
    /// The event or its harness cannot honour a refusal.
    Advisory,
    /// The event was over before it was judged, as in a replay.
    AfterTheFact,
}

impl Enforcement {
    /// The wire string: `enforced`, `advisory` or `after_the_fact`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Advisory => "advisory",
            Self::AfterTheFact => "after_the_fact",
        }
    }
}
