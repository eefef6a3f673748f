//! What the kernel knows of a signal: the keys it can be found under.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// One key of a signal: its kind, or a supertype of its kind.
#[derive(Clone, Eq)]
pub struct Key {
    text: Cow<'static, str>,
    /// Of the text, made with the key: an emission looks its keys up and reads no text for it.
    hash: u64,
}

impl Key {
    /// A key known at compile time; cloning it allocates nothing.
    pub const fn from_static(text: &'static str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            hash: hash(text),
        }
    }

    /// A key made at run time.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            hash: hash(&text),
            text: Cow::Owned(text),
        }
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// FNV-1a: short, and possible at compile time. Tables hash it once more.
const fn hash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

impl PartialEq for Key {
    /// By content. Keys of one constant are found equal by their place.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.as_str(), other.as_str());
        std::ptr::eq(one, other) || one == other
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A value that handlers can be registered for by key.
///
/// An emission asks only the registrations under the signal's keys, so that its cost grows with
/// what can match and not with all registrations.
pub trait Keyed {
    /// The keys of this signal: its own kind first, then supertypes, each once.
    ///
    /// Asked while the registrations are looked up: it must be quick and must not use a dispatcher.
    fn keys(&self) -> impl Iterator<Item = Key>;
}
