//! What must survive? One transaction for outcome and intent, and delivery after it.

pub mod error;
pub mod clock;
pub mod retry;
pub mod commit;
pub mod delivery;
#[cfg(feature = "sqlite")]
mod engine;

pub use error::StateError;

#[cfg(feature = "sqlite")]
pub use engine::{
    commit::{
        Applied, Committed, Enqueued, IntentReceipt, Receipt, Recorded, SignalReceipt, Submitted,
        UnitOfWork,
    },
    handle::Store,
    outbox::{
        DeliveryTally, DeliveryWorker, OutboxEntry, OutboxHistory, OutboxStatus, OutboxTransition,
    },
    signal_log::{SessionSummary, SignalRecord},
    stats::{IntentCounts, StoreStats},
    store::{Lifetime, StoreOptions, Synchronous},
};
