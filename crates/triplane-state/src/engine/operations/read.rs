//! Reading a session's operations in pages, and operations by their identities.

use std::collections::HashMap;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::engine::operations::record::{DeliveryRecord, OperationPage, OperationRecord};

/// A page ends after the row that brings its payloads above this.
const PAGE_BYTES_MAX: i64 = 8 << 20;

/// Operations that are asked for by name come without a payload that is longer.
const NAMED_BYTES_MAX: i64 = 64 << 10;

macro_rules! operations {
    ($payload:literal, $from:literal, $end:literal) => {
        concat!(
            "SELECT operation.id, operation.public_id, operation.identity, session.name, ",
            "signal_log.sequence, operation.event, operation.subject, operation.outcome, ",
            "operation.occurred_at_us, operation.committed_at_us, audit.decision, ",
            "audit.enforcement, audit.rule, audit.reason, audit.notes, audit.arguments_before, ",
            "audit.arguments_after, signal_log.payload_type, signal_log.payload_version, ",
            $payload,
            ", signal_log.id = operation.first_signal FROM ",
            $from,
            " JOIN session ON session.id = signal_log.session_id ",
            "LEFT JOIN audit ON audit.id = operation.first_audit ",
            $end,
        )
    };
}

/// A page of a session, which begins after a sequence. An operation stands where its first signal
/// does; how long a payload is, is known without reading it.
pub(crate) const PAGE: &str = operations!(
    "signal_log.payload",
    "(SELECT id AS on_page, sum(bytes) OVER (ORDER BY sequence) - bytes AS bytes_before \
      FROM (SELECT id, sequence, octet_length(payload) AS bytes FROM signal_log \
            WHERE session_id = (SELECT id FROM session WHERE name = ?1) AND sequence > ?2 \
            ORDER BY sequence LIMIT ?3)) \
     JOIN signal_log ON signal_log.id = on_page \
     JOIN operation ON operation.id = signal_log.operation_id",
    "WHERE bytes_before < ?4"
);

pub(crate) const NAMED: &str = operations!(
    "CASE WHEN octet_length(signal_log.payload) <= ?2 THEN signal_log.payload END",
    "json_each(?1) AS wanted \
     JOIN operation ON operation.identity = wanted.value \
     JOIN signal_log ON signal_log.id = operation.first_signal",
    ""
);

pub(crate) const DELIVERIES: &str = "\
    SELECT operation.id, outbox.id, outbox.public_id, outbox.sink, outbox.status, \
           outbox.attempt, outbox.last_error, outbox.updated_at_us \
    FROM json_each(?1) AS wanted \
    JOIN operation ON operation.id = wanted.value \
    JOIN outbox ON outbox.id BETWEEN operation.first_intent \
                                 AND operation.first_intent + operation.intents - 1";

/// Reads `signals_max` signals of `session` at most, and the operations that begin among them.
pub(crate) async fn page(
    connection: &mut SqliteConnection,
    session: &str,
    after: u64,
    signals_max: u32,
) -> Result<OperationPage, sqlx::Error> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = sqlx::query(PAGE)
        .bind(session)
        .bind(after)
        .bind(signals_max)
        .bind(PAGE_BYTES_MAX)
        .fetch_all(&mut *connection)
        .await?;
    let sequences = rows.iter().map(|row| row.try_get::<i64, _>(4));
    let sequences = sequences.collect::<Result<Vec<_>, _>>()?;
    let mut operations = whole(connection, &rows).await?;
    operations.sort_unstable_by_key(|operation| operation.sequence);
    Ok(OperationPage {
        operations,
        next: sequences.into_iter().max().map(i64::unsigned_abs),
    })
}

/// Reads the operations among `identities` that are on record.
pub(crate) async fn named(
    connection: &mut SqliteConnection,
    identities: &[String],
) -> Result<Vec<OperationRecord>, sqlx::Error> {
    if identities.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(NAMED)
        .bind(serde_json::json!(identities).to_string())
        .bind(NAMED_BYTES_MAX)
        .fetch_all(&mut *connection)
        .await?;
    whole(connection, &rows).await
}

