//! Why a text is not an event.

use std::fmt;

/// A text that could not be read as one event.
///
/// It displays as one sentence that names the fault and its place, and can be shown to an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault} ({place})")]
pub struct Unreadable {
    /// What is wrong.
    pub fault: Fault,
    /// Where.
    pub place: Place,
    /// The event that the text claims to be, when that much could be read.
    pub event: Option<String>,
}

impl Unreadable {
    /// A fault of a text of which not even the event's name is known.
    pub(crate) fn new(fault: Fault, place: Place) -> Self {
        let event = None;
        Self {
            fault,
            place,
            event,
        }
    }
}

/// Where a text is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At this byte of the text, from 0.
    Byte(usize),
    /// In this field of the object.
    Field(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Field(field) => write!(f, "field `{field}`"),
        }
    }
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// There is nothing but white space.
    #[error("the text is empty")]
    Empty,
    /// A byte is not part of UTF-8 text.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// The text ends inside a value.
    #[error("the text is cut off")]
    Cut,
    /// The text is not JSON; what was expected instead.
    #[error("the text is not JSON: expected {expected}")]
    Syntax {
        /// What the grammar asks for at this place.
        expected: &'static str,
    },
    /// The text is JSON, but not an object.
    #[error("expected one JSON object, found {found}")]
    NotAnObject {
        /// What it is instead.
        found: &'static str,
    },
    /// Something follows the object.
    #[error("more text follows the object")]
    Trailing,
    /// A key stands twice in one object: which value counts depends on the reader.
    #[error("the key {key:?} stands twice in one object")]
    RepeatedKey {
        /// The key, shortened if it is long.
        key: String,
    },
    /// Values are nested too deeply.
    #[error("values are nested more than {max} deep")]
    TooDeep {
        /// The deepest nesting that is read.
        max: usize,
    },
    /// A number is larger than a 64-bit floating point number can be.
    #[error("a number is out of range")]
    NumberOutOfRange,
    /// A field that the event cannot do without is absent, `null` or empty.
    #[error("the field is missing or empty")]
    Missing,
    /// A field holds another kind of value than it must.
    #[error("expected {wanted}, found {found}")]
    WrongType {
        /// What the field must hold.
        wanted: &'static str,
        /// What it holds.
        found: &'static str,
    },
}
