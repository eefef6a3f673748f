//! Where a path of a command leads, as far as the text tells.

mod set;
mod glob;
mod component;
mod lead;

pub(crate) use glob::glob_matches;
pub use lead::scopes;
pub use set::Scopes;
