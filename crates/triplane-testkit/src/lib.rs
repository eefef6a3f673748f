//! What others test with: clocks, recording handlers, conformance suites.

pub mod recorder;
pub mod suite;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
