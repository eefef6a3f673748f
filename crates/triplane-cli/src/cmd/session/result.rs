//! What became of a call, as its harness told it afterwards.

use std::collections::HashMap;

use serde::Serialize;
use triplane::state::{DeliveryRecord, OperationRecord, StateError, Store};

use crate::cmd::session::told::event_of;

/// The event that proposes a call.
const PROPOSAL: &str = "PreToolUse";

/// The events that tell how a call ended.
const ENDINGS: [(&str, ResultState); 3] = [
    ("PostToolUse", ResultState::Succeeded),
    ("PostToolUseFailure", ResultState::Failed),
    ("PermissionDenied", ResultState::Refused),
];

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultState {
    Succeeded,
    Failed,
    /// Somebody else refused it: the harness, its settings or a person.
    Refused,
    /// It was cancelled while it ran.
    Cancelled,
    /// Nothing is on record: it was denied, it is still running, or nobody told.
    NoResult,
}

impl ResultState {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::NoResult => "no result",
        }
    }

    /// The ending that an event tells of, if it tells of one.
    pub(crate) fn told_by(event: &str) -> Option<Self> {
        let ending = ENDINGS.iter().find(|(name, _)| *name == event);
        ending.map(|(_, state)| *state)
    }
}

/// What a harness told of the end of a call.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CallResult {
    pub(crate) state: ResultState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sequence: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) occurred_at_us: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// The deliveries of the event that told of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) deliveries: Vec<DeliveryRecord>,
}

impl CallResult {
    pub(crate) fn of(state: ResultState, error: Option<String>) -> Self {
        Self {
            state,
            event: None,
            sequence: None,
            occurred_at_us: None,
            error,
            deliveries: Vec::new(),
        }
    }

    /// What the operation `told` says of the end of a call.
    pub(crate) fn told(state: ResultState, told: OperationRecord) -> Self {
        let error = event_of(&told).and_then(|event| Some(event.error()?.into_owned()));
        Self {
            state,
            event: Some(told.event),
            sequence: Some(told.sequence),
            occurred_at_us: Some(told.occurred_at_us),
            error,
            deliveries: told.deliveries,
        }
    }
}

/// The other halves of the calls of one page, found with one look-up.
pub(crate) struct Halves {
    by_identity: HashMap<String, OperationRecord>,
}

impl Halves {
    pub(crate) async fn of(store: &Store, page: &[OperationRecord]) -> Result<Self, StateError> {
        let mut wanted = Vec::new();
        for operation in page {
            let Some(key) = call_key(&operation.identity) else {
                continue;
            };
            if operation.evidence.is_some() {
                wanted.extend(ENDINGS.map(|(event, _)| key.identity(event)));
            } else if ResultState::told_by(&operation.event).is_some() {
                wanted.push(key.identity(PROPOSAL));
            }
        }
        let found = store.operations_named(&wanted).await?;
        let by_identity = found.into_iter().map(|it| (it.identity.clone(), it));
        Ok(Self {
            by_identity: by_identity.collect(),
        })
    }

    /// How the call of `proposal` ended; what was told last, if several things were.
    pub(crate) fn result(&self, proposal: &OperationRecord) -> CallResult {
        let told = call_key(&proposal.identity).and_then(|key| {
            let told = ENDINGS.iter().filter_map(|(event, state)| {
                Some((*state, self.by_identity.get(&key.identity(event))?))
            });
            told.max_by_key(|(_, operation)| operation.sequence)
        });
        match told {
            Some((state, operation)) => CallResult::told(state, operation.clone()),
            None => CallResult::of(ResultState::NoResult, None),
        }
    }

    /// Whether the proposal of the call that `ending` tells of is on record.
    pub(crate) fn has_proposal(&self, ending: &OperationRecord) -> bool {
        call_key(&ending.identity)
            .is_some_and(|key| self.by_identity.contains_key(&key.identity(PROPOSAL)))
    }
}

/// An identity without the name of its event: `session/event/call.id`, and perhaps `#` and the
/// digest that tells a later content of the same call apart.
struct CallKey<'a> {
    session: &'a str,
    call: &'a str,
}

fn call_key(identity: &str) -> Option<CallKey<'_>> {
    let (session, rest) = identity.split_once('/')?;
    let (_event, call) = rest.split_once('/')?;
    let (call, _digest) = call.split_once('#').unwrap_or((call, ""));
    call.starts_with("call.")
        .then_some(CallKey { session, call })
}

impl CallKey<'_> {
    fn identity(&self, event: &str) -> String {
        format!("{}/{event}/{}", self.session, self.call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_of_a_call_have_one_key() {
        let key = |identity| Some(call_key(identity)?.identity("PostToolUse"));
        let wanted = Some("s/PostToolUse/call.t".to_owned());
        assert_eq!(key("s/PreToolUse/call.t"), wanted);
        assert_eq!(key("s/PreToolUse/call.t#0a1b"), wanted);
        assert_eq!(key("s/PostToolUse/call.t"), wanted);
        assert_eq!(key("s/Stop/bytes.7d8a.2"), None);
        assert_eq!(key("s/call/0199a3c4"), None);
        assert_eq!(key("x"), None);
    }
}
