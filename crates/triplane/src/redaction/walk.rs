//! Walking a JSON text, and writing it anew but for the tokens that hold a secret.
//!
//! The text is not parsed: tokens are found, and which of the strings is a key is told by the colon
//! after it. What is not replaced is copied as it stands.

use std::fmt::Write as _;
use std::ops::Range;

use crate::redaction::field::is_no_secret;
use crate::redaction::scan::Found;
use crate::redaction::shape::OPENING;
use crate::redaction::token::{decode, end_of_string, locate};

/// How deep a place is told; what lies deeper is said to lie below.
const STEPS_MAX: usize = 64;

/// The longest place that is told, in bytes.
const POINTER_BYTES_MAX: usize = 1024;

/// The id of what is hidden because of its field.
pub(crate) const FIELD: &str = "field";

/// What the walk asks, and tells.
pub(crate) trait Watch {
    /// Whether everything under the field of this name is a secret.
    fn is_secret_field(&mut self, name: &[u8]) -> bool;
    /// The secrets in a text: in order, without overlaps.
    fn secrets(&mut self, text: &[u8]) -> Vec<Found>;
    /// The id of what was found.
    fn id(&self, found: &Found) -> String;
    /// A secret was hidden.
    fn hidden(&mut self, id: &str, secret: &[u8], at: &dyn Fn() -> String);
}

/// Hides the secrets of the JSON text `text`; `None` if it holds none.
///
/// `at` is the place of the whole, and `field` the name of the field that it stands in.
pub(crate) fn hide(text: &str, at: &str, field: &str, watch: &mut impl Watch) -> Option<String> {
    let mut walk = Walk {
        text,
        at,
        out: String::new(),
        copied: 0,
        steps: Vec::new(),
        below: 0,
        said: Vec::new(),
        keys_hidden: 0,
    };
    walk.run(field, watch);
    if walk.copied == 0 {
        return None;
    }
    walk.out.push_str(&text[walk.copied..]);
    Some(walk.out)
}

struct Walk<'t> {
    text: &'t str,
    at: &'t str,
    out: String,
    /// How much of the text stands in `out`.
    copied: usize,
    steps: Vec<Step>,
    /// How many containers are open beyond those in `steps`.
    below: usize,
    said: Vec<u8>,
    keys_hidden: u32,
}

/// An open container, and where in it the walk is.
struct Step {
    within: Within,
    /// The place of an element, 0 at first.
    index: usize,
}

enum Within {
    Array,
    /// The key as it stands in the text.
    Object(Range<usize>),
    /// The key as it was written instead.
    Renamed(String),
}

