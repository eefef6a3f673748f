//! Values as the old mechanisms passed them: of any type, and asked for their type at run time.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, json};
use triplane_signals::SignalClass;
use uuid::Uuid;

use crate::legacy::error::Raised;

/// The name of a type, for filters on values.
///
/// Own types are named by whoever makes the [`Record`]; the plain values are called `string`,
/// `integer`, `number`, `boolean`, `list` and `object`, and signals by [`SignalClass::as_str`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TypeName(Cow<'static, str>);

impl TypeName {
    /// A name known at compile time.
    pub const fn from_static(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// A name made at run time.
    pub fn new(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<SignalClass> for TypeName {
    fn from(class: SignalClass) -> Self {
        Self::from_static(class.as_str())
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value of the old mechanisms. Cloning shares what is large.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// A truth value; it is an integer, too, as it was.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// A list.
    List(Arc<[Value]>),
    /// Named values without a type, in their order.
    Map(Arc<[(String, Value)]>),
    /// Named values of a type.
    Record(Arc<Record>),
    /// A signal.
    Signal(Arc<Signal>),
    /// An error that is passed on as a value.
    Error(Raised),
}

/// A value of a named type.
#[derive(Debug, Clone)]
pub struct Record {
    /// Its type.
    pub type_name: TypeName,
    /// What the type is a subtype of.
    pub supertypes: Vec<TypeName>,
    /// Its fields, in order.
    pub fields: Vec<(String, Value)>,
}

/// An old signal (plane: observation).
///
/// Move to [`triplane_signals::Signal`], which is closed and typed.
#[derive(Debug, Clone)]
pub struct Signal {
    /// Unique everywhere.
    pub id: Uuid,
    /// Its class.
    pub class: SignalClass,
    /// The role of who emits it.
    pub emitter_role: Option<String>,
    /// What it carries.
    pub data: Value,
    /// What its class adds, in order: `op_id`, `run_id`, `reason_code` and the like.
    pub fields: Vec<(String, Value)>,
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Whether the value is of this type, or of a subtype.
    pub fn is_a(&self, type_name: &TypeName) -> bool {
        let name = type_name.as_str();
        match self {
            Self::Null | Self::Error(_) => false,
            Self::Bool(_) => name == "boolean" || name == "integer",
            Self::Integer(_) => name == "integer",
            Self::Float(_) => name == "number",
            Self::Text(_) => name == "string",
            Self::List(_) => name == "list",
            Self::Map(_) => name == "object",
            Self::Record(record) => {
                record.type_name == *type_name || record.supertypes.contains(type_name)
            }
            Self::Signal(signal) => signal.is_a(type_name),
        }
    }

    /// The named values inside, if there are any.
    pub fn fields(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            Self::Record(record) => &record.fields,
            Self::Signal(signal) => &signal.fields,
            Self::Null
            | Self::Bool(_)
            | Self::Integer(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::List(_)
            | Self::Error(_) => &[],
        }
    }

    /// The value of one field.
    pub fn field(&self, name: &str) -> Option<&Self> {
        let mut fields = self.fields().iter();
        fields.find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The value at the end of a path of fields, parted by dots.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.')
            .try_fold(self, |value, name| value.field(name))
    }

    /// Whether the value counts as true: everything but nothing, zero and what is empty.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Integer(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Map(entries) => !entries.is_empty(),
            Self::Record(_) | Self::Signal(_) | Self::Error(_) => true,
        }
    }

    /// Whether both are the same value; numbers of different types are compared as numbers.
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::List(one), Self::List(two)) => {
                one.len() == two.len() && one.iter().zip(two.iter()).all(|(a, b)| a.equals(b))
            }
            (Self::Map(one), Self::Map(two)) => same_fields(one, two),
            (Self::Record(one), Self::Record(two)) => {
                one.type_name == two.type_name && same_fields(&one.fields, &two.fields)
            }
            (Self::Signal(one), Self::Signal(two)) => one.id == two.id,
            _ => self.order(other) == Some(Ordering::Equal),
        }
    }

    /// The order of two numbers or two texts; nothing else has one.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        if let (Self::Text(one), Self::Text(two)) = (self, other) {
            return Some(one.cmp(two));
        }
        if let (Some(one), Some(two)) = (self.whole(), other.whole()) {
            return Some(one.cmp(&two));
        }
        self.number()?.partial_cmp(&other.number()?)
    }

    fn whole(&self) -> Option<i64> {
        match self {
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "only a whole number beside a fraction comes here"
    )]
    fn number(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            _ => self.whole().map(|value| value as f64),
        }
    }

    /// The value as JSON: a record as its fields, a signal as its data and fields, an error as its
    /// text.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(value) => json!(value),
            Self::Integer(value) => json!(value),
            Self::Float(value) => Number::from_f64(*value).into(),
            Self::Text(text) => json!(&**text),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(entries) => object(entries),
            Self::Record(record) => object(&record.fields),
            Self::Signal(signal) => signal.to_json(),
            Self::Error(error) => json!(error.to_string()),
        }
    }
}

