//! Signals: immutable facts that occurred.

mod envelope;
mod kind;

pub use envelope::{EmitterRole, Payload, Signal};
pub use kind::SignalKind;
