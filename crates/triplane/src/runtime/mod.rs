//! The runtime: three planes behind one handle.

mod guards;
mod delivery;
mod handle;
mod builder;

pub use builder::{DeliveryMode, RuntimeBuilder};
pub use handle::{Leftover, Runtime};
