//! The commit: an outcome and everything that must go along with it, in one transaction.
//!
//! ```text
//! begin(fact) -> stage(participant) ... -> commit / submit
//!                     |                        |
//!                     | only memory            | queue -> line -> turn: up to 64 units, one transaction
//!                     v                        v
//!              execute(own rows): the unit holds the writer from here on
//! ```
//!
//! Invariants:
//!
//! - A unit is never torn: all of its rows or none, also when it shares its transaction.
//! - Units that are submitted one after the other are committed in that order.
//! - A receipt exists only for rows that are committed.
//! - Whether a fact is on record already is decided inside the transaction that would write it.

mod receipt;
mod work;
mod identity;
mod lookup;
mod rows;
#[cfg(triplane_crash)]
mod planted;
mod apply;
mod insert;
mod rows_direct;
mod direct;
mod telling;
mod group;
mod line;
#[cfg(triplane_crash)]
mod rehearsal;
mod turn;
mod pending;
mod queue;
mod held;
mod unit;

pub use apply::Applied;
pub use receipt::{Committed, Enqueued, IntentReceipt, Receipt, Recorded, SignalReceipt};
pub use unit::{Submitted, UnitOfWork};

pub(crate) use queue::CommitQueue;

#[cfg(test)]
mod tests;
