//! What must survive? One transaction for outcome and intent, and delivery after it.
//!
//! ```text
//! begin(fact) ─ stage(evidence, signal, intent) ─ commit ──► receipt ──► the signal is emitted
//!                                                   │
//!                                                   └─► outbox ─ claim ─ send ─ settle
//! ```
//!
//! The committed rows are authoritative. A signal that is emitted in the process, a line that a sink
//! has written, a counter: all of them follow from rows and can be missing or come twice; a row can
//! not.
//!
//! | Table | Holds | Written by |
//! |---|---|---|
//! | `meta` | the store's id and epoch | creation |
//! | `session` | names of sessions | the first commit of each |
//! | `operation` | outcomes, one for each identity | commit |
//! | `audit` | how they were judged | commit |
//! | `signal_log` | facts, numbered in each session | commit |
//! | `delivery_snapshot` | sink, destination and filter of intents, frozen | commit |
//! | `outbox` | intents and where they stand | commit, delivery, operators |
//! | `outbox_ack` | digests of the tokens that were sent | delivery |
//! | `outbox_transition` | their history | commit, delivery, operators |
//! | `outbox_purge`, `outbox_tombstone` | what was purged, and by whom | operators |
//! | `delivery_sink` | what sinks have declared | delivery |
//! | `owner_migration` | which steps of their own tables owners have taken | opening |
//! | `capture_binding`, `capture_gap` | who was there to capture, and what was not captured | commit, closing |
//!
//! The ports stand first and need no database: [`commit`] (what is staged), [`delivery`] (where it
//! goes), [`retry`], [`clock`]. The embedded [`Store`] stands behind the feature `sqlite`.
//!
//! What this crate does not do: judge anything, spawn anything, talk to a network.

pub mod clock;
pub mod retry;
pub mod commit;
pub mod delivery;
pub mod error;
#[cfg(feature = "sqlite")]
mod engine;

pub use error::StateError;

#[cfg(feature = "sqlite")]
pub use engine::{
    backup::StoreBackup,
    capture::{
        CaptureBinding, CaptureGap, CaptureReport, GapCause, UnknownInterval, note_uncaptured,
    },
    check::StoreFinding,
    commit::{
        Applied, Committed, Enqueued, IntentReceipt, Receipt, Recorded, SignalReceipt, Submitted,
        UnitOfWork,
    },
    handle::Store,
    inspect::{Scrutiny, StoreInspection, UnsettledIntent},
    operations::{DeliveryRecord, EvidenceRecord, OperationPage, OperationRecord},
    outbox::{
        Acknowledgement, DeliveryTally, DeliveryWorker, IntentSelection, OperatorReport,
        OutboxEntry, OutboxHistory, OutboxStatus, OutboxTransition, PurgedIntent, SinkRegistration,
    },
    schema::OwnerMigrations,
    signal_log::{CursorUnreadable, SessionSummary, SignalCursor, SignalPage, SignalRecord},
    stats::{IntentCounts, StoreStats},
    store::{Lifetime, StoreOptions, Synchronous},
};

/// The example of the README, compiled.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../README.md")]
struct Readme;
