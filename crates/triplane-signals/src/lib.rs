//! What happened? Immutable facts and those who observe them.
//!
//! A [`Signal`] is a fact that occurred. It is built once, from the receipt of the commit that
//! stored it, and shared by reference from then on: an observer can neither change it nor keep it
//! from others. A [`SignalFilter`] says which facts an observer hears of; [`SessionObservation`]
//! announces them.
//!
//! This crate stores nothing. A signal without a `sequence` is known to this process only; whether
//! a fact survives is decided by the commit, before it is announced.

pub mod signal;
pub mod filter;
pub mod observation;
pub mod lane;
pub mod class;

pub use class::SignalClass;
pub use filter::SignalFilter;
pub use lane::{Lane, lane_for};
pub use observation::{Observer, SessionObservation};
pub use signal::{EmitterRole, Payload, Signal, SignalKind};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
