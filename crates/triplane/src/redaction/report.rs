//! What was taken out of a fact, and where.

use std::sync::Arc;

use serde::Serialize;

/// How many places are named in one account; the rest is counted.
const PLACES_MAX: usize = 100;

/// What a row says of the redaction of its fact.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Account {
    /// Nothing was looked for: the word `off`.
    Off(&'static str),
    /// What was looked for, and what was found.
    Looked(Looked),
}

/// The policy that was in force, and what it took out.
#[derive(Debug, Serialize)]
pub(crate) struct Looked {
    version: u32,
    policy: Arc<str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redacted: Vec<Place>,
    /// How many secrets were taken out of places that are not named.
    #[serde(skip_serializing_if = "is_zero")]
    more: u64,
}

/// A value out of which secrets of one shape were taken.
#[derive(Debug, Serialize)]
struct Place {
    /// A JSON pointer (RFC 6901) into the row's own body, or into the audit row's columns.
    at: String,
    shape: String,
    count: u64,
}

impl Looked {
    pub(crate) fn new(version: u32, policy: Arc<str>) -> Self {
        Self {
            version,
            policy,
            redacted: Vec::new(),
            more: 0,
        }
    }

    /// Counts a secret; `at` is asked only if its place is to be named.
    pub(crate) fn add(&mut self, shape: &str, at: impl FnOnce() -> String) {
        if self.redacted.len() >= PLACES_MAX {
            self.more += 1;
            return;
        }
        let at = at();
        // The secrets of one text come one after the other.
        let mut last = self
            .redacted
            .iter_mut()
            .rev()
            .take_while(|place| place.at == at);
        match last.find(|place| place.shape == shape) {
            Some(place) => place.count += 1,
            None => self.redacted.push(Place {
                at,
                shape: shape.to_owned(),
                count: 1,
            }),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde calls"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
