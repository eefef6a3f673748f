//! Whether what a store holds is what was told of it.
//!
//! A process under test writes a [journal] of what it is about to do and of what it was
//! answered, and its destinations write what reached them. The referee reads both, opens the store by
//! plain SQL, read-only, and compares. It shares no code with the product: it depends on none of the
//! product's crates, and knows the schema from its documentation.
//!
//! | finding | invariant |
//! |---|---|
//! | lost | I1: what was acknowledged is there, and what counts as delivered has arrived |
//! | invented | I2: nothing is there, or arrived, that was never meant |
//! | torn | I3: a fact with its owner's row, evidence, signal and intent, or none of them |
//! | reordered | I4: sequences are 1..n, in the order of commits and of acknowledgements |
//! | `dup_same_attempt` | I5: one delivery for each attempt, and none while another one holds the lease |
//! | lifecycle | I6: the history replays to the status by legal edges; attempts are counted claims |
//! | stuck | I7: nothing is refused for good, and after the faults every intent comes to its end |
//! | audit | I9: acknowledgement, retry and purge stand in the history |
//! | file | I10: the file is whole, and its settings are those that were sold |
//!
//! Lifecycle, audit and file are counted as `torn` in the line of a run: what is written in one
//! transaction does not agree.

pub mod finding;
pub mod journal;
mod rows;
mod facts;
mod lifecycle;
mod deliveries;
mod judge;

pub use finding::{Finding, Invariant, Verdict};
pub use judge::{Extent, judge};
