//! What an intent was enqueued with, frozen: its sink, its destination and what selected it.
//!
//! A snapshot is one row that all intents of the same content share, found by the digest of its
//! bytes. The worker reads it with the version and digest that it was written with; one that it
//! cannot read is no reason to guess a destination.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::commit::IntentRow;
use crate::engine::digest::sha256_hex;

/// The version that this program writes, and the newest that it reads.
pub(crate) const SNAPSHOT_VERSION: u32 = 1;

/// A snapshot as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct StoredSnapshot {
    pub(crate) digest: String,
    pub(crate) body: String,
}

/// What a snapshot says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Snapshot {
    version: u32,
    pub(crate) sink: String,
    pub(crate) deliver_to: Option<String>,
    pub(crate) filter: Option<Box<RawValue>>,
}

impl StoredSnapshot {
    /// What `intent` is enqueued with.
    pub(crate) fn of(intent: &IntentRow) -> Self {
        let snapshot = Snapshot {
            version: SNAPSHOT_VERSION,
            sink: intent.sink.clone(),
            deliver_to: intent.deliver_to.clone(),
            filter: intent.filter.clone(),
        };
        let body = serde_json::to_string(&snapshot).expect("strings and JSON are JSON");
        Self {
            digest: digest(&body),
            body,
        }
    }
}

/// Reads a stored snapshot of an intent for `sink`.
///
/// # Errors
///
/// Why nobody may act on it, a sentence.
pub(crate) fn read_snapshot(
    sink: &str,
    version: i64,
    stored_digest: &str,
    body: &str,
) -> Result<Snapshot, String> {
    if version != i64::from(SNAPSHOT_VERSION) {
        return Err(format!(
            "its snapshot has version {version}, this program reads version {SNAPSHOT_VERSION}"
        ));
    }
    if digest(body) != stored_digest {
        return Err("its snapshot is not the one it was enqueued with: the digest differs".into());
    }
    let snapshot: Snapshot = serde_json::from_str(body)
        .map_err(|error| format!("its snapshot cannot be read: {error}"))?;
    if i64::from(snapshot.version) != version || snapshot.sink != sink {
        return Err("its snapshot contradicts its row".into());
    }
    Ok(snapshot)
}

fn digest(body: &str) -> String {
    sha256_hex([body.as_bytes()])
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn check(change: impl FnOnce(&mut i64, &mut String, &mut String), says: &str) {
        let mut row = IntentRow::new(Uuid::nil(), Uuid::nil(), "sink");
        row.deliver_to = Some("seat-1".to_owned());
        let StoredSnapshot {
            mut digest,
            mut body,
        } = StoredSnapshot::of(&row);
        let mut version = 1;
        change(&mut version, &mut digest, &mut body);
        match read_snapshot("sink", version, &digest, &body) {
            Ok(read) => assert_eq!((says, read.deliver_to.as_deref()), ("", Some("seat-1"))),
            Err(error) => assert!(!says.is_empty() && error.contains(says), "{error}"),
        }
    }

    #[test]
    fn only_what_was_frozen_is_read() {
        check(|_, _, _| {}, "");
        check(|version, _, _| *version = 2, "has version 2");
        check(|_, _, body| body.push(' '), "the digest differs");
        let replace = |digest: &mut String, body: &mut String, text: &str| {
            text.clone_into(body);
            *digest = super::digest(text);
        };
        check(
            |_, digest, body| replace(digest, body, "{"),
            "cannot be read",
        );
        let other = r#"{"version":1,"sink":"other","deliver_to":null,"filter":null}"#;
        check(
            |_, digest, body| replace(digest, body, other),
            "contradicts",
        );
        let more = r#"{"version":1,"sink":"sink","deliver_to":null,"filter":null,"x":1}"#;
        check(
            |_, digest, body| replace(digest, body, more),
            "cannot be read",
        );
    }

    #[test]
    fn the_stored_form_is_pinned() {
        let row = IntentRow::new(Uuid::nil(), Uuid::nil(), "sink");
        assert_eq!(
            StoredSnapshot::of(&row).body,
            r#"{"version":1,"sink":"sink","deliver_to":null,"filter":null}"#
        );
    }
}
