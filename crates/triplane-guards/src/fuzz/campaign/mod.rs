//! The same functions as property tests.
//!
//! Seeds are changed at random and tried in a child of the test, under a limit of memory and a limit
//! of time for each input: what ends the child, or does not end, is told with its input. An ordinary
//! run tries a fixed number of inputs; `TRIPLANE_FUZZ_SECONDS` tries for that long, in the release
//! profile, where slow inputs are faults too.

mod mutator;
mod corpus;
mod trial;
mod child;
mod shell;
mod near;
mod sql;
mod paths;
mod rules;
mod growth;
