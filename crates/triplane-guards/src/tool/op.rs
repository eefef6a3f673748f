//! What may happen to a path.

/// What an operation does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathOp {
    /// Reads or lists it.
    Read,
    /// Creates or changes it.
    Write,
    /// Removes it.
    Delete,
}

impl PathOp {
    /// The word for it: `read`, `write` or `delete`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }
}
