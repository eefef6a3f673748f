//! Where the files of a store stand.

use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use crate::error::StateError;

/// `path` as seen from the root, whatever the process's folder will be later.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, StateError> {
    path::absolute(path).map_err(|error| file_error("find", path, error))
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
