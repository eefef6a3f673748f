//! A word of a command, and what is known of it before the shell has run.
//!
//! A word is a row of parts. Literal text is known; everything else says how much is known: a
//! pattern that the shell will expand, a text without blanks or slashes, a path somewhere below
//! the part before it, or nothing at all.

use std::borrow::Cow;
use std::ops::Range;

/// One part of a [`Word`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that the program receives as it stands here.
    Text(String),
    /// An unquoted pattern that the shell expands to names: `*`, `?` or a bracket expression.
    Glob(String),
    /// Unknown text without blanks and slashes, such as a process id.
    Token,
    /// An unknown path below what stands before it, never that path itself.
    Below,
    /// Nothing is known: any text, several words, or none.
    Unknown,
}

impl Part {
    /// How much is known and remembered of it, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Glob(text) => text.len(),
            Self::Token | Self::Below | Self::Unknown => 1,
        }
    }
}

/// A word with its place in the command that is judged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    /// The parts, in order; neighbouring texts are joined.
    pub parts: Vec<Part>,
    /// Where the word stands in the outermost command, in bytes.
    pub span: Range<usize>,
}

impl Word {
    /// A word of known text.
    pub fn text(text: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            parts: vec![Part::Text(text.into())],
            span,
        }
    }

    /// A word of which nothing is known.
    pub fn unknown(span: Range<usize>) -> Self {
        Self {
            parts: vec![Part::Unknown],
            span,
        }
    }

    /// The text, if all of it is known and no pattern is in it.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The known text before the first part that is not known.
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether any text could stand here, several words included.
    pub fn is_unknown(&self) -> bool {
        self.parts.contains(&Part::Unknown)
    }

    /// The word as a reader would write it, with `…` for what is not known.
    pub fn shown(&self) -> Cow<'_, str> {
        if let Some(text) = self.literal() {
            return Cow::Borrowed(text);
        }
        let mut shown = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) | Part::Glob(text) => shown.push_str(text),
                Part::Token | Part::Below | Part::Unknown => shown.push('…'),
            }
        }
        Cow::Owned(shown)
    }

    /// How much is known and remembered of it, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.iter().map(Part::bytes).sum()
    }

    /// Appends a part; texts are joined, and what is not known at all is so once.
    pub fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (Some(Part::Text(last)), Part::Text(text)) => last.push_str(&text),
            (Some(Part::Unknown), Part::Unknown) => {}
            (_, part) => self.parts.push(part),
        }
    }

    /// Appends text; texts are joined.
    pub fn push_str(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// The word without the first `bytes` bytes of its known prefix.
    #[must_use]
    pub fn without_prefix(&self, bytes: usize) -> Self {
        let mut rest = self.clone();
        if let Some(Part::Text(text)) = rest.parts.first_mut() {
            text.drain(..bytes.min(text.len()));
            if text.is_empty() && rest.parts.len() > 1 {
                rest.parts.remove(0);
            }
        }
        rest
    }
}
