//! Counts of what a store holds.

use serde::Serialize;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::engine::outbox::OutboxStatus;

/// Counts of what a store holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StoreStats {
    /// Sessions.
    pub sessions: u64,
    /// Operations on record.
    pub operations: u64,
    /// Rows of audit evidence.
    pub audits: u64,
    /// Rows of the signal log.
    pub signals: u64,
    /// Intents, by where they stand.
    pub intents: IntentCounts,
}

/// Intents, by where they stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IntentCounts {
    /// Waiting for their next attempt.
    pub pending: u64,
    /// With an attempt under way, or left by one that ended badly.
    pub delivering: u64,
    /// Taken by their sink.
    pub delivered: u64,
    /// Confirmed by their consumer.
    pub acked: u64,
    /// Given up.
    pub dead_letter: u64,
    /// Too old to deliver.
    pub expired: u64,
}

impl IntentCounts {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.unsettled() + self.delivered + self.acked + self.dead_letter + self.expired
    }

    /// Those that still wait for their delivery, under way or not.
    pub fn unsettled(&self) -> u64 {
        self.pending + self.delivering
    }
}

/// Counts everything: reads one index of each table from end to end.
const COUNTS: &str = "\
    SELECT 'sessions', count(*) FROM session UNION ALL \
    SELECT 'operations', count(*) FROM operation UNION ALL \
    SELECT 'audits', count(*) FROM audit UNION ALL \
    SELECT 'signals', count(*) FROM signal_log UNION ALL \
    SELECT status, count(*) FROM outbox GROUP BY status";

/// Counts what is not settled: reads nothing else.
const UNSETTLED: &str = "SELECT count(*) FROM outbox WHERE status IN ('pending', 'delivering')";

pub(crate) async fn stats(connection: &mut SqliteConnection) -> Result<StoreStats, sqlx::Error> {
    let rows = sqlx::query(COUNTS).fetch_all(connection).await?;
    let mut stats = StoreStats::default();
    for row in &rows {
        let count = count(row, 1)?;
        match row.try_get::<&str, _>(0)? {
            "sessions" => stats.sessions = count,
            "operations" => stats.operations = count,
            "audits" => stats.audits = count,
            "signals" => stats.signals = count,
            _status => *stats.intents.of(OutboxStatus::read(row, 0)?) = count,
        }
    }
    Ok(stats)
}

pub(crate) async fn unsettled(connection: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
    count(&sqlx::query(UNSETTLED).fetch_one(connection).await?, 0)
}

fn count(row: &SqliteRow, column: usize) -> Result<u64, sqlx::Error> {
    Ok(row.try_get::<i64, _>(column)?.unsigned_abs())
}

impl IntentCounts {
    fn of(&mut self, status: OutboxStatus) -> &mut u64 {
        match status {
            OutboxStatus::Pending => &mut self.pending,
            OutboxStatus::Delivering => &mut self.delivering,
            OutboxStatus::Delivered => &mut self.delivered,
            OutboxStatus::Acked => &mut self.acked,
            OutboxStatus::DeadLetter => &mut self.dead_letter,
            OutboxStatus::Expired => &mut self.expired,
        }
    }
}
