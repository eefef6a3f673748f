//! From a command to the simple commands that it runs, wrappers and substitutions followed.
//!
//! The walk goes over the tree as the shell would run it, with the state that a shell would have:
//! variables, the current folder, functions, aliases, the files that the line has written. What
//! may or may not run is walked all the same; a value that depends on it is kept as alternatives.
//! What stands in quotes and is run by nobody never becomes a command.
//!
//! The walk is one machine, `Normaliser`, whose parts stand in a file each.

mod simple;
mod walker;
mod words;
mod compound;
mod lists;
mod files;
mod redirect;
mod assignment;
mod command;
mod builtin;
mod texts;
mod layer;

pub use simple::Simple;
pub(crate) use simple::{program_name, pseudo};
pub(crate) use walker::{normalise, normalise_near};
