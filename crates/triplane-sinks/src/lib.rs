//! Where deliveries go: a file, a command.
//!
//! A sink conveys what a commit has promised; the promise itself, its repetition and its bounds are
//! kept by `triplane-state`, of which this crate knows the ports only. Each sink stands behind a
//! feature of its own:
//!
//! | feature | sink | accepted means | a repeated delivery |
//! |---|---|---|---|
//! | `file` | `file::FileSink` | on the disk | recognised near the end of the file, else a second line |
//! | `argv` | `argv::ArgvSink` | the command exited with 0 | a second run, under the same key |
//!
//! Delivery is at least once: a process that dies between conveying and recording conveys again,
//! under the same key.

#[cfg(feature = "file")]
mod record;
#[cfg(feature = "file")]
pub mod file;
#[cfg(feature = "argv")]
mod template;
#[cfg(feature = "argv")]
pub mod argv;

#[cfg(all(doctest, feature = "file", feature = "argv"))]
#[doc = include_str!("../README.md")]
struct Readme;
