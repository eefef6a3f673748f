//! Conformance suites: what every implementation of a trait must keep, as one call in its tests.

pub mod interceptor;
pub mod handler;
