//! The intent to deliver a committed fact.

use serde::Serialize;
use serde_json::value::RawValue;

/// The intent to convey one committed fact to one sink.
///
/// Only a committed transaction makes one: the fields are private, and no constructor is public.
#[derive(Debug, Clone, Serialize)]
pub struct DeliveryIntent {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) sink: String,
    pub(crate) identity: String,
    pub(crate) attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ack_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deliver_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filter: Option<Box<RawValue>>,
    pub(crate) session: String,
    pub(crate) sequence: u64,
    pub(crate) kind: String,
    pub(crate) occurred_at_us: i64,
    pub(crate) payload_type: String,
    pub(crate) payload_version: u32,
    pub(crate) payload: Box<RawValue>,
}

impl DeliveryIntent {
    /// The public id of the intent, a UUID v7.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The idempotency key: the same at every attempt, different for every intent and store.
    ///
    /// A destination that remembers it can tell a repeated delivery from a new one.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The name of the sink that the intent is for.
    pub fn sink(&self) -> &str {
        &self.sink
    }

    /// The identity of the committed fact, unique in the store.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The number of this attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The token with which the consumer acknowledges this intent, when it is asked to: another one
    /// at each attempt, and each of them acknowledges the intent. It is nowhere stored as it is.
    pub fn ack_token(&self) -> Option<&str> {
        self.ack_token.as_deref()
    }

    /// Where the sink is to convey it, as it was enqueued, if it was enqueued with a destination.
    pub fn deliver_to(&self) -> Option<&str> {
        self.deliver_to.as_deref()
    }

    /// What selected the signal when the intent was enqueued, one JSON value.
    pub fn filter(&self) -> Option<&RawValue> {
        self.filter.as_deref()
    }

    /// The session of the fact.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The fact's position in its session's signal log, from 1.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The wire string of the signal's kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// When the fact occurred, in microseconds since 1970 UTC.
    pub fn occurred_at_us(&self) -> i64 {
        self.occurred_at_us
    }

    /// The declared type of the payload and its version.
    pub fn payload_type(&self) -> (&str, u32) {
        (&self.payload_type, self.payload_version)
    }

    /// The payload, one JSON value.
    pub fn payload(&self) -> &RawValue {
        &self.payload
    }
}
