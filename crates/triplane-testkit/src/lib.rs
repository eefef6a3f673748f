//! What others test with: recording handlers, offloads that a test controls, conformance suites.

#[cfg(feature = "state")]
pub mod clock;
pub mod recorder;
pub mod offload;
pub mod suite;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
