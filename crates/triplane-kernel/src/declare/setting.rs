//! Absence with its reasons kept apart (ADR-0119 D1).

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};

/// A field of a declaration: a value, or one of three ways of having none.
///
/// For wire forms and policies only; code that runs uses `Option`. In JSON a missing key, `null` and
/// a value stay apart. Declare a field with it like this:
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use triplane_kernel::declare::Setting;
///
/// #[derive(Serialize, Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct Limits {
///     #[serde(default, skip_serializing_if = "Setting::is_omitted")]
///     seconds: Setting<u32>,
/// }
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let read = |text| serde_json::from_str::<Limits>(text).map(|limits| limits.seconds);
/// assert_eq!(read("{}")?, Setting::Undefined);
/// assert_eq!(read(r#"{"seconds":null}"#)?, Setting::Null);
/// assert_eq!(read(r#"{"seconds":3}"#)?, Setting::Value(3));
/// assert_eq!(serde_json::to_string(&Limits { seconds: Setting::Null })?, r#"{"seconds":null}"#);
/// assert_eq!(serde_json::to_string(&Limits { seconds: Setting::Unset })?, "{}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Setting<T> {
    /// The field is not part of this input.
    #[default]
    Undefined,
    /// The field exists and is to be resolved later. It has no wire form: it is omitted, and a
    /// durable snapshot refuses it.
    Unset,
    /// The caller says: none.
    Null,
    /// The caller says: this.
    Value(T),
}

impl<T> Setting<T> {
    /// Whether the field is left out of a wire form.
    pub const fn is_omitted(&self) -> bool {
        matches!(self, Self::Undefined | Self::Unset)
    }

    /// The value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Undefined | Self::Unset | Self::Null => None,
        }
    }

    /// The same absence, or what `map` makes of the value.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Setting<U> {
        match self {
            Self::Undefined => Setting::Undefined,
            Self::Unset => Setting::Unset,
            Self::Null => Setting::Null,
            Self::Value(value) => Setting::Value(map(value)),
        }
    }
}

/// A value, or a field that is not part of the declaration.
impl<T> From<Option<T>> for Setting<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Undefined, Self::Value)
    }
}

impl<T: Serialize> Serialize for Setting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => serializer.serialize_some(value),
            Self::Null => serializer.serialize_none(),
            Self::Undefined | Self::Unset => Err(S::Error::custom(
                "an absent setting has no form of its own; its owner must leave it out",
            )),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Present<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Present<T> {
            type Value = Setting<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or null")
            }

            fn visit_none<E>(self) -> Result<Setting<T>, E> {
                Ok(Setting::Null)
            }

            fn visit_unit<E>(self) -> Result<Setting<T>, E> {
                Ok(Setting::Null)
            }

            fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Setting<T>, D::Error> {
                T::deserialize(inner).map(Setting::Value)
            }
        }

        deserializer.deserialize_option(Present(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_setting_is_never_written_as_null() {
        for absent in [Setting::<u8>::Undefined, Setting::Unset] {
            assert!(absent.is_omitted());
            assert!(serde_json::to_string(&absent).is_err());
        }
    }
}
