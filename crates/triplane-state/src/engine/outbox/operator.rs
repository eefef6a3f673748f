//! What an operator does to intents: send them again, or take them away. Both leave a trace in the
//! transaction that does it.

use serde::Serialize;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};
use uuid::Uuid;

use crate::engine::outbox::change::{Change, Past, apply_changes, storable};
use crate::engine::outbox::status::{OutboxStatus, Reason};

/// Which intents an operator means.
///
/// Without a choice it means all that are settled, in the states that the operation takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[must_use]
pub struct IntentSelection {
    ids: Option<Vec<String>>,
    statuses: Vec<OutboxStatus>,
    sink: Option<String>,
    before_us: Option<i64>,
}

impl IntentSelection {
    /// Every intent that the operation takes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those with one of these public ids.
    pub fn ids<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Also those in this state. Without any, every state that the operation takes.
    pub fn status(mut self, status: OutboxStatus) -> Self {
        self.statuses.push(status);
        self
    }

    /// Only those for this sink.
    pub fn sink(mut self, sink: impl Into<String>) -> Self {
        self.sink = Some(sink.into());
        self
    }

    /// Only those that changed last before this moment, in microseconds since 1970 UTC.
    pub fn before_us(mut self, before_us: i64) -> Self {
        self.before_us = Some(before_us);
        self
    }

    /// The states that are meant, of those that the operation takes.
    fn among(&self, taken: &[OutboxStatus]) -> Vec<OutboxStatus> {
        let meant =
            |status: &&OutboxStatus| self.statuses.is_empty() || self.statuses.contains(status);
        taken.iter().filter(meant).copied().collect()
    }
}

/// The states from which an operator may send again.
pub(crate) const RETRYABLE: &[OutboxStatus] = &[OutboxStatus::DeadLetter, OutboxStatus::Expired];

/// The states from which an operator may take away: nothing comes after them by itself.
pub(crate) const PURGEABLE: &[OutboxStatus] = &[
    OutboxStatus::Delivered,
    OutboxStatus::Acked,
    OutboxStatus::DeadLetter,
    OutboxStatus::Expired,
];

/// What an operator's call did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[must_use]
#[non_exhaustive]
pub struct OperatorReport {
    /// The public ids of the intents concerned, in the order of their commits.
    pub intents: Vec<String>,
    /// The intents that were named and are in no state for it, with that state; nothing for an id
    /// that no intent has.
    pub refused: Vec<(String, Option<OutboxStatus>)>,
    /// The public id of the purge, whose row tells of it.
    pub purge: Option<String>,
}

/// What a purge left of an intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PurgedIntent {
    /// The public id that it had.
    pub id: String,
    /// Its dedup key, which stays taken.
    pub dedup_key: Option<String>,
    /// Where it stood.
    pub status: OutboxStatus,
    /// The public id of the purge.
    pub purge: String,
    /// When, in microseconds since 1970 UTC.
    pub at_us: i64,
    /// What the operator said.
    pub detail: Option<String>,
}

/// Named intents are looked up; the others are found by reading the outbox.
const BY_ID: &str = "\
    SELECT outbox.id, outbox.public_id, outbox.status, outbox.attempt \
    FROM json_each(?1) AS named CROSS JOIN outbox ON outbox.public_id = named.value \
    WHERE (?2 IS NULL OR outbox.sink = ?2) AND (?3 IS NULL OR outbox.updated_at_us < ?3) \
    ORDER BY outbox.id";

const BY_STATUS: &str = "\
    SELECT id, public_id, status, attempt FROM outbox \
    WHERE status IN (SELECT value FROM json_each(?1)) \
      AND (?2 IS NULL OR sink = ?2) AND (?3 IS NULL OR updated_at_us < ?3) \
    ORDER BY id";

const STATUS_OF: &str = "SELECT status FROM outbox WHERE public_id = ?1";

/// One intent that is meant.
struct Meant {
    id: i64,
    public_id: String,
    status: OutboxStatus,
    attempt: u32,
}

/// The intents that `selection` means among those in the states `taken`, and the named ones that it
/// cannot mean.
async fn meant(
    connection: &mut SqliteConnection,
    selection: &IntentSelection,
    taken: &[OutboxStatus],
) -> Result<(Vec<Meant>, OperatorReport), sqlx::Error> {
    let statuses = selection.among(taken);
    let (sql, list) = match &selection.ids {
        Some(ids) => (BY_ID, json!(ids)),
        None => (BY_STATUS, json!(statuses)),
    };
    let rows = sqlx::query(sql)
        .bind(list.to_string())
        .bind(selection.sink.as_deref())
        .bind(selection.before_us)
        .fetch_all(&mut *connection)
        .await?;
    let mut meant = rows
        .iter()
        .map(Meant::read)
        .collect::<Result<Vec<_>, sqlx::Error>>()?;
    meant.retain(|it| statuses.contains(&it.status));
    meant.dedup_by_key(|it| it.id);
    let mut refused = Vec::new();
    for id in selection.ids.iter().flatten() {
        if meant.iter().any(|it| it.public_id == *id) {
            continue;
        }
        let row = sqlx::query(STATUS_OF)
            .bind(id)
            .fetch_optional(&mut *connection)
            .await?;
        let status = row.map(|row| OutboxStatus::read(&row, 0)).transpose()?;
        refused.push((id.clone(), status));
    }
    let report = OperatorReport {
        intents: meant.iter().map(|it| it.public_id.clone()).collect(),
        refused,
        purge: None,
    };
    Ok((meant, report))
}

