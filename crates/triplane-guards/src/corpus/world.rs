//! The files of one row, in a folder of their own.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::corpus::row::Step;
use crate::place::{Place, absolute};

/// The folder that a path row is tried in: a workspace, a home, a temporary folder, and a folder
/// outside all of them.
#[derive(Debug)]
pub struct World {
    base: PathBuf,
    /// `$W`: the workspace.
    pub workspace: PathBuf,
    /// `$OUT`: a folder outside every allowed one.
    pub outside: PathBuf,
    /// `$TMP`: the temporary folder.
    pub temporary: PathBuf,
    /// The home folder; it is outside too.
    pub home: PathBuf,
    imagined: Place,
}

/// Why a row's files cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldRefused {
    /// A step leads out of the row's folder.
    #[error("the step at `{0}` would change something outside the row's own folder")]
    Escapes(PathBuf),
    /// The file system refused.
    #[error("`{path}` cannot be built: {source}")]
    Io {
        /// What was to be built.
        path: PathBuf,
        /// What the file system said.
        #[source]
        source: io::Error,
    },
}

/// What stands outside the allowed folders, as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outside(BTreeMap<PathBuf, Thing>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Thing {
    Folder,
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

/// A side of the border around the allowed folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Within,
    Without,
}

/// Whether to look into a folder.
enum Below {
    Enter,
    Skip,
}

/// Why a step was not done.
enum Broken {
    Escapes,
    Io(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn io_at(path: &Path, source: io::Error) -> WorldRefused {
    WorldRefused::Io {
        path: path.to_owned(),
        source,
    }
}

/// Which file it is, whatever its name.
pub(crate) type Identity = (u64, u64);

pub(crate) fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

impl World {
    /// Makes the four folders below `base`, which exists, is empty and is the caller's to remove.
    ///
    /// Paths of a row that begin with the root or the home of `imagined` are meant to be in the
    /// workspace or the home of this world.
    ///
    /// # Errors
    ///
    /// Returns [`WorldRefused::Io`] when they cannot be made.
    pub fn new(base: &Path, imagined: Place) -> Result<Self, WorldRefused> {
        let base = base.canonicalize().map_err(|error| io_at(base, error))?;
        let folder = |name: &str| {
            let path = base.join(name);
            match fs::create_dir_all(&path) {
                Ok(()) => Ok(path),
                Err(error) => Err(io_at(&path, error)),
            }
        };
        Ok(Self {
            workspace: folder("place/ws")?,
            outside: folder("outside")?,
            temporary: folder("tmp")?,
            home: folder("home")?,
            base,
            imagined,
        })
    }

    /// The text of a row with its placeholders replaced, the longest first.
    pub fn fill(&self, text: &str) -> String {
        let show = |path: &Path| path.to_string_lossy().into_owned();
        let parent = self.workspace.parent().unwrap_or(&self.base);
        let filled = text
            // The only one that stands for a dollar sign, which the others would be found in.
            .replace("$HOME_LITERAL", "\u{1}HOME")
            .replace("$LONG5000", &"a".repeat(5000))
            .replace("$WPARENT", &show(parent))
            .replace("$WNAME", "ws")
            .replace("$OUT", &show(&self.outside))
            .replace("$TMP", &show(&self.temporary))
            .replace("$W", &show(&self.workspace))
            .replace('\u{1}', "$");
        for (imagined, real) in [
            (&self.imagined.root, &self.workspace),
            (&self.imagined.home, &self.home),
        ] {
            if let Some(rest) = filled.strip_prefix(imagined.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return show(real) + rest;
            }
        }
        filled
    }

    /// Does what the steps say, in order.
    ///
    /// # Errors
    ///
    /// Returns a [`WorldRefused`] that names the step's path.
    pub fn build(&self, steps: &[Step]) -> Result<(), WorldRefused> {
        for step in steps {
            let (Step::Dir(at)
            | Step::File(at)
            | Step::Fifo(at)
            | Step::Remove(at)
            | Step::Symlink { at, .. }
            | Step::Hardlink { at, .. }) = step;
            let done = match self.own(at) {
                Some(path) => self.one(step, &path),
                None => Err(Broken::Escapes),
            };
            done.map_err(|broken| {
                let path = PathBuf::from(self.fill(at));
                match broken {
                    Broken::Escapes => WorldRefused::Escapes(path),
                    Broken::Io(source) => WorldRefused::Io { path, source },
                }
            })?;
        }
        Ok(())
    }

    fn one(&self, step: &Step, path: &Path) -> Result<(), Broken> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        match step {
            Step::Dir(_) => fs::create_dir_all(path)?,
            // It would be written through the link, wherever that leads.
            Step::File(_) if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) => {
                return Err(Broken::Escapes);
            }
            Step::File(_) => fs::write(path, "kept")?,
            Step::Fifo(_) => {
                let mode = Mode::from_raw_mode(0o600);
                mknodat(CWD, path, FileType::Fifo, mode, 0).map_err(io::Error::from)?;
            }
            Step::Symlink { to, .. } => symlink(self.fill(to), path)?,
            Step::Hardlink { to, .. } => {
                fs::hard_link(self.own(to).ok_or(Broken::Escapes)?, path)?;
            }
            Step::Remove(_) if fs::symlink_metadata(path)?.is_dir() => fs::remove_dir_all(path)?,
            Step::Remove(_) => fs::remove_file(path)?,
        }
        Ok(())
    }

