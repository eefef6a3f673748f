//! Signals: immutable facts that occurred.

mod kind;
mod envelope;

pub use envelope::{EmitterRole, Payload, Signal};
pub use kind::SignalKind;