impl Walk<'_> {
    fn run(&mut self, field: &str, watch: &mut impl Watch) {
        let bytes = self.text.as_bytes();
        let mut secret = watch.is_secret_field(field.as_bytes());
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    let (end, escaped) = end_of_string(bytes, at + 1);
                    let token = at + 1..end;
                    let colon = skip_blank(bytes, end + 1);
                    if bytes.get(colon) == Some(&b':') {
                        secret = self.key(token, escaped, watch);
                        at = colon + 1;
                    } else {
                        self.string(token, escaped, secret, watch);
                        secret = false;
                        at = end + 1;
                    }
                    continue;
                }
                b'{' | b'[' if secret => {
                    let end = end_of_container(bytes, at);
                    let inner = bytes.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                    if !inner.trim_ascii().is_empty() {
                        self.whole(at..end, watch);
                    }
                    secret = false;
                    at = end;
                    continue;
                }
                b'{' => self.open(Within::Object(at..at)),
                b'[' => self.open(Within::Array),
                b'}' | b']' => self.close(),
                b',' => self.next(),
                b'-' | b'0'..=b'9' if secret => {
                    let digits =
                        |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                    let end = at + bytes[at..].iter().take_while(digits).count();
                    self.whole(at..end, watch);
                    secret = false;
                    at = end;
                    continue;
                }
                // The literals true, false and null tell nothing.
                b't' | b'f' | b'n' => secret = false,
                _ => {}
            }
            at += 1;
        }
    }

    /// A key; answers whether what stands under it is a secret.
    fn key(&mut self, token: Range<usize>, escaped: bool, watch: &mut impl Watch) -> bool {
        let found = self.search(&token, escaped, watch);
        let name = self.said(&token, escaped);
        let mut secret = watch.is_secret_field(name);
        let within = if found.is_empty() {
            Within::Object(token)
        } else {
            let from = self.out.len() + token.start.saturating_sub(self.copied);
            self.replace(&token, escaped, &found, watch);
            self.copy(token.end);
            self.keys_hidden += 1;
            if self.keys_hidden > 1 {
                // Two keys of one object must not become one.
                let _ = write!(self.out, " <{}>", self.keys_hidden);
            }
            let renamed = self.out[from..].to_owned();
            // What is left of a name may be the name of a secret, and more of it may not.
            let mut name = Vec::new();
            decode(renamed.as_bytes(), &mut name);
            secret |= watch.is_secret_field(&name);
            Within::Renamed(renamed)
        };
        if self.below == 0
            && let Some(step) = self.steps.last_mut()
        {
            step.within = within;
        }
        secret
    }

    fn string(&mut self, token: Range<usize>, escaped: bool, secret: bool, watch: &mut impl Watch) {
        if secret {
            if !is_no_secret(self.said(&token, escaped)) {
                self.whole(token.start - 1..(token.end + 1).min(self.text.len()), watch);
            }
            return;
        }
        let found = self.search(&token, escaped, watch);
        if !found.is_empty() {
            self.replace(&token, escaped, &found, watch);
        }
    }

    fn search(
        &mut self,
        token: &Range<usize>,
        escaped: bool,
        watch: &mut impl Watch,
    ) -> Vec<Found> {
        watch.secrets(self.said(token, escaped))
    }

    /// What a token says.
    fn said(&mut self, token: &Range<usize>, escaped: bool) -> &[u8] {
        let raw = &self.text.as_bytes()[token.clone()];
        if !escaped {
            return raw;
        }
        decode(raw, &mut self.said);
        &self.said
    }

    /// Writes the token without its secrets.
    fn replace(
        &mut self,
        token: &Range<usize>,
        escaped: bool,
        found: &[Found],
        watch: &mut impl Watch,
    ) {
        let text = self.text;
        let spans: Vec<Range<usize>> = found.iter().map(|it| it.span.clone()).collect();
        let mut places = spans.clone();
        if escaped {
            locate(&text.as_bytes()[token.clone()], &spans, |n, raw| {
                places[n] = raw;
            });
        }
        for (found, place) in found.iter().zip(places) {
            let id = watch.id(found);
            let said = if escaped {
                &self.said[found.span.clone()]
            } else {
                &text.as_bytes()[token.clone()][found.span.clone()]
            };
            watch.hidden(&id, said, &|| self.pointer());
            self.copy(text.floor_char_boundary(token.start + place.start));
            self.mark(&id);
            self.copied = text.ceil_char_boundary(token.start + place.end);
        }
    }

    /// Writes a mark in place of a whole value.
    fn whole(&mut self, value: Range<usize>, watch: &mut impl Watch) {
        let raw = &self.text.as_bytes()[value.clone()];
        // Only a string can be quoted elsewhere as it stands.
        let secret: &[u8] = match raw.strip_prefix(b"\"") {
            Some(rest) => {
                decode(rest.strip_suffix(b"\"").unwrap_or(rest), &mut self.said);
                &self.said
            }
            None => &[],
        };
        watch.hidden(FIELD, secret, &|| self.pointer());
        self.copy(value.start);
        self.out.push('"');
        self.mark(FIELD);
        self.out.push('"');
        self.copied = value.end;
    }

    fn mark(&mut self, id: &str) {
        self.out.push_str(OPENING);
        self.out.push_str(id);
        self.out.push(']');
    }

    fn copy(&mut self, end: usize) {
        if end > self.copied {
            self.out.push_str(&self.text[self.copied..end]);
            self.copied = end;
        }
    }

    fn open(&mut self, within: Within) {
        if self.steps.len() < STEPS_MAX {
            self.steps.push(Step { within, index: 0 });
        } else {
            self.below += 1;
        }
    }

    fn close(&mut self) {
        if self.below > 0 {
            self.below -= 1;
        } else {
            self.steps.pop();
        }
    }

    fn next(&mut self) {
        if self.below == 0
            && let Some(step) = self.steps.last_mut()
        {
            step.index += 1;
        }
    }

    /// The JSON pointer of where the walk is.
    fn pointer(&self) -> String {
        let mut pointer = self.at.to_owned();
        let mut said = Vec::new();
        for Step { within, index } in &self.steps {
            pointer.push('/');
            match within {
                Within::Array => {
                    let _ = write!(pointer, "{index}");
                }
                Within::Object(key) => {
                    decode(&self.text.as_bytes()[key.clone()], &mut said);
                    push_step(&mut pointer, &String::from_utf8_lossy(&said));
                }
                Within::Renamed(key) => push_step(&mut pointer, key),
            }
        }
        if self.below > 0 {
            pointer.push_str("/…");
        }
        if pointer.len() > POINTER_BYTES_MAX {
            pointer.truncate(pointer.floor_char_boundary(POINTER_BYTES_MAX));
            pointer.push('…');
        }
        pointer
    }
}

fn push_step(pointer: &mut String, key: &str) {
    for character in key.chars().take(POINTER_BYTES_MAX) {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

fn skip_blank(bytes: &[u8], at: usize) -> usize {
    let open = bytes.get(at..).unwrap_or_default();
    at + open
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// The place after the container that opens at `at`.
fn end_of_container(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at + 1).0,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
