//! A command as a vector of arguments, checked where it enters.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// The longest single argument, in bytes.
///
/// Linux takes 128 KiB with the closing NUL, however large the whole vector may be.
pub const ARGUMENT_BYTES_MAX: usize = 131_071;

/// A program and its arguments: not empty, free of NUL, no argument too long for the system.
///
/// No shell reads it, so nothing in it is special.
///
/// ```
/// use triplane_process::Argv;
///
/// let argv = Argv::new(["printf", "%s", "$HOME; rm -rf /"])?;
/// assert_eq!(argv.program(), "printf");
/// assert_eq!(argv.arguments().len(), 2);
/// # Ok::<(), triplane_process::ArgvRefused>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Argv {
    program: OsString,
    arguments: Vec<OsString>,
}

/// Why words are not an argument vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgvRefused {
    /// There is no word, or the first one is empty.
    #[error("a command needs a program")]
    NoProgram,
    /// A word holds a NUL, where the system would cut it off.
    #[error("word {position} of the command holds a NUL")]
    Nul {
        /// The position of the word; the program is 0.
        position: usize,
    },
    /// A word is longer than [`ARGUMENT_BYTES_MAX`].
    #[error("word {position} of the command has {bytes} bytes, more than {ARGUMENT_BYTES_MAX}")]
    TooLong {
        /// The position of the word; the program is 0.
        position: usize,
        /// Its length in bytes.
        bytes: usize,
    },
}

impl Argv {
    /// Checks `words`; the first is the program.
    ///
    /// A program without a `/` is looked up in `PATH` when it is spawned.
    ///
    /// # Errors
    ///
    /// [`ArgvRefused::NoProgram`] without a first word, [`ArgvRefused::Nul`] and
    /// [`ArgvRefused::TooLong`] for a word that the system cannot take.
    pub fn new<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Result<Self, ArgvRefused> {
        let mut words = words.into_iter().map(Into::into);
        let program = words.next().filter(|program| !program.is_empty());
        let program = program.ok_or(ArgvRefused::NoProgram)?;
        let arguments: Vec<OsString> = words.collect();
        for (position, word) in std::iter::once(&program).chain(&arguments).enumerate() {
            let bytes = word.as_bytes();
            if bytes.contains(&0) {
                return Err(ArgvRefused::Nul { position });
            }
            if bytes.len() > ARGUMENT_BYTES_MAX {
                let bytes = bytes.len();
                return Err(ArgvRefused::TooLong { position, bytes });
            }
        }
        Ok(Self { program, arguments })
    }

    /// The program.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The arguments, without the program.
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], wanted: impl Into<Option<ArgvRefused>>) {
        assert_eq!(Argv::new(words).err(), wanted.into());
    }

    #[test]
    fn a_command_is_checked_where_it_enters() {
        check(&["true"], None);
        check(&["printf", "", "a b", "$(x); y"], None);
        check(&[], ArgvRefused::NoProgram);
        check(&["", "x"], ArgvRefused::NoProgram);
        check(&["echo", "a\0b"], ArgvRefused::Nul { position: 1 });
        let longest = "x".repeat(ARGUMENT_BYTES_MAX);
        check(&["echo", &longest], None);
        let bytes = ARGUMENT_BYTES_MAX + 1;
        let too_long = "x".repeat(bytes);
        let refused = ArgvRefused::TooLong { position: 1, bytes };
        check(&["echo", &too_long], refused);
    }
}
