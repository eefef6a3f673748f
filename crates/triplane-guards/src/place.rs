//! The place that commands and paths are judged in, as text.

use std::path::Path;

use triplane_interception::ToolCall;

/// Stands for the home folder when nobody knows it: no command can spell this path.
const HOME_UNKNOWN: &str = "/\u{0}home";

/// The folders that a verdict depends on, absolute and normalised as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The workspace: what the agent may change.
    pub root: String,
    /// The home folder.
    pub home: String,
    /// The folder that the call starts in, inside the workspace or not.
    pub cwd: String,
}

impl Place {
    /// A place of these folders; the call starts in the workspace's root.
    pub fn new(root: impl AsRef<Path>, home: Option<&Path>) -> Self {
        let root = absolute(&root.as_ref().to_string_lossy(), "/");
        Self {
            cwd: root.clone(),
            home: home.map_or_else(
                || HOME_UNKNOWN.to_owned(),
                |home| absolute(&home.to_string_lossy(), "/"),
            ),
            root,
        }
    }

    /// The place of a call: its working folder counts wherever it is.
    pub fn of(call: &ToolCall) -> Self {
        let mut place = Self::new(&call.workspace.root, call.workspace.home.as_deref());
        if let Some(cwd) = &call.cwd {
            place.cwd = absolute(&cwd.to_string_lossy(), &place.root);
        }
        place
    }
}

/// `path` seen from `base`, without `.`, `..` and doubled slashes, as text.
///
/// A `..` at the root stays at the root, as the kernel has it.
pub(crate) fn absolute(path: &str, base: &str) -> String {
    let mut components: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { base };
    for component in base.split('/').chain(path.split('/')) {
        match component {
            "" | "." => {}
            ".." => {
                components.pop();
            }
            name => components.push(name),
        }
    }
    let mut joined = String::with_capacity(base.len() + path.len() + 1);
    for component in components {
        joined.push('/');
        joined.push_str(component);
    }
    if joined.is_empty() {
        joined.push('/');
    }
    joined
}

/// As [`absolute`], from a `base` that is absolute and normalised already, which is not read again:
/// a line of a thousand `cd` would read a longer one each time.
pub(crate) fn entered(path: &str, base: &str) -> String {
    if path.starts_with('/') {
        return absolute(path, "/");
    }
    let mut joined = String::with_capacity(base.len() + path.len() + 1);
    joined.push_str(base.trim_end_matches('/'));
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => joined.truncate(joined.rfind('/').unwrap_or(0)),
            name => {
                joined.push('/');
                joined.push_str(name);
            }
        }
    }
    if joined.is_empty() {
        joined.push('/');
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_absolute_as_text() {
        let check = |path, wanted: &str| {
            assert_eq!(absolute(path, "/srv/app"), wanted);
            assert_eq!(entered(path, "/srv/app"), wanted);
        };
        check("src", "/srv/app/src");
        check("./a//b/.", "/srv/app/a/b");
        check("..", "/srv");
        check("../../..", "/");
        check("/etc/../x", "/x");
        check(".", "/srv/app");
        assert_eq!(entered("a/../..", "/"), "/");
        assert_eq!(entered("a", "/"), "/a");
    }
}
