//! The envelope that every fact travels in.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use triplane_kernel::{Key, Keyed};
use uuid::Uuid;

use crate::signal::kind::SignalKind;

/// One immutable fact.
///
/// Handlers share it by reference and cannot change it. A signal with a `sequence` stands in the
/// durable log under that number; one without has not been stored.
#[derive(Debug, Clone, Serialize)]
pub struct Signal {
    /// Unique everywhere, UUID v7.
    pub id: Uuid,
    /// What happened.
    pub kind: SignalKind,
    /// The session it happened in.
    pub session: String,
    /// The position in the session's log, from 1, when a commit has stored the fact.
    pub sequence: Option<u64>,
    /// When it happened, in microseconds since 1970 UTC.
    pub occurred_at_us: i64,
    /// Who says so.
    pub emitter: EmitterRole,
    /// The invocation that the fact belongs to, if it belongs to one.
    pub invocation: Option<Uuid>,
    /// What exactly.
    pub payload: Payload,
}

/// Who states a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmitterRole {
    /// The owner of the operation: what it says of its own work is authoritative.
    Owner,
    /// A provider, such as a harness, that tells of its own doing.
    Provider,
}

impl EmitterRole {
    /// The wire string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Provider => "provider",
        }
    }
}

/// The content of a signal: a declared type, its version, and one JSON value.
#[derive(Debug, Clone, Serialize)]
pub struct Payload {
    /// The declared type of the body, for example `tool_call.decision`.
    #[serde(rename = "type")]
    pub payload_type: String,
    /// The version of that type; it rises when a field is removed or changes its meaning.
    pub version: u32,
    /// The body, kept as the text it was given in, and shared.
    pub body: Arc<RawValue>,
}

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        [self.kind.key(), self.kind.family_key(), Self::ANY].into_iter()
    }
}

impl Signal {
    /// The key that every signal carries.
    pub const ANY: Key = Key::from_static("signal");
}
