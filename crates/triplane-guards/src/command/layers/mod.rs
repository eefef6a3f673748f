//! Programs that run other programs: what they run, as data for the normaliser.
//!
//! A layer says what is run, where, and with which input; it runs nothing and knows no state.

mod layer;
mod operands;
mod wrappers;
mod shells;
mod containers;
mod tools;
mod databases;
mod interpreters;
mod frameworks;
mod unknown;
mod dispatch;

pub(crate) use dispatch::layers;
pub(crate) use layer::{Host, Layer, Mount, Split};
pub(crate) use operands::{clustered_text, join, replaced, values_of};
pub(crate) use shells::is_shell;
