//! From a claimed attempt to the intent that a sink gets.

use std::collections::HashMap;

use serde_json::value::RawValue;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::delivery::DeliveryIntent;
use crate::engine::digest::sha256_hex;
use crate::engine::outbox::claim::ClaimedAttempt;
use crate::engine::outbox::settle::Unsendable;
use crate::engine::outbox::status::Reason;
use crate::engine::snapshot::read_snapshot;

/// The payload is not copied into the outbox: it is read from the signal, which never changes.
pub(crate) const LOAD: &str = "\
    SELECT outbox.id, outbox.public_id, outbox.sink, operation.identity, session.name, \
           signal_log.sequence, signal_log.kind, signal_log.occurred_at_us, \
           signal_log.payload_type, signal_log.payload_version, signal_log.payload, \
           outbox.snapshot_id, delivery_snapshot.version, delivery_snapshot.digest, \
           delivery_snapshot.body \
    FROM json_each(?1) AS claimed \
    CROSS JOIN outbox ON outbox.id = claimed.value \
    JOIN signal_log ON signal_log.id = outbox.signal_id \
    JOIN operation ON operation.id = signal_log.operation_id \
    JOIN session ON session.id = signal_log.session_id \
    LEFT JOIN delivery_snapshot ON delivery_snapshot.id = outbox.snapshot_id";

/// A claimed attempt with its intent, or with the reason why that cannot be sent.
pub(crate) type Loaded = (ClaimedAttempt, Result<DeliveryIntent, Unsendable>);

/// Reads the intents of `attempts`, in the same order.
pub(crate) async fn load(
    connection: &mut SqliteConnection,
    store_id: &str,
    attempts: &[ClaimedAttempt],
) -> Result<Vec<Loaded>, sqlx::Error> {
    let ids: Vec<i64> = attempts.iter().map(|attempt| attempt.id).collect();
    let rows = sqlx::query(LOAD)
        .bind(serde_json::Value::from(ids).to_string())
        .fetch_all(connection)
        .await?;
    let mut rows: HashMap<i64, SqliteRow> = rows
        .into_iter()
        .map(|row| Ok::<_, sqlx::Error>((row.try_get(0)?, row)))
        .collect::<Result<_, _>>()?;
    let loaded = attempts.iter().map(|claimed| {
        let intent = rows
            .remove(&claimed.id)
            .ok_or_else(|| unreadable("its signal is gone".to_owned()))
            .and_then(|row| {
                let (deliver_to, filter) = frozen(&row)?;
                let intent = intent(&row, store_id, claimed);
                let intent = intent.map_err(|error| unreadable(error.to_string()))?;
                Ok(DeliveryIntent {
                    deliver_to,
                    filter,
                    ..intent
                })
            });
        (*claimed, intent)
    });
    Ok(loaded.collect())
}

pub(crate) fn unreadable(says: String) -> Unsendable {
    Unsendable {
        reason: Reason::Unreadable,
        says,
    }
}

/// The destination and the filter that the intent was enqueued with. An intent from before there
/// were snapshots has neither.
fn frozen(row: &SqliteRow) -> Result<(Option<String>, Option<Box<RawValue>>), Unsendable> {
    let read = || {
        if row.try_get::<Option<i64>, _>(11)?.is_none() {
            return Ok(Ok((None, None)));
        }
        let (version, digest, body) = (row.try_get(12)?, row.try_get(13)?, row.try_get(14)?);
        let snapshot = read_snapshot(row.try_get(2)?, version, digest, body);
        Ok(snapshot.map(|snapshot| (snapshot.deliver_to, snapshot.filter)))
    };
    read()
        .unwrap_or_else(|error: sqlx::Error| Err(error.to_string()))
        .map_err(|says| Unsendable {
            reason: Reason::Snapshot,
            says,
        })
}

fn intent(
    row: &SqliteRow,
    store_id: &str,
    claimed: &ClaimedAttempt,
) -> Result<DeliveryIntent, sqlx::Error> {
    let id: String = row.try_get(1)?;
    let payload = RawValue::from_string(row.try_get(10)?)
        .map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(DeliveryIntent {
        key: delivery_key(store_id, &id),
        id,
        sink: row.try_get(2)?,
        identity: row.try_get(3)?,
        attempt: claimed.attempt,
        ack_token: claimed.ack_token.map(|token| token.simple().to_string()),
        deliver_to: None,
        filter: None,
        session: row.try_get(4)?,
        sequence: row.try_get::<i64, _>(5)?.unsigned_abs(),
        kind: row.try_get(6)?,
        occurred_at_us: row.try_get(7)?,
        payload_type: row.try_get(8)?,
        payload_version: row.try_get(9)?,
        payload,
    })
}

/// The idempotency key: the same at every attempt, also out of a backup of the store.
pub(crate) fn delivery_key(store_id: &str, intent: &str) -> String {
    sha256_hex([store_id.as_bytes(), intent.as_bytes()])
}
