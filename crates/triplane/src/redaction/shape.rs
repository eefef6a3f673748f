//! A token shape: the literals that announce it, and the pattern that tells what is the secret.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

include!(concat!(env!("OUT_DIR"), "/shapes.rs"));

/// What begins each text that stands in place of a secret.
pub(crate) const OPENING: &str = "[redacted:";

/// The largest program that one pattern may compile to, in bytes.
const PATTERN_BYTES_MAX: usize = 4 << 20;

/// How far before its literal a match may begin, in bytes.
const LOOK_BACK: usize = 256;

/// A shape of the table that comes with triplane.
#[derive(Debug)]
pub(crate) struct ShippedShape {
    pub(crate) id: &'static str,
    anchors: &'static [&'static str],
    also: Option<&'static str>,
    pub(crate) pattern: &'static str,
    check: Check,
}

/// What must hold of a secret beside its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    None,
    /// A letter, and a digit or a mark that names do not have.
    Varied,
}

/// A shape that is searched for. Its pattern is compiled when one of its literals is first met.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) id: Cow<'static, str>,
    /// One of these literals is in every text that holds such a secret.
    pub(crate) anchors: Vec<Cow<'static, str>>,
    also: Option<&'static str>,
    pattern: Cow<'static, str>,
    check: Check,
    compiled: OnceLock<Option<Regex>>,
}

impl Shape {
    pub(crate) fn shipped(shape: &'static ShippedShape) -> Self {
        Self {
            id: shape.id.into(),
            anchors: shape.anchors.iter().map(|&anchor| anchor.into()).collect(),
            also: shape.also,
            pattern: shape.pattern.into(),
            check: shape.check,
            compiled: OnceLock::new(),
        }
    }

    /// A declared shape.
    ///
    /// # Errors
    ///
    /// What is wrong with the pattern. It is compiled here, once, for the answer; a hook pays for
    /// its user's own patterns only.
    pub(crate) fn declared(
        id: String,
        anchors: Vec<String>,
        pattern: String,
    ) -> Result<Self, String> {
        let regex = compile(&pattern).map_err(|error| error.to_string())?;
        if regex.is_match(b"") {
            return Err("it matches the empty text".to_owned());
        }
        Ok(Self {
            id: id.into(),
            anchors: anchors.into_iter().map(Cow::from).collect(),
            also: None,
            pattern: pattern.into(),
            check: Check::None,
            compiled: OnceLock::from(Some(regex)),
        })
    }

    /// Calls `found` with each secret of this shape in `text`, whose first literal stands at
    /// `anchor`.
    pub(crate) fn secrets(&self, text: &[u8], anchor: usize, mut found: impl FnMut(Range<usize>)) {
        if let Some(also) = self.also
            && memchr::memmem::find(text, also.as_bytes()).is_none()
        {
            return;
        }
        let Some(regex) = self.regex() else {
            return;
        };
        let mut captures = regex.capture_locations();
        let mut at = anchor.saturating_sub(LOOK_BACK);
        while let Some(whole) = regex.captures_read_at(&mut captures, text, at) {
            // A pattern that can match nothing must not hold up the search.
            at = whole.end().max(at + 1);
            let group = (1..captures.len()).find_map(|group| captures.get(group));
            let (start, end) = group.unwrap_or((whole.start(), whole.end()));
            if start < end && self.check.holds(&text[start..end]) {
                found(start..end);
            }
            if at > text.len() {
                return;
            }
        }
    }

    fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| compile(&self.pattern).ok())
            .as_ref()
    }
}

impl Check {
    fn holds(self, secret: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Varied => {
                let telling = |byte: &u8| byte.is_ascii_digit() || b"!#%&*+=@^~?|".contains(byte);
                secret.iter().any(u8::is_ascii_alphabetic) && secret.iter().any(telling)
            }
        }
    }
}

fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    // Bytes and ASCII classes: small programs, and texts that are not quite UTF-8 can be searched.
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
}