/// What [`retry`] or [`purge`] would do.
pub(crate) async fn preview(
    connection: &mut SqliteConnection,
    selection: &IntentSelection,
    taken: &[OutboxStatus],
) -> Result<OperatorReport, sqlx::Error> {
    Ok(meant(connection, selection, taken).await?.1)
}

/// Makes intents due again that were given up, in the open transaction.
///
/// Their bound starts anew; the number of attempts goes on, since it fences what late workers say.
pub(crate) async fn retry(
    connection: &mut SqliteConnection,
    selection: &IntentSelection,
    remark: Option<&str>,
    now_us: i64,
) -> Result<OperatorReport, sqlx::Error> {
    let (meant, report) = meant(connection, selection, RETRYABLE).await?;
    let changes: Vec<Change> = meant
        .iter()
        .map(|it| Change {
            remark: Some(remark.unwrap_or("by an operator").to_owned()),
            past: Past::Forgotten,
            ..Change::new(
                it.id,
                (it.status, it.attempt),
                OutboxStatus::Pending,
                Reason::OperatorRetry,
                now_us,
            )
        })
        .collect();
    apply_changes(connection, &changes, now_us).await?;
    triplane_kernel::failpoint!("retry.changed");
    Ok(report)
}

/// One text, so that it runs in one hop. The row of the purge goes first: tombstones refer to it.
const PURGE: &str = "\
    INSERT INTO outbox_purge (public_id, at_us, reason, detail, criteria, intents) \
    VALUES (?3, ?2, 'dispatch.purged.operator', ?4, ?5, json_array_length(?1)); \
    INSERT INTO outbox_tombstone (outbox_id, public_id, dedup_key, status, purge_id) \
    SELECT outbox.id, outbox.public_id, outbox.dedup_key, outbox.status, \
           (SELECT id FROM outbox_purge WHERE public_id = ?3) \
    FROM json_each(?1) AS purged CROSS JOIN outbox ON outbox.id = purged.value; \
    INSERT INTO outbox_transition \
        (outbox_id, ordinal, from_status, to_status, attempt, reason, detail, at_us) \
    SELECT outbox.id, \
        1 + (SELECT max(ordinal) FROM outbox_transition WHERE outbox_id = outbox.id), \
        outbox.status, 'purged', outbox.attempt, 'dispatch.purged.operator', ?3, ?2 \
    FROM json_each(?1) AS purged CROSS JOIN outbox ON outbox.id = purged.value; \
    DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?1))";

/// Takes settled intents away, in the open transaction. Their history stays, their dedup keys stay
/// taken, and one row tells of the purge.
pub(crate) async fn purge(
    connection: &mut SqliteConnection,
    selection: &IntentSelection,
    remark: Option<&str>,
    now_us: i64,
) -> Result<OperatorReport, sqlx::Error> {
    let (meant, mut report) = meant(connection, selection, PURGEABLE).await?;
    if meant.is_empty() {
        return Ok(report);
    }
    triplane_kernel::failpoint!("purge.before");
    let keys: Vec<Value> = meant.iter().map(|it| it.id.into()).collect();
    let purge = Uuid::now_v7().to_string();
    let mut statements = PURGE;
    if triplane_kernel::planted!("purge_without_audit") {
        statements = PURGE.rsplit("; ").next().unwrap_or(PURGE);
    }
    sqlx::query(AssertSqlSafe(statements))
        .bind(Value::Array(keys).to_string())
        .bind(now_us)
        .bind(&purge)
        .bind(remark.map(storable))
        .bind(json!(selection).to_string())
        .execute(connection)
        .await?;
    triplane_kernel::failpoint!("purge.written");
    report.purge = Some(purge);
    Ok(report)
}

pub(crate) const TOMBSTONE: &str = "\
    SELECT outbox_tombstone.public_id, outbox_tombstone.dedup_key, outbox_tombstone.status, \
           outbox_purge.public_id, outbox_purge.at_us, outbox_purge.detail \
    FROM outbox_tombstone JOIN outbox_purge ON outbox_purge.id = outbox_tombstone.purge_id \
    WHERE outbox_tombstone.public_id = ?1";

/// What is left of the intent `id`, if it was purged.
pub(crate) async fn tombstone(
    connection: &mut SqliteConnection,
    id: &str,
) -> Result<Option<PurgedIntent>, sqlx::Error> {
    let row = sqlx::query(TOMBSTONE)
        .bind(id)
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(PurgedIntent::read).transpose()
}

impl Meant {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get(0)?,
            public_id: row.try_get(1)?,
            status: OutboxStatus::read(row, 2)?,
            attempt: row.try_get(3)?,
        })
    }
}

impl PurgedIntent {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get(0)?,
            dedup_key: row.try_get(1)?,
            status: OutboxStatus::read(row, 2)?,
            purge: row.try_get(3)?,
            at_us: row.try_get(4)?,
            detail: row.try_get(5)?,
        })
    }
}
