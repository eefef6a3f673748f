//! The outbox: intents from their commit to their end (ADR-0059).
//!
//! ```text
//!                     claim (attempt + 1, lease)
//!   +---------+  ------------------------------------>  +------------+  --> delivered
//!   | pending |                                         | delivering |  --> dead_letter
//!   +---------+  <------------------------------------  +------------+  --> expired
//!     |     ^      retry after backoff, lease void        |   ^    |
//!     |     |                                             +---+    +----> acked
//!     |     +-- operator -- dead_letter, expired       lease over:
//!     +--> acked, expired                              next attempt
//! ```
//!
//! Invariants:
//!
//! - Nothing is sent that is not committed, and no transaction is open across a send.
//! - A claim is a compare-and-set on (status, attempt); a settlement is fenced by the same pair. Of
//!   two workers one wins, and the loser's late result changes nothing.
//! - Status, attempt, last error, next attempt and the row of history change in one transaction.
//! - An attempt that nobody finished is made again under the next number and the same key: delivery
//!   is at least once.
//! - The retry policy bounds what sinks refuse. A process that dies says nothing about the intents
//!   it had claimed, so they are due again at once; an intent that is interrupted again and again
//!   is claimed alone and last, and given up only then.

mod status;
mod change;
mod ack;
mod claim;
mod settle;
mod load;
mod direct;
mod operator;
mod convey;
mod tally;
mod read;
mod registration;
mod worker;
mod watch;

pub use ack::Acknowledgement;
pub use operator::{IntentSelection, OperatorReport, PurgedIntent};
pub use read::{OutboxEntry, OutboxHistory, OutboxTransition};
pub use registration::SinkRegistration;
pub use status::OutboxStatus;
pub use tally::DeliveryTally;
pub use worker::DeliveryWorker;

pub(crate) use ack::acknowledge;
pub(crate) use operator::{PURGEABLE, RETRYABLE, preview, purge, retry, tombstone};
pub(crate) use read::{entries, history};

#[cfg(test)]
mod tests;
