//! Which tools there are: what a call asks the guards to judge, whatever its harness calls it.
//!
//! Names are folded: case, separators and an MCP prefix do not count. A tool of unknown name whose
//! arguments carry a command or a path is judged, not waved through.

mod op;
mod asked_path;
mod name;
mod patch;
mod command;
mod path;

pub(crate) use asked_path::AskedPath;
pub(crate) use command::{CommandAsked, command};
pub use op::PathOp;
pub(crate) use path::paths;