    /// The path of a step, unless it leads out of this world, be it by a link on the way.
    fn own(&self, text: &str) -> Option<PathBuf> {
        let workspace = self.workspace.to_string_lossy();
        let path = PathBuf::from(absolute(&self.fill(text), &workspace));
        let parent = path.parent()?;
        let existing = parent.ancestors().find_map(|it| it.canonicalize().ok())?;
        (path.starts_with(&self.base) && existing.starts_with(&self.base)).then_some(path)
    }

    /// Whether a path is below one of the two allowed folders.
    pub(crate) fn allows(&self, path: &Path) -> bool {
        path.starts_with(&self.workspace) || path.starts_with(&self.temporary)
    }

    /// What stands outside the allowed folders now.
    pub(crate) fn outside(&self) -> Result<Outside, WorldRefused> {
        let mut things = BTreeMap::new();
        self.walk(&mut |path, found| {
            if self.allows(path) {
                return Ok(Below::Skip);
            }
            let thing = if found.is_dir() {
                Thing::Folder
            } else if found.is_symlink() {
                Thing::Link(fs::read_link(path)?)
            } else if found.is_file() {
                Thing::File(fs::read(path)?)
            } else {
                Thing::Other
            };
            things.insert(path.to_owned(), thing);
            Ok(Below::Enter)
        })
        .map_err(|error| io_at(&self.base, error))?;
        Ok(Outside(things))
    }

    /// The files that have a name on this side of the allowed folders' border.
    pub(crate) fn files(&self, side: Side) -> Result<HashSet<Identity>, WorldRefused> {
        let mut files = HashSet::new();
        self.walk(&mut |path, found| {
            if found.is_file() && self.allows(path) == (side == Side::Within) {
                files.insert(identity(found));
            }
            Ok(Below::Enter)
        })
        .map_err(|error| io_at(&self.base, error))?;
        Ok(files)
    }

    fn walk(&self, look: &mut dyn FnMut(&Path, &Metadata) -> io::Result<Below>) -> io::Result<()> {
        let mut folders = vec![self.base.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                let found = fs::symlink_metadata(&path)?;
                if matches!(look(&path, &found)?, Below::Enter) && found.is_dir() {
                    folders.push(path);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> (tempfile::TempDir, World) {
        let base = tempfile::tempdir().unwrap();
        let imagined = Place::new("/srv/app", Some(Path::new("/home/dev")));
        let world = World::new(base.path(), imagined).unwrap();
        (base, world)
    }

    #[test]
    fn placeholders_stand_for_the_folders_of_the_world() {
        let (_base, world) = world();
        let check =
            |text: &str, wanted: PathBuf| assert_eq!(PathBuf::from(world.fill(text)), wanted);
        check("$W/a", world.workspace.join("a"));
        check("$W2/a", world.workspace.with_file_name("ws2").join("a"));
        check("$WPARENT/$WNAME", world.workspace.clone());
        check("$HOME_LITERAL/x", PathBuf::from("$HOME/x"));
        check("/srv/app/x", world.workspace.join("x"));
        check("/srv/apple", PathBuf::from("/srv/apple"));
        check("/home/dev", world.home.clone());
        assert_eq!(world.fill("$LONG5000").len(), 5000);
    }

    #[test]
    fn no_step_leads_out_of_the_world() {
        let (_base, world) = world();
        let stranger = tempfile::tempdir().unwrap();
        let there = stranger.path().to_str().unwrap().to_owned();
        fs::write(stranger.path().join("s"), "theirs").unwrap();
        let link = |at: &str, to: &str| Step::Symlink {
            at: at.to_owned(),
            to: to.to_owned(),
        };
        let refused = |steps: &[Step]| {
            assert!(
                matches!(world.build(steps), Err(WorldRefused::Escapes(_))),
                "{steps:?}"
            );
        };
        refused(&[Step::File(format!("{there}/x"))]);
        refused(&[Step::File("$W/../../../x".to_owned())]);
        refused(&[link("$W/l", &there), Step::File("$W/l/x".to_owned())]);
        refused(&[Step::Remove("$W/l/s".to_owned())]);
        let file = format!("{there}/s");
        refused(&[link("$W/f", &file), Step::File("$W/f".to_owned())]);
        refused(&[Step::Hardlink {
            at: "$W/h".to_owned(),
            to: file.clone(),
        }]);
        assert_eq!(fs::read_to_string(file).unwrap(), "theirs");
        assert_eq!(fs::read_dir(stranger.path()).unwrap().count(), 1);
        world.build(&[Step::Remove("$W/f".to_owned())]).unwrap();
    }
}
