//! What JSON would change silently: a look at a value before it becomes a durable snapshot.
//!
//! `serde_json` writes a number that is not finite as `null`, and canonical JSON knows only doubles,
//! so that two large integers could share one text. Both are refused here, with their place.

use std::fmt;

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// The largest integer that a double holds exactly along with all below it.
const INTEGER_MAX: u64 = (1 << 53) - 1;

/// Why a value has no durable form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct SnapshotRefused {
    /// Where in the value, for example `limits.seconds`; `.` is the value itself.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

impl Error for SnapshotRefused {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            path: ".".to_owned(),
            reason: message.to_string(),
        }
    }
}

/// Looks through `value` for what cannot be snapshotted.
pub(crate) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), SnapshotRefused> {
    value.serialize(Look)
}

/// Serialises into nothing.
#[derive(Clone, Copy)]
struct Look;

/// A compound value, with the place of the element that is looked at.
struct Inside {
    index: usize,
    key: String,
}

fn inside() -> Inside {
    Inside {
        index: 0,
        key: String::new(),
    }
}

fn refuse(reason: &str) -> Result<(), SnapshotRefused> {
    Err(SnapshotRefused::custom(reason))
}

fn at<T: Serialize + ?Sized>(place: &str, value: &T) -> Result<(), SnapshotRefused> {
    value.serialize(Look).map_err(|inner| SnapshotRefused {
        path: match (inner.path.as_str(), inner.path.starts_with('[')) {
            (".", _) => place.to_owned(),
            (path, true) => format!("{place}{path}"),
            (path, false) => format!("{place}.{path}"),
        },
        reason: inner.reason,
    })
}

macro_rules! pass {
    ($($method:ident($($type:ty),*)),+ $(,)?) => {
        $(fn $method(self, $(_: $type),*) -> Result<(), SnapshotRefused> {
            Ok(())
        })+
    };
}

impl Serializer for Look {
    type Ok = ();
    type Error = SnapshotRefused;
    type SerializeSeq = Inside;
    type SerializeTuple = Inside;
    type SerializeTupleStruct = Inside;
    type SerializeTupleVariant = Inside;
    type SerializeMap = Inside;
    type SerializeStruct = Inside;
    type SerializeStructVariant = Inside;

    pass! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_char(char),
        serialize_str(&str), serialize_none(), serialize_unit(),
        serialize_unit_struct(&'static str),
        serialize_unit_variant(&'static str, u32, &'static str),
    }

    fn serialize_i64(self, number: i64) -> Result<(), SnapshotRefused> {
        self.serialize_u64(number.unsigned_abs())
    }

    fn serialize_u64(self, number: u64) -> Result<(), SnapshotRefused> {
        if number > INTEGER_MAX {
            return refuse("an integer beyond 2^53 has no exact canonical form; write it as text");
        }
        Ok(())
    }

    fn serialize_f32(self, number: f32) -> Result<(), SnapshotRefused> {
        self.serialize_f64(f64::from(number))
    }

    fn serialize_f64(self, number: f64) -> Result<(), SnapshotRefused> {
        if number.is_finite() {
            return Ok(());
        }
        refuse("a number that is not finite has no form in JSON")
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), SnapshotRefused> {
        refuse("raw bytes have no declared form; encode them")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), SnapshotRefused> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), SnapshotRefused> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), SnapshotRefused> {
        at(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside, SnapshotRefused> {
        Ok(inside())
    }

    fn serialize_tuple(self, _: usize) -> Result<Inside, SnapshotRefused> {
        Ok(inside())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Inside, SnapshotRefused> {
        Ok(inside())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Inside, SnapshotRefused> {
        Ok(inside())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inside, SnapshotRefused> {
        Ok(inside())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Inside, SnapshotRefused> {
        Ok(inside())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Inside, SnapshotRefused> {
        Ok(inside())
    }
}

impl Inside {
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SnapshotRefused> {
        let place = format!("[{}]", self.index);
        self.index += 1;
        at(&place, value)
    }
}

macro_rules! look_at_elements {
    ($($compound:ident::$method:ident),+) => {
        $(impl $compound for Inside {
            type Ok = ();
            type Error = SnapshotRefused;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SnapshotRefused> {
                self.next(value)
            }

            fn end(self) -> Result<(), SnapshotRefused> {
                Ok(())
            }
        })+
    };
}

look_at_elements!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! look_at_fields {
    ($($compound:ident),+) => {
        $(impl $compound for Inside {
            type Ok = ();
            type Error = SnapshotRefused;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                field: &'static str,
                value: &T,
            ) -> Result<(), SnapshotRefused> {
                at(field, value)
            }

            fn end(self) -> Result<(), SnapshotRefused> {
                Ok(())
            }
        })+
    };
}

look_at_fields!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Inside {
    type Ok = ();
    type Error = SnapshotRefused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SnapshotRefused> {
        self.key = match serde_json::to_value(key) {
            Ok(serde_json::Value::String(key)) => key,
            Ok(other) => other.to_string(),
            Err(error) => return refuse(&error.to_string()),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SnapshotRefused> {
        at(&self.key, value)
    }

    fn end(self) -> Result<(), SnapshotRefused> {
        Ok(())
    }
}
