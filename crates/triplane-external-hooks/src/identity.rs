//! Who an event is, so that it is recorded once, and what it says, so that a change is noticed.
//!
//! The **identity** is `session/event/key`. The key is the harness's id of the call
//! (`call.…`), else the id of the transcript entry (`entry.…`), else the digest of the original
//! bytes and the number of their occurrence (`bytes.….2`). Two runs over one file name every
//! event alike, and so does a run over the file after it has grown.
//!
//! The **content digest** tells whether an identity still says the same. A proposed call is
//! compared by what it would do, its tool and arguments in canonical form (shape `call`), so that
//! a call seen live and found again in a transcript is the same call. Everything else is compared
//! by the bytes it was written in, under the name of the format.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::format::Format;
use crate::wire::HookEvent;

/// The identity of an event among all events of one harness.
///
/// `occurrence` counts, from 1, the events of one session and name that were written in the same
/// bytes; it matters only where [`occurrence_key`] is `Some`. A piece of the identity that is long
/// is replaced by its digest; `/`, `%`, white space and control characters are percent-encoded,
/// so that pieces cannot run into each other.
pub fn identity(event: &HookEvent, occurrence: u64) -> String {
    let mut identity = String::with_capacity(96);
    push_piece(&mut identity, event.session_id());
    identity.push('/');
    push_piece(&mut identity, event.name());
    identity.push('/');
    if let Some(call) = event.tool_use_id() {
        identity.push_str("call.");
        push_piece(&mut identity, call);
    } else if let Some(entry) = event.entry_uuid() {
        identity.push_str("entry.");
        push_piece(&mut identity, entry);
    } else {
        identity.push_str("bytes.");
        push_hex(&mut identity, &bytes_digest(event)[..16]);
        let _ = write!(identity, ".{occurrence}");
    }
    identity
}

/// The key to count occurrences of an event under; `None` if an id names it already and nothing
/// needs to be counted.
pub fn occurrence_key(event: &HookEvent) -> Option<[u8; 16]> {
    if event.tool_use_id().is_some() || event.entry_uuid().is_some() {
        return None;
    }
    let mut hash = Sha256::new();
    for piece in [event.session_id(), event.name()] {
        hash.update((piece.len() as u64).to_le_bytes());
        hash.update(piece);
    }
    hash.update(bytes_digest(event));
    let mut key = [0; 16];
    key.copy_from_slice(&hash.finalize()[..16]);
    Some(key)
}

/// What a content digest was taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentShape {
    /// The tool and the arguments of a proposed call, canonical.
    Call,
    /// The original bytes, in this format.
    Original(Format),
}

impl ContentShape {
    /// The name in rows: `call`, `hooks` or `claude-transcript`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Original(format) => format.as_str(),
        }
    }
}

/// A digest of what an event says. Digests of different shapes are not comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentDigest {
    /// What it was taken over.
    pub shape: ContentShape,
    /// SHA-256.
    pub sha256: [u8; 32],
}

impl ContentDigest {
    /// The digest as 64 hexadecimal digits.
    pub fn to_hex(&self) -> String {
        let mut hex = String::with_capacity(64);
        push_hex(&mut hex, &self.sha256);
        hex
    }
}

/// The digest of what `event` says.
pub fn content_digest(event: &HookEvent) -> ContentDigest {
    match event.tool_input() {
        Some(arguments) => ContentDigest {
            shape: ContentShape::Call,
            sha256: call_digest(event.tool_name().unwrap_or_default(), arguments),
        },
        None => ContentDigest {
            shape: ContentShape::Original(event.format()),
            sha256: bytes_digest(event),
        },
    }
}

/// SHA-256 over `{"tool_input":…,"tool_name":…}` with the keys of every object sorted.
fn call_digest(tool: &str, arguments: &Value) -> [u8; 32] {
    let mut call = Map::new();
    call.insert("tool_name".to_owned(), Value::from(tool));
    call.insert("tool_input".to_owned(), arguments.clone());
    let mut text = String::new();
    push_canonical(&mut text, &Value::Object(call));
    Sha256::digest(text).into()
}

/// The digest of the bytes the event was written in: its own, or those of its transcript entry.
fn bytes_digest(event: &HookEvent) -> [u8; 32] {
    event
        .entry_digest()
        .unwrap_or_else(|| Sha256::digest(event.original().get()).into())
}

