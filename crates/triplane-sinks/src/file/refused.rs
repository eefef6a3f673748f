//! Why a file cannot be delivered to.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a file cannot be delivered to. Each message names the file and a way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileRefused {
    /// The folder of the file does not exist.
    #[error("{}: its folder does not exist; create the folder or name another file", .path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// Something other than a regular file stands there: a folder, a pipe, a device.
    #[error("{}: this is a {kind}, not a file; name a regular file", .path.display())]
    NotAFile {
        /// What was named.
        path: PathBuf,
        /// What stands there.
        kind: &'static str,
    },
    /// Another process holds the file's lock.
    #[error("{}: locked by another process for {waited:?}; end that process or name another file", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long its release was awaited.
        waited: Duration,
    },
    /// The path keeps changing its file.
    #[error("{}: replaced again and again; let one process move it away", .path.display())]
    Unsteady {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: cannot {doing}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was attempted.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}
