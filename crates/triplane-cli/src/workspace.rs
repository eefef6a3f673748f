//! The workspace that an event's paths are judged against.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use triplane::{Presence, Workspace};

/// How many folders are remembered; a session that visits more looks again.
const REMEMBERED_MAX: usize = 1024;

/// Finds workspaces: the given root, else the nearest ancestor of the event's folder with a
/// `.git`, else that folder.
pub(crate) struct Workspaces {
    root: Option<PathBuf>,
    home: Option<PathBuf>,
    found: HashMap<PathBuf, Workspace>,
}

impl Workspaces {
    pub(crate) fn new(root: Option<PathBuf>) -> Self {
        let root = root.map(|root| std::path::absolute(&root).unwrap_or(root));
        Self {
            root,
            home: std::env::home_dir(),
            found: HashMap::new(),
        }
    }

    /// The workspace of an event that happened in `cwd`.
    ///
    /// An event without a folder, and one whose folder is no absolute path, is judged against the
    /// root `/nonexistent`: whatever it touches lies outside.
    pub(crate) fn of(&mut self, cwd: Option<&Path>) -> Workspace {
        let cwd = cwd
            .filter(|cwd| cwd.is_absolute())
            .unwrap_or(Path::new("/nonexistent"));
        if let Some(workspace) = self.found.get(cwd) {
            return workspace.clone();
        }
        let workspace = self.find(cwd);
        if self.found.len() >= REMEMBERED_MAX {
            self.found.clear();
        }
        self.found.insert(cwd.to_owned(), workspace.clone());
        workspace
    }

    fn find(&self, cwd: &Path) -> Workspace {
        let root = self.root.as_deref().unwrap_or_else(|| {
            cwd.ancestors()
                .find(|folder| folder.join(".git").exists())
                .unwrap_or(cwd)
        });
        let presence = if root.is_dir() {
            Presence::Here
        } else {
            Presence::Elsewhere
        };
        // Another machine's home is not this one's.
        let home = self.home.clone().filter(|_| presence == Presence::Here);
        Workspace {
            root: root.to_owned(),
            home,
            presence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_with_a_git_is_the_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a/b/c");
        std::fs::create_dir_all(&deep).expect("folders");
        std::fs::create_dir(folder.path().join("a/.git")).expect("a folder");
        let mut workspaces = Workspaces::new(None);
        let found = workspaces.of(Some(&deep));
        assert_eq!(
            (found.root, found.presence),
            (folder.path().join("a"), Presence::Here)
        );
        let bare = folder.path().join("x");
        let found = workspaces.of(Some(&bare));
        assert_eq!(
            (found.root, found.presence, found.home),
            (bare, Presence::Elsewhere, None)
        );
    }

    #[test]
    fn a_given_root_wins_and_a_missing_folder_is_outside_everything() {
        let mut workspaces = Workspaces::new(Some(PathBuf::from("/w")));
        assert_eq!(
            workspaces.of(Some(Path::new("/w/sub"))).root,
            PathBuf::from("/w")
        );
        let mut workspaces = Workspaces::new(None);
        assert_eq!(workspaces.of(None).root, PathBuf::from("/nonexistent"));
        assert_eq!(
            workspaces.of(Some(Path::new("relative"))).root,
            PathBuf::from("/nonexistent")
        );
    }
}