/// Writes `value` without white space and with sorted keys, whatever order its maps keep.
fn push_canonical(text: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                push_canonical(text, item);
            }
            text.push(']');
        }
        Value::Object(map) => {
            let mut fields: Vec<_> = map.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (at, (key, item)) in fields.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                let _ = write!(text, "{}:", Value::from(key.as_str()));
                push_canonical(text, item);
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = write!(text, "{value}");
        }
    }
}

fn push_piece(text: &mut String, piece: &str) {
    const PIECE_BYTES_MAX: usize = 128;
    if piece.len() > PIECE_BYTES_MAX {
        text.push_str("sha256-");
        push_hex(text, &Sha256::digest(piece)[..16]);
        return;
    }
    for character in piece.chars() {
        match character {
            '/' | '%' => push_percent(text, character),
            c if c.is_whitespace() || c.is_control() => push_percent(text, c),
            c => text.push(c),
        }
    }
}

fn push_percent(text: &mut String, character: char) {
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        let _ = write!(text, "%{byte:02X}");
    }
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> HookEvent {
        HookEvent::read(text.as_bytes()).unwrap()
    }

    fn check(text: &str, wanted: &str) {
        assert_eq!(identity(&event(text), 2), wanted, "{text}");
    }

    #[test]
    fn the_first_id_that_there_is_names_the_event() {
        check(
            r#"{"hook_event_name":"PostToolUse","session_id":"s1","tool_use_id":"t1","uuid":"u1"}"#,
            "s1/PostToolUse/call.t1",
        );
        check(
            r#"{"hook_event_name":"SessionEnd","session_id":"s1","uuid":"u1"}"#,
            "s1/SessionEnd/entry.u1",
        );
        check(
            r#"{"hook_event_name":"Stop"}"#,
            "unknown/Stop/bytes.7d8af3bd5ef603331d2c456d6e1f3d96.2",
        );
    }

    #[test]
    fn pieces_cannot_run_into_each_other() {
        check(
            r#"{"hook_event_name":"Stop/x","session_id":"a/b %","uuid":"\u0000"}"#,
            "a%2Fb%20%25/Stop%2Fx/entry.%00",
        );
        let long = format!(
            r#"{{"hook_event_name":"Stop","session_id":"{}","uuid":"u"}}"#,
            "x".repeat(10_000)
        );
        assert!(identity(&event(&long), 1).len() < 80);
    }

    #[test]
    fn a_call_is_compared_by_what_it_would_do() {
        let live = event(
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"b":1,"a":[{"d":"x","c":2}]}}"#,
        );
        let found_again = event(
            r#"{"tool_input": {"a": [{"c":2,"d":"\u0078"}], "b": 1}, "tool_name": "Bash", "hook_event_name": "PreToolUse", "uuid": "u"}"#,
        );
        let other = event(
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"b":2,"a":[{"d":"x","c":2}]}}"#,
        );
        assert_eq!(content_digest(&live), content_digest(&found_again));
        assert_ne!(content_digest(&live), content_digest(&other));
        assert_eq!(content_digest(&live).shape.as_str(), "call");
    }

    #[test]
    fn anything_else_is_compared_by_its_bytes() {
        let one = content_digest(&event(r#"{"hook_event_name":"Stop","n":1}"#));
        let spaced = content_digest(&event(
            "\u{feff} {\"hook_event_name\":\"Stop\",\"n\":1}\r\n",
        ));
        let other = content_digest(&event(r#"{"hook_event_name":"Stop", "n":1}"#));
        assert_eq!(one, spaced);
        assert_ne!(one, other);
        assert_eq!(one.shape.as_str(), "hooks");
    }

    #[test]
    fn only_events_without_an_id_are_counted() {
        let key = |text: &str| occurrence_key(&event(text));
        let stop = key(r#"{"hook_event_name":"Stop","session_id":"s"}"#);
        assert!(stop.is_some());
        assert_ne!(stop, key(r#"{"hook_event_name":"Stop","session_id":"t"}"#));
        assert_eq!(key(r#"{"hook_event_name":"Stop","uuid":"u"}"#), None);
        assert_eq!(
            key(r#"{"hook_event_name":"PostToolUse","tool_use_id":"t"}"#),
            None
        );
    }
}
