//! What others test with: clocks, recording handlers, conformance suites.
