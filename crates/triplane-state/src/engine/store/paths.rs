//! Where the files of a store stand.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use crate::error::StateError;

/// `path` as seen from the root, whatever the process's folder will be later.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, StateError> {
    path::absolute(path).map_err(|error| file_error("find", path, error))
}

/// Which file stands at a path: the device and the number that it has there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

impl FileIdentity {
    /// The file that stands at `path` now.
    pub(crate) fn of(path: &Path) -> Result<Self, StateError> {
        match path.metadata() {
            Ok(found) => Ok(Self(found.dev(), found.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StateError::Moved {
                path: path.to_owned(),
            }),
            Err(error) => Err(file_error("open", path, error)),
        }
    }

    /// Fails unless `path` still names this file.
    pub(crate) fn check(self, path: &Path) -> Result<(), StateError> {
        if Self::of(path)? == self {
            return Ok(());
        }
        Err(StateError::Moved {
            path: path.to_owned(),
        })
    }
}

/// The folder of `path`, also when it is only a name.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The file beside `path` whose name has `suffix` behind.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

pub(crate) fn file_error(action: &'static str, path: &Path, error: io::Error) -> StateError {
    StateError::File {
        action,
        path: path.to_owned(),
        source: Arc::new(error),
    }
}
