//! An operation as it stands on record.

use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::engine::outbox::OutboxStatus;

/// A page of a session's operations.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OperationPage {
    /// The operations whose first signal stands on the page, in its order. May be empty although
    /// more follow.
    pub operations: Vec<OperationRecord>,
    /// The sequence to go on after; nothing when the session ends here.
    pub next: Option<u64>,
}

/// An operation with its evidence and its deliveries.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct OperationRecord {
    /// The operation's id, a UUID v7.
    pub id: String,
    /// Its identity, unique in the store.
    pub identity: String,
    /// The session that it belongs to.
    pub session: String,
    /// The position of its first signal in that session's log, from 1.
    pub sequence: u64,
    /// What it was, for example `PreToolUse`.
    pub event: String,
    /// What it was about, for example a tool.
    pub subject: Option<String>,
    /// How it ended, for example `denied`.
    pub outcome: String,
    /// When it occurred, in microseconds since 1970 UTC.
    pub occurred_at_us: i64,
    /// When it was committed, in microseconds since 1970 UTC.
    pub committed_at_us: i64,
    /// How it was judged, if it was.
    pub evidence: Option<EvidenceRecord>,
    /// The declared type of the payload of its first signal.
    pub payload_type: String,
    /// The version of that type.
    pub payload_version: u32,
    /// That payload, one JSON value. Nothing when it was too long for the way it was asked for.
    pub payload: Option<Box<RawValue>>,
    /// The intents to deliver its signals, in the order of their commit.
    pub deliveries: Vec<DeliveryRecord>,
}

/// How an operation was judged.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct EvidenceRecord {
    /// `allowed`, `denied` or `rewritten`.
    pub decision: String,
    /// `enforced`, `advisory` or `after_the_fact`.
    pub enforcement: String,
    /// The rule that denied or rewrote.
    pub rule: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What else was noted, a JSON array.
    pub notes: Option<Box<RawValue>>,
    /// The arguments before a rewrite.
    pub arguments_before: Option<Box<RawValue>>,
    /// The arguments after it.
    pub arguments_after: Option<Box<RawValue>>,
}

/// How far the delivery of one signal to one sink has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeliveryRecord {
    /// The public id of the intent, a UUID v7.
    pub id: String,
    /// The sink that it is for.
    pub sink: String,
    /// Where it stands.
    pub status: OutboxStatus,
    /// How many attempts were claimed.
    pub attempt: u32,
    /// What the latest failed attempt said.
    pub last_error: Option<String>,
    /// When it last changed, in microseconds since 1970 UTC.
    pub updated_at_us: i64,
}

impl OperationRecord {
    /// Reads the columns of the statements, which begin with the key.
    pub(super) fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get(1)?,
            identity: row.try_get(2)?,
            session: row.try_get(3)?,
            sequence: row.try_get::<i64, _>(4)?.unsigned_abs(),
            event: row.try_get(5)?,
            subject: row.try_get(6)?,
            outcome: row.try_get(7)?,
            occurred_at_us: row.try_get(8)?,
            committed_at_us: row.try_get(9)?,
            evidence: EvidenceRecord::read(row, 10)?,
            payload_type: row.try_get(17)?,
            payload_version: row.try_get(18)?,
            payload: json(row, 19)?,
            deliveries: Vec::new(),
        })
    }
}

impl EvidenceRecord {
    fn read(row: &SqliteRow, first: usize) -> Result<Option<Self>, sqlx::Error> {
        let Some(decision) = row.try_get(first)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            decision,
            enforcement: row.try_get(first + 1)?,
            rule: row.try_get(first + 2)?,
            reason: row.try_get(first + 3)?,
            notes: json(row, first + 4)?,
            arguments_before: json(row, first + 5)?,
            arguments_after: json(row, first + 6)?,
        }))
    }
}

impl DeliveryRecord {
    /// Reads six columns from `first` on.
    pub(super) fn read(row: &SqliteRow, first: usize) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get(first)?,
            sink: row.try_get(first + 1)?,
            status: OutboxStatus::read(row, first + 2)?,
            attempt: row.try_get(first + 3)?,
            last_error: row.try_get(first + 4)?,
            updated_at_us: row.try_get(first + 5)?,
        })
    }
}

fn json(row: &SqliteRow, column: usize) -> Result<Option<Box<RawValue>>, sqlx::Error> {
    let text: Option<String> = row.try_get(column)?;
    text.map(RawValue::from_string)
        .transpose()
        .map_err(|error| sqlx::Error::Decode(error.into()))
}
