//! The durable name of something that can be called (ADR-0119 D7).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::declare::canonical::Digest;

/// Names a callable without holding it: what a stored plan says instead of a pointer.
///
/// A name is not proof of the implementation it names. Whoever resolves a reference compares the
/// digest that it carries with the digest of what is found, see [`CallableRef::verify`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, try_from = "Declared")]
pub struct CallableRef {
    namespace: String,
    name: String,
    version: String,
    implementation_digest: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    namespace: String,
    name: String,
    version: String,
    implementation_digest: Digest,
}

/// Why a reference is none, or does not fit what it was resolved to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallableRefError {
    /// A part is empty.
    #[error("the {part} of a callable reference must not be empty")]
    EmptyPart {
        /// `namespace`, `name` or `version`.
        part: &'static str,
    },
    /// What was found is not what the reference was made from.
    #[error("{reference} was declared with {declared} and resolves to {found}")]
    DigestMismatch {
        /// The reference.
        reference: String,
        /// The digest that it carries.
        declared: Digest,
        /// The digest of what was found.
        found: Digest,
    },
}

impl CallableRef {
    /// A reference to one version of one callable.
    ///
    /// # Errors
    ///
    /// Returns [`CallableRefError::EmptyPart`] when a part is empty.
    pub fn new(
        namespace: impl Into<String>,
        name: impl Into<String>,
        version: impl Into<String>,
        implementation_digest: Digest,
    ) -> Result<Self, CallableRefError> {
        let (namespace, name, version) = (namespace.into(), name.into(), version.into());
        for (part, text) in [
            ("namespace", &namespace),
            ("name", &name),
            ("version", &version),
        ] {
            if text.is_empty() {
                return Err(CallableRefError::EmptyPart { part });
            }
        }
        Ok(Self {
            namespace,
            name,
            version,
            implementation_digest,
        })
    }

    /// The digest of the implementation that was meant.
    pub fn implementation_digest(&self) -> Digest {
        self.implementation_digest
    }

    /// Holds what was found against what was meant.
    ///
    /// # Errors
    ///
    /// Returns [`CallableRefError::DigestMismatch`] when the digests differ.
    pub fn verify(&self, found: Digest) -> Result<(), CallableRefError> {
        if found == self.implementation_digest {
            return Ok(());
        }
        Err(CallableRefError::DigestMismatch {
            reference: self.to_string(),
            declared: self.implementation_digest,
            found,
        })
    }
}

impl fmt::Display for CallableRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}@{}", self.namespace, self.name, self.version)
    }
}

impl TryFrom<Declared> for CallableRef {
    type Error = CallableRefError;

    fn try_from(declared: Declared) -> Result<Self, CallableRefError> {
        Self::new(
            declared.namespace,
            declared.name,
            declared.version,
            declared.implementation_digest,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_checked_where_it_is_made_and_where_it_is_read() {
        let meant = Digest::of(b"one");
        let reference = CallableRef::new("guards", "commands", "1", meant).unwrap();
        assert_eq!(reference.to_string(), "guards::commands@1");
        assert_eq!(reference.verify(meant), Ok(()));
        assert!(reference.verify(Digest::of(b"two")).is_err());
        let text = serde_json::to_string(&reference).unwrap();
        assert_eq!(
            serde_json::from_str::<CallableRef>(&text).unwrap(),
            reference
        );
        let empty = text.replace("guards", "");
        assert!(serde_json::from_str::<CallableRef>(&empty).is_err());
        let unknown = text.replace("{\"namespace\"", "{\"more\":1,\"namespace\"");
        assert!(serde_json::from_str::<CallableRef>(&unknown).is_err());
    }
}
