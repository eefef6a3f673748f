//! The fields of an event, with the types that they must have.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use crate::wire::node::{Kind, Node};
use crate::wire::unreadable::{Fault, Place, Unreadable};
use crate::wire::value::value_of;

/// The text of the bytes, and the byte at which it starts.
pub(crate) fn text_of(bytes: &[u8]) -> Result<(&str, usize), Unreadable> {
    const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
    let rest = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let base = bytes.len() - rest.len();
    match str::from_utf8(rest) {
        Ok(text) => Ok((text, base)),
        Err(error) => Err(Unreadable::new(
            Fault::NotUtf8,
            Place::Byte(base + error.valid_up_to()),
        )),
    }
}

/// The fields of the outermost object. A field that is `null` counts as absent.
pub(crate) struct Fields<'n, 'a> {
    by_name: &'n [(Cow<'a, str>, Node<'a>)],
    /// Where the object starts in the text that was parsed.
    start: usize,
    /// Where that text starts in the bytes that were read.
    base: usize,
}

impl<'n, 'a> Fields<'n, 'a> {
    pub(crate) fn new(by_name: &'n [(Cow<'a, str>, Node<'a>)], start: usize, base: usize) -> Self {
        Self {
            by_name,
            start,
            base,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'n Node<'a>> {
        let (_, node) = self.by_name.iter().find(|(name, _)| name == key)?;
        (!node.is_null()).then_some(node)
    }

    /// The text of a field that must hold a string; an empty one counts as absent.
    pub(crate) fn text(&self, key: &'static str) -> Result<Option<String>, Unreadable> {
        let Some(node) = self.get(key) else {
            return Ok(None);
        };
        let text = node
            .text()
            .ok_or_else(|| wrong_type(Place::Field(key), "a string", node))?;
        Ok((!text.is_empty()).then(|| text.into_owned()))
    }

    /// The arguments of a proposed call, in a form that guards can judge.
    pub(crate) fn arguments(&self) -> Result<Value, Unreadable> {
        let place = Place::Field("tool_input");
        let Some(node) = self.get("tool_input") else {
            return Err(Unreadable::new(Fault::Missing, place));
        };
        match node.kind {
            Kind::Object(_) | Kind::Array(_) | Kind::String => value_of(node)
                .map_err(|(fault, byte)| Unreadable::new(fault, Place::Byte(self.base + byte))),
            Kind::Null | Kind::Bool | Kind::Number => {
                let wanted = "an object, a string or an array";
                Err(wrong_type(place, wanted, node))
            }
        }
    }

    /// Where a value stands in the original text.
    pub(crate) fn span(&self, node: &Node<'a>) -> Range<usize> {
        let start = node.offset - self.start;
        start..start + node.raw.len()
    }
}

fn wrong_type(place: Place, wanted: &'static str, node: &Node<'_>) -> Unreadable {
    let found = node.found();
    Unreadable::new(Fault::WrongType { wanted, found }, place)
}
