//! Why a rule file is not taken.

use std::io;
use std::path::PathBuf;

/// Why a rule file is not taken. Every message begins with the place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFileRefused {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// The file is too long to be one of rules.
    #[error("{}: {bytes} bytes are more than {max}, the most of a rule file", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
        /// The longest that is read.
        max: u64,
    },
    /// Something in the file is wrong.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What is wrong, and the way out.
        message: String,
    },
}
