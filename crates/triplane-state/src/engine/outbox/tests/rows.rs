use sqlx::AssertSqlSafe;

use crate::engine::outbox::OutboxStatus;
use crate::engine::outbox::ack::{FOUND, ISSUE, TOKENS};
use crate::engine::outbox::change::{HELD, HISTORY, UPDATE};
use crate::engine::outbox::claim::{AHEAD, DUE, HOLD, IS_DUE, LEASED};
use crate::engine::outbox::direct;
use crate::engine::outbox::load::LOAD;
use crate::engine::outbox::operator::TOMBSTONE;
use crate::engine::outbox::tests::with_intents;
use crate::engine::testing::{TestStore, assert_looks_up};

#[tokio::test]
async fn the_schema_refuses_every_edge_that_the_graph_lacks() {
    for from in OutboxStatus::ALL {
        for to in OutboxStatus::ALL {
            let test = with_intents(1).await;
            let mut raw = test.raw().await;
            // Puts the row into the state without taking an edge.
            let lease = |status| match status {
                OutboxStatus::Delivering => Some("holder"),
                _ => None,
            };
            for sql in [
                "DROP TRIGGER outbox_edge",
                "UPDATE outbox SET attempt = 1, ack_required = 1",
            ] {
                sqlx::query(sql).execute(&mut raw).await.expect("runs");
            }
            let update = "UPDATE outbox SET status = ?1, lease_holder = ?2";
            sqlx::query(update)
                .bind(from.as_str())
                .bind(lease(from))
                .execute(&mut raw)
                .await
                .expect("runs");
            let schema = include_str!("../../schema/migrations/0008_plain_checks.sql");
            let start = schema.find("CREATE TRIGGER outbox_edge").expect("is there");
            let trigger = &schema[start..start + schema[start..].find("END;").expect("ends") + 4];
            sqlx::raw_sql(trigger)
                .execute(&mut raw)
                .await
                .expect("creates");

            let taken = sqlx::query(update)
                .bind(to.as_str())
                .bind(lease(to))
                .execute(&mut raw)
                .await;
            assert_eq!(
                taken.is_ok(),
                from.may_become(to),
                "{from:?} to {to:?}: {taken:?}"
            );
        }
    }
}

#[tokio::test]
async fn what_delivery_reads_and_writes_is_looked_up() {
    let test = TestStore::open().await;
    for sql in [
        DUE,
        IS_DUE,
        AHEAD,
        HOLD,
        LEASED,
        LOAD,
        HELD,
        HISTORY,
        UPDATE,
        ISSUE,
        FOUND,
        TOKENS,
        TOMBSTONE,
        direct::DUE,
        direct::HOLD,
        direct::HISTORY,
        direct::UPDATE,
        direct::LOAD,
    ] {
        assert_looks_up(&test, sql).await;
    }
}

#[tokio::test]
async fn every_state_can_be_listed() {
    let test = with_intents(6).await;
    let mut raw = test.raw().await;
    for trigger in ["outbox_edge", "outbox_acked"] {
        sqlx::query(AssertSqlSafe(format!("DROP TRIGGER {trigger}")))
            .execute(&mut raw)
            .await
            .expect("drops");
    }
    for (id, status) in (1_i64..).zip(OutboxStatus::ALL) {
        let lease = (status == OutboxStatus::Delivering).then_some("holder");
        sqlx::query("UPDATE outbox SET attempt = 1, status = ?, lease_holder = ? WHERE id = ?")
            .bind(status.as_str())
            .bind(lease)
            .bind(id)
            .execute(&mut raw)
            .await
            .expect("sets");
    }
    for (number, status) in OutboxStatus::ALL.into_iter().enumerate() {
        let listed = test.store.outbox(Some(status), 9).await.expect("reads");
        let listed: Vec<_> = listed
            .iter()
            .map(|it| (it.identity.as_str(), it.status))
            .collect();
        assert_eq!(listed, [(format!("k{number}").as_str(), status)]);
    }
    let all = test.store.outbox(None, 2).await.expect("reads");
    let all: Vec<_> = all.iter().map(|it| it.identity.as_str()).collect();
    assert_eq!(all, ["k5", "k4"]);
    let stats = test.store.stats().await.expect("counts");
    assert_eq!((stats.intents.total(), stats.intents.unsettled()), (6, 2));
}
