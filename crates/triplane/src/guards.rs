//! The guards that come with triplane.

use std::path::Path;

pub use triplane_guards::{CommandGuard, PathGuard, RuleFile, RuleFileRefused, RuleSet, Set};

/// The command guard: parses shell commands with a shell grammar and judges what they would do.
pub fn commands() -> CommandGuard {
    triplane_guards::commands()
}

/// The path guard for one workspace, whatever the call says of its own.
pub fn paths(root: impl AsRef<Path>) -> PathGuard {
    triplane_guards::paths_in(root)
}

/// The path guard that takes the workspace from each call.
pub fn workspace_paths() -> PathGuard {
    triplane_guards::paths()
}
