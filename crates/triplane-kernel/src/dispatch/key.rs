//! What the kernel knows of a signal: the keys it can be found under.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

/// One key of a signal: its kind, or a supertype of its kind.
#[derive(Clone, Eq, PartialOrd, Ord)]
pub struct Key(Cow<'static, str>);

impl Key {
    /// A key known at compile time; cloning it allocates nothing.
    pub const fn from_static(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// A key made at run time.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Cow::Owned(text.into()))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
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
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
