//! The six states of an intent, the edges between them, and the reasons for taking one.

use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

/// Where an intent stands (ADR-0059).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxStatus {
    /// Waits for its next attempt.
    Pending,
    /// An attempt is under way, until the end of its lease.
    Delivering,
    /// The sink has taken it.
    Delivered,
    /// Its consumer has confirmed it.
    Acked,
    /// Given up.
    DeadLetter,
    /// Its time was over before it was delivered.
    Expired,
}

impl OutboxStatus {
    /// Every state.
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Delivering,
        Self::Delivered,
        Self::Acked,
        Self::DeadLetter,
        Self::Expired,
    ];

    /// The wire string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivering => "delivering",
            Self::Delivered => "delivered",
            Self::Acked => "acked",
            Self::DeadLetter => "dead_letter",
            Self::Expired => "expired",
        }
    }

    /// The state with this wire string.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    pub(crate) fn read(row: &SqliteRow, column: usize) -> Result<Self, sqlx::Error> {
        let text: &str = row.try_get(column)?;
        Self::parse(text)
            .ok_or_else(|| sqlx::Error::Decode(format!("unknown status {text:?}").into()))
    }

    /// Whether nothing comes after it by itself.
    pub const fn is_settled(self) -> bool {
        !matches!(self, Self::Pending | Self::Delivering)
    }

    /// Whether the graph has an edge from this state to `next`. The schema holds the same graph.
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Pending => matches!(next, Self::Delivering | Self::Acked | Self::Expired),
            // To itself: a lease was over, and the next attempt is claimed.
            Self::Delivering => true,
            // Only an operator takes these edges.
            Self::DeadLetter | Self::Expired => matches!(next, Self::Pending),
            Self::Delivered | Self::Acked => false,
        }
    }
}

/// Why an intent changed its state; stands in its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Attempt,
    TransportOk,
    RetryBackoff,
    OutcomeUnknown,
    LeaseVoid,
    MaxAttempts,
    Interrupted,
    Rejected,
    Unreadable,
    AckTimeout,
    Snapshot,
    TooLarge,
    Deadline,
    Acked,
    OperatorRetry,
}

impl Reason {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Attempt => "dispatch.delivering.attempt",
            Self::TransportOk => "dispatch.delivered.transport_ok",
            Self::RetryBackoff => "dispatch.pending.retry_backoff",
            Self::OutcomeUnknown => "dispatch.pending.outcome_unknown",
            Self::LeaseVoid => "dispatch.pending.lease_void",
            Self::MaxAttempts => "dispatch.dead_letter.max_attempts",
            Self::Interrupted => "dispatch.dead_letter.interrupted",
            Self::Rejected => "dispatch.dead_letter.rejected",
            Self::Unreadable => "dispatch.dead_letter.unreadable",
            Self::AckTimeout => "dispatch.dead_letter.ack_timeout",
            Self::Snapshot => "dispatch.dead_letter.snapshot_unreadable",
            Self::TooLarge => "dispatch.dead_letter.too_large",
            Self::Deadline => "dispatch.expired.deadline",
            Self::Acked => "dispatch.acked.consumer",
            Self::OperatorRetry => "dispatch.pending.operator_retry",
        }
    }
}
