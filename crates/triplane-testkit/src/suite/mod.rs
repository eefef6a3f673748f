//! Conformance suites: what every implementation of a trait must keep, as one call in its tests.

pub mod interceptor;
pub mod handler;
#[cfg(feature = "state")]
pub mod fact;
#[cfg(feature = "state")]
pub mod participant;
#[cfg(feature = "state")]
pub mod sink;
#[cfg(feature = "state")]
pub mod store;
