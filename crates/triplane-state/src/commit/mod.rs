//! Commit: an outcome and what must go along with it, in one transaction.

mod participant;

pub use participant::{
    AuditRow, CommitParticipant, CommitRefs, Confirmation, FactIdentity, IntentRow, Judgement,
    PendingFact, Repeat, Rewrite, SignalRow, StageError, Staged,
};
