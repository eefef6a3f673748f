//! One JSON value and the text it was written in.

use std::borrow::Cow;

use crate::wire::unreadable::Fault;

/// One value and the text it was written in.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// The text, without white space around it.
    pub(crate) raw: &'a str,
    /// Where the text starts, in bytes from the start of what was parsed.
    pub(crate) offset: usize,
    pub(crate) kind: Kind<'a>,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Null,
    Bool,
    Number,
    String,
    /// The items, if they are kept.
    Array(Vec<Node<'a>>),
    /// The fields, if they are kept.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

/// A fault and the byte it was found at.
pub(crate) type Found = (Fault, usize);

impl<'a> Node<'a> {
    /// What kind of value this is, for a message.
    pub(crate) fn found(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool => "true or false",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self.kind, Kind::Bool) && self.raw == "true"
    }

    /// The field of an object; `None` if it is absent or not kept, or this is no object.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'a>> {
        match &self.kind {
            Kind::Object(fields) => fields.iter().find(|(k, _)| k == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The decoded text of a string.
    pub(crate) fn text(&self) -> Option<Cow<'a, str>> {
        match self.kind {
            Kind::String => Some(decode(&self.raw[1..self.raw.len() - 1])),
            _ => None,
        }
    }
}

/// Decodes the inside of a string whose escapes have been checked.
pub(crate) fn decode(inside: &str) -> Cow<'_, str> {
    let Some(first) = inside.find('\\') else {
        return Cow::Borrowed(inside);
    };
    let mut text = String::with_capacity(inside.len());
    text.push_str(&inside[..first]);
    let mut rest = &inside[first..];
    while let Some(escape) = rest.strip_prefix('\\') {
        let (letter, after) = escape.split_at(1);
        rest = after;
        match letter {
            "b" => text.push('\u{8}'),
            "f" => text.push('\u{c}'),
            "n" => text.push('\n'),
            "r" => text.push('\r'),
            "t" => text.push('\t'),
            "u" => {
                let (unit, after) = code_unit(after);
                rest = after;
                let low = after.strip_prefix("\\u").map(code_unit);
                match (unit, low) {
                    (0xd800..0xdc00, Some((low @ 0xdc00..0xe000, after))) => {
                        rest = after;
                        let point = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        text.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    _ => text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
            itself => text.push_str(itself),
        }
        let plain = rest.find('\\').unwrap_or(rest.len());
        text.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    Cow::Owned(text)
}

fn code_unit(text: &str) -> (u32, &str) {
    let (digits, after) = text.split_at(4);
    (u32::from_str_radix(digits, 16).unwrap_or(0), after)
}