impl Signal {
    /// Whether the signal is of this class, named as a type.
    pub fn is_a(&self, type_name: &TypeName) -> bool {
        type_name.as_str() == self.class.as_str()
            || type_name.as_str() == SignalClass::Signal.as_str()
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        let mut fields = Map::new();
        for (name, value) in &self.fields {
            fields.insert(name.clone(), value.to_json());
        }
        if !matches!(self.data, Value::Null) {
            fields.insert("data".to_owned(), self.data.to_json());
        }
        serde_json::Value::Object(fields)
    }
}

fn same_fields(one: &[(String, Value)], two: &[(String, Value)]) -> bool {
    let found = |name: &str| two.iter().find(|(key, _)| key == name);
    one.len() == two.len()
        && one
            .iter()
            .all(|(name, value)| found(name).is_some_and(|(_, other)| value.equals(other)))
}

fn object(fields: &[(String, Value)]) -> serde_json::Value {
    let fields = fields
        .iter()
        .map(|(name, value)| (name.clone(), value.to_json()));
    serde_json::Value::Object(fields.collect::<Map<_, _>>())
}

macro_rules! from {
    ($($type:ty => |$value:ident| $made:expr),+ $(,)?) => {
        $(impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $made
            }
        })+
    };
}

from! {
    bool => |value| Self::Bool(value),
    i64 => |value| Self::Integer(value),
    f64 => |value| Self::Float(value),
    &str => |value| Self::text(value),
    String => |value| Self::text(value),
    Record => |value| Self::Record(Arc::new(value)),
    Signal => |value| Self::Signal(Arc::new(value)),
    Vec<Value> => |value| Self::List(value.into()),
    Vec<(String, Value)> => |value| Self::Map(value.into()),
}

/// From JSON or any other format that describes itself. Objects keep the order of their keys.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "beyond an i64 a number is a float"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::Float(value as f64), Value::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list: Vec<Value> = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map: Vec<(String, Value)> = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(json: &str) -> Value {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn numbers_compare_as_numbers_and_texts_as_texts() {
        let order = |one: &str, two: &str| value(one).order(&value(two));
        assert_eq!(order("1", "1.5"), Some(Ordering::Less));
        assert_eq!(order("true", "1"), Some(Ordering::Equal));
        assert_eq!(order("\"b\"", "\"a\""), Some(Ordering::Greater));
        assert_eq!(order("\"1\"", "1"), None);
        assert_eq!(order("null", "0"), None);
    }

    #[test]
    fn a_path_leads_through_objects_in_their_order() {
        let nested = value(r#"{"z": {"a": 1}, "b": [2]}"#);
        assert!(nested.at("z.a").unwrap().equals(&Value::Integer(1)));
        assert!(nested.at("z.b").is_none());
        assert_eq!(nested.fields()[0].0, "z");
        assert_eq!(nested.to_json().to_string(), r#"{"b":[2],"z":{"a":1}}"#);
    }

    #[test]
    fn what_is_empty_is_not_true() {
        for json in ["null", "0", "0.0", "\"\"", "[]", "{}", "false"] {
            assert!(!value(json).is_truthy(), "{json}");
        }
        for json in ["1", "\"no\"", "[0]", "{\"a\": null}", "true"] {
            assert!(value(json).is_truthy(), "{json}");
        }
    }
}
