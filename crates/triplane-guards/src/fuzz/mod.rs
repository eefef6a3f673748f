//! What must hold for any input, as one function for each thing that reads input.
//!
//! The fuzz targets in `fuzz/` and the property tests of this crate call the same functions. Each
//! panics when something does not hold, and answers how long the work took on the processor's clock,
//! whatever else the machine was doing.

mod watch;
mod shortcut;
mod shell;
mod near;
mod sql;
mod paths;
mod rules;

pub use near::near;
pub use paths::paths;
pub use rules::rules;
pub use shell::shell;
pub use sql::sql;
pub use watch::{SLOW, listen_to_panics};

#[cfg(test)]
mod campaign;
