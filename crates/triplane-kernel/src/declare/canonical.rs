//! Durable snapshots: canonical bytes, and the digest over them (ADR-0119 D7).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::declare::strict::{self, SnapshotRefused};

/// A declared value as it is stored, signed and compared across processes.
///
/// The domain and the version of its contract are part of the bytes, so that equal payloads of
/// different authorities have different identities.
///
/// ```
/// use triplane_kernel::declare::SnapshotEnvelope;
///
/// # fn main() -> Result<(), triplane_kernel::declare::SnapshotRefused> {
/// let one = SnapshotEnvelope::new("example.limits", "1", &serde_json::json!({"b": 1.0, "a": null}))?;
/// let other = SnapshotEnvelope::new("example.limits", "1", &serde_json::json!({"a": null, "b": 1}))?;
/// assert_eq!(one.digest(), other.digest());
/// assert_eq!(
///     String::from_utf8_lossy(&one.canonical_bytes()),
///     r#"{"contract_version":"1","domain":"example.limits","payload":{"a":null,"b":1}}"#
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SnapshotEnvelope {
    domain: String,
    contract_version: String,
    payload: Value,
}

impl SnapshotEnvelope {
    /// Takes a snapshot of `payload`.
    ///
    /// # Errors
    ///
    /// Returns the place of what has no durable form: a [`Setting`](crate::declare::Setting) that
    /// is unresolved, a number that is not finite, an integer beyond 2^53, raw bytes.
    pub fn new<T: Serialize + ?Sized>(
        domain: impl Into<String>,
        contract_version: impl Into<String>,
        payload: &T,
    ) -> Result<Self, SnapshotRefused> {
        strict::check(payload)?;
        let payload = serde_json::to_value(payload)
            .map_err(<SnapshotRefused as serde::ser::Error>::custom)?;
        Ok(Self {
            domain: domain.into(),
            contract_version: contract_version.into(),
            payload,
        })
    }

    /// The namespace of the authority that the payload belongs to.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The version of the payload's contract; it rises when the bytes of an equal value change.
    pub fn contract_version(&self) -> &str {
        &self.contract_version
    }

    /// The payload.
    pub fn payload(&self) -> &Value {
        &self.payload
    }

    /// The canonical JSON of the envelope (RFC 8785): keys sorted, no white space, one form for
    /// each number. Sequences keep their order.
    pub fn canonical_bytes(&self) -> Vec<u8> {
        match serde_json_canonicalizer::to_vec(self) {
            Ok(bytes) => bytes,
            Err(error) => unreachable!("a checked value has a canonical form: {error}"),
        }
    }

    /// The digest over [`canonical_bytes`](Self::canonical_bytes).
    pub fn digest(&self) -> Digest {
        Digest(Sha256::digest(self.canonical_bytes()).into())
    }
}

/// A `sha256-v1` digest. As text and in serde it is `sha256-v1:` and 64 lower-case hex digits, so
/// that a stored reference says by which algorithm it was made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The name of the algorithm.
    pub const ALGORITHM: &'static str = "sha256-v1";

    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest itself.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", Self::ALGORITHM)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a digest; one is `sha256-v1:` and 64 lower-case hex digits")]
pub struct NotADigest {
    /// The refused text.
    pub text: String,
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        parse(text).map(Self).ok_or_else(|| NotADigest {
            text: text.to_owned(),
        })
    }
}

fn parse(text: &str) -> Option<[u8; 32]> {
    let digits = text.strip_prefix(Digest::ALGORITHM)?.strip_prefix(':')?;
    if digits.len() != 64
        || !digits
            .bytes()
            .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::json;

    use super::*;
    use crate::declare::setting::Setting;

    #[derive(Serialize)]
    struct Limits<T> {
        inner: Vec<T>,
    }

    fn check<T: Serialize>(payload: &T, wanted: &str) {
        let got = match SnapshotEnvelope::new("d", "1", payload) {
            Ok(snapshot) => serde_json_canonicalizer::to_string(snapshot.payload()).unwrap(),
            Err(refused) => refused.to_string(),
        };
        assert_eq!(got, wanted);
    }

    #[test]
    fn what_json_would_change_silently_is_refused_with_its_place() {
        check(&Limits { inner: vec![1.5] }, r#"{"inner":[1.5]}"#);
        let not_finite = "a number that is not finite has no form in JSON";
        check(
            &Limits {
                inner: vec![1.0, f64::NAN],
            },
            &format!("inner[1]: {not_finite}"),
        );
        check(&f64::INFINITY, &format!(".: {not_finite}"));
        check(
            &HashMap::from([("big", u64::MAX)]),
            "big: an integer beyond 2^53 has no exact canonical form; write it as text",
        );
        check(
            &Limits {
                inner: vec![Setting::<u8>::Unset],
            },
            "inner[0]: an absent setting has no form of its own; its owner must leave it out",
        );
        check(
            &json!({"z": [3, 1, 2], "a": {"y": null, "x": true}}),
            r#"{"a":{"x":true,"y":null},"z":[3,1,2]}"#,
        );
    }

    #[test]
    fn a_digest_reads_back_what_it_writes_and_nothing_else() {
        let digest = Digest::of(b"");
        let text = "sha256-v1:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
        assert!(text.to_uppercase().parse::<Digest>().is_err());
        assert!(text.replace("sha256-v1:", "").parse::<Digest>().is_err());
        assert!(text.replace("e3", "+3").parse::<Digest>().is_err());
    }
}
