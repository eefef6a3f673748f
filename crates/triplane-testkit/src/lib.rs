//! What others test with: clocks, recording handlers, conformance suites.

pub mod recorder;
pub mod suite;
