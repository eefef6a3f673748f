//! What a delivery did.

use std::collections::HashSet;

use serde::Serialize;

use crate::engine::outbox::change::Change;
use crate::engine::outbox::status::{OutboxStatus, Reason};

/// What a delivery did. A worker's own account; the store has the whole one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeliveryTally {
    /// Attempts that the sink took.
    pub delivered: u64,
    /// Attempts that failed and will be made again.
    pub retried: u64,
    /// Attempts of which nothing is known; made again while the bound allows it.
    pub unknown: u64,
    /// Intents that were given up: rejected, unreadable, or out of attempts.
    pub dead_lettered: u64,
    /// Intents whose time was over before the attempt.
    pub expired: u64,
    /// Results that came too late: another worker had claimed the next attempt, or the consumer had
    /// acknowledged meanwhile.
    pub superseded: u64,
    /// Leases of dead processes that were ended.
    pub leases_voided: u64,
}

impl DeliveryTally {
    /// Adds another account to this one.
    pub fn add(&mut self, other: Self) {
        let Self {
            delivered,
            retried,
            unknown,
            dead_lettered,
            expired,
            superseded,
            leases_voided,
        } = other;
        self.delivered += delivered;
        self.retried += retried;
        self.unknown += unknown;
        self.dead_lettered += dead_lettered;
        self.expired += expired;
        self.superseded += superseded;
        self.leases_voided += leases_voided;
    }

    /// Counts settlements by what they became, and those that came too late.
    pub(crate) fn count(&mut self, changes: &[Change], held: &HashSet<i64>) {
        for change in changes {
            if !held.contains(&change.id) {
                tracing::warn!(
                    intent = change.id,
                    attempt = change.from_attempt,
                    "a result came too late: the intent has gone on without it"
                );
                self.superseded += 1;
                continue;
            }
            match (change.to, change.reason) {
                // Taken by the sink; with an acknowledgement to come it is sent again.
                (OutboxStatus::Delivered, _) | (OutboxStatus::Pending, Reason::TransportOk) => {
                    self.delivered += 1;
                }
                (OutboxStatus::Pending, Reason::OutcomeUnknown) => self.unknown += 1,
                (OutboxStatus::Pending, Reason::LeaseVoid) => self.leases_voided += 1,
                (OutboxStatus::Pending, _) => self.retried += 1,
                _ => self.dead_lettered += 1,
            }
        }
    }
}
