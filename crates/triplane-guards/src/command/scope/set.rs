//! Sets of places.

/// A set of places that a word may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(pub(crate) u32);

impl Scopes {
    /// Nowhere.
    pub const NONE: Self = Self(0);
    /// Strictly below the workspace, and not protected there.
    pub const INSIDE: Self = Self(1);
    /// Strictly below the temporary folder.
    pub const TEMP: Self = Self(1 << 1);
    /// The workspace itself, or everything in it.
    pub const WORKSPACE: Self = Self(1 << 2);
    /// A folder that the workspace is in.
    pub const ABOVE: Self = Self(1 << 3);
    /// The root of the file system, a top-level folder, or below a folder of the system.
    pub const SYSTEM: Self = Self(1 << 4);
    /// The home folder, or everything in it.
    pub const HOME: Self = Self(1 << 5);
    /// Anywhere else outside.
    pub const OUTSIDE: Self = Self(1 << 6);
    /// Git's folder, or a file that configures the guard.
    pub const SWITCH: Self = Self(1 << 7);
    /// A file that holds secrets, by its name.
    pub const SECRET: Self = Self(1 << 8);
    /// A device that holds data.
    pub const DEVICE: Self = Self(1 << 9);
    /// A device that holds nothing: `/dev/null`, a standard stream, a terminal.
    pub const STREAM: Self = Self(1 << 10);
    /// A path on another machine, or a URL.
    pub const REMOTE: Self = Self(1 << 11);
    /// Not known from the text.
    pub const UNKNOWN: Self = Self(1 << 12);
    /// The temporary folder itself, or everything in it.
    pub const TEMP_ROOT: Self = Self(1 << 13);

    /// Whether the two sets share a place.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