async fn whole(
    connection: &mut SqliteConnection,
    rows: &[SqliteRow],
) -> Result<Vec<OperationRecord>, sqlx::Error> {
    let mut places = HashMap::with_capacity(rows.len());
    let mut operations = Vec::with_capacity(rows.len());
    for row in rows {
        let first: bool = row.try_get(20)?;
        if first {
            places.insert(row.try_get::<i64, _>(0)?, operations.len());
            operations.push(OperationRecord::read(row)?);
        }
    }
    let keys: Vec<i64> = places.keys().copied().collect();
    let mut rows = sqlx::query(DELIVERIES)
        .bind(serde_json::json!(keys).to_string())
        .fetch_all(connection)
        .await?
        .iter()
        .map(|row| {
            Ok((
                row.try_get(0)?,
                row.try_get(1)?,
                DeliveryRecord::read(row, 2)?,
            ))
        })
        .collect::<Result<Vec<(i64, i64, DeliveryRecord)>, sqlx::Error>>()?;
    rows.sort_unstable_by_key(|(_, intent, _)| *intent);
    for (operation, _, delivery) in rows {
        operations[places[&operation]].deliveries.push(delivery);
    }
    Ok(operations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::{DeliverySink, Idempotency, SinkDeclaration, SinkDurability};
    use crate::engine::outbox::OutboxStatus;
    use crate::engine::testing::{Recorder, Rows, TestStore, assert_looks_up, fact, receipt};

    #[tokio::test]
    async fn pages_follow_each_other_with_evidence_and_deliveries() {
        let test = TestStore::open().await;
        for number in 0..7 {
            let mut told = fact(&number.to_string(), "d");
            told.session = format!("s{}", number % 2);
            let _receipt = receipt(test.commit(told).await);
        }
        let sink = Recorder::delivering();
        assert_eq!(
            sink.declaration(),
            SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
        );
        let worker = test.store.delivery().sink("sink", sink);
        worker.deliver_due().await.expect("delivers");

        let (mut all, mut after) = (Vec::new(), Some(0));
        while let Some(from) = after {
            let page = test.store.operations("s0", from, 2).await.expect("reads");
            assert!(page.operations.len() <= 2);
            after = page.next;
            all.extend(page.operations);
        }
        let read: Vec<_> = all
            .iter()
            .map(|it| (it.sequence, it.identity.as_str()))
            .collect();
        assert_eq!(read, [(1, "0"), (2, "2"), (3, "4"), (4, "6")]);
        for operation in &all {
            let evidence = operation.evidence.as_ref().expect("judged");
            assert_eq!(evidence.rule.as_deref(), Some("rm.root"));
            assert_eq!(operation.deliveries.len(), 1);
            assert_eq!(operation.deliveries[0].status, OutboxStatus::Delivered);
        }
        let nobody = test.store.operations("nobody", 0, 2).await.expect("reads");
        assert_eq!((nobody.operations.len(), nobody.next), (0, None));
    }

    #[tokio::test]
    async fn an_operation_of_several_signals_stands_once_with_all_deliveries() {
        let test = TestStore::open().await;
        let mut unit = test.unit(fact("twice", "d"));
        unit.stage(&Rows::default()).expect("stages");
        let _receipt = receipt(unit.commit().await.expect("commits"));
        for limit in [1, 10] {
            let (mut all, mut after) = (Vec::new(), Some(0));
            while let Some(from) = after {
                let page = test
                    .store
                    .operations("s1", from, limit)
                    .await
                    .expect("reads");
                after = page.next;
                all.extend(page.operations);
            }
            assert_eq!(all.len(), 1, "pages of {limit}");
            assert_eq!(all[0].deliveries.len(), 2, "pages of {limit}");
        }
    }

    #[tokio::test]
    async fn operations_are_found_by_identity_and_long_payloads_stay_behind() {
        let test = TestStore::open().await;
        for (key, length) in [("short", 10), ("long", 1 << 20)] {
            let digest = "d".repeat(length);
            let _receipt = receipt(test.commit(fact(key, &digest)).await);
        }
        let identities = ["long", "missing", "short"].map(str::to_owned);
        let mut found = test
            .store
            .operations_named(&identities)
            .await
            .expect("reads");
        found.sort_by(|one, other| one.identity.cmp(&other.identity));
        let read: Vec<_> = found
            .iter()
            .map(|it| (it.identity.as_str(), it.payload.is_some()))
            .collect();
        assert_eq!(read, [("long", false), ("short", true)]);
        assert_eq!(
            test.store.operations_named(&[]).await.expect("reads").len(),
            0
        );
    }

    #[tokio::test]
    async fn a_page_is_bounded_by_its_bytes() {
        let test = TestStore::open().await;
        let megabytes = "d".repeat(3 << 20);
        for key in ["1", "2", "3", "4"] {
            let _receipt = receipt(test.commit(fact(key, &megabytes)).await);
        }
        let page = test.store.operations("s1", 0, 100).await.expect("reads");
        assert_eq!((page.operations.len(), page.next), (3, Some(3)));
    }

    #[tokio::test]
    async fn nothing_is_read_from_end_to_end() {
        let test = TestStore::open().await;
        for sql in [PAGE, NAMED, DELIVERIES] {
            assert_looks_up(&test, sql).await;
        }
    }
}
