//! What happened? Immutable facts and those who observe them.

pub mod signal;

pub use signal::{EmitterRole, Payload, Signal, SignalKind};
