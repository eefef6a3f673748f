//! Validated names of stages and registrations.
//!
//! A name appears in reports, plan digests and audit rows, so it is checked once, where it enters.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The longest name that is accepted, in bytes.
pub const NAME_BYTES_MAX: usize = 128;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameRefused {
    /// The text is empty.
    #[error("a name must not be empty")]
    Empty,
    /// The text is longer than [`NAME_BYTES_MAX`].
    #[error("name of {bytes} bytes is longer than {NAME_BYTES_MAX}")]
    TooLong {
        /// The length of the refused text, in bytes.
        bytes: usize,
    },
    /// The text holds a control character or white space.
    #[error("name {name:?} holds white space or a control character")]
    Unprintable {
        /// The refused text.
        name: String,
    },
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Arc<str>);

        impl $type {
            /// Checks `text` and makes it a name.
            ///
            /// # Errors
            ///
            /// Returns [`NameRefused`] when the text is empty, longer than [`NAME_BYTES_MAX`] or
            /// holds white space or a control character.
            pub fn new(text: impl AsRef<str>) -> Result<Self, NameRefused> {
                check(text.as_ref()).map(Self)
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// The name of one registration, unique within a compiled plan.
    RegistrationName
}

name! {
    /// The name of a stage that the owner of a plan declares.
    StageName
}

fn check(text: &str) -> Result<Arc<str>, NameRefused> {
    if text.is_empty() {
        return Err(NameRefused::Empty);
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(NameRefused::TooLong { bytes: text.len() });
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(NameRefused::Unprintable {
            name: text.to_owned(),
        });
    }
    Ok(Arc::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: Option<NameRefused>) {
        match RegistrationName::new(text) {
            Ok(name) => assert_eq!((name.as_str(), None), (text, wanted)),
            Err(refused) => assert_eq!(Some(refused), wanted),
        }
    }

    #[test]
    fn a_name_is_checked_where_it_enters() {
        check("guard.commands", None);
        check("", Some(NameRefused::Empty));
        check(&"x".repeat(129), Some(NameRefused::TooLong { bytes: 129 }));
        check("a b", Some(NameRefused::Unprintable { name: "a b".into() }));
        check("a\0", Some(NameRefused::Unprintable { name: "a\0".into() }));
    }
}
