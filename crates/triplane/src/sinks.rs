//! The sinks that come with triplane.

#[cfg(feature = "sink-argv")]
pub use triplane_sinks::argv::{ArgvSink, TemplateRefused};
#[cfg(feature = "sink-file")]
pub use triplane_sinks::file::FileSink;

/// A sink that appends each delivery as one JSON line to the file at `path`.
///
/// The file is opened, and created if need be, at the first delivery; one that cannot be used makes
/// deliveries wait, not fail the operation.
#[cfg(feature = "sink-file")]
pub fn file(path: impl Into<std::path::PathBuf>) -> FileSink {
    FileSink::new(path)
}

/// A sink that runs a command for each delivery: the program and its arguments, no shell.
///
/// # Errors
///
/// [`TemplateRefused`] when the words do not make a command.
#[cfg(feature = "sink-argv")]
pub fn argv<W: Into<std::ffi::OsString>>(
    words: impl IntoIterator<Item = W>,
) -> Result<ArgvSink, TemplateRefused> {
    ArgvSink::new(words)
}
