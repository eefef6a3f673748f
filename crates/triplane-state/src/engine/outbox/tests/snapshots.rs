use sqlx::AssertSqlSafe;

use crate::commit::Confirmation;
use crate::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use crate::engine::outbox::OutboxStatus;
use crate::engine::outbox::tests::{only, with_intents, worker};
use crate::engine::testing::{Recorder, Rows, TestStore, fact, receipt};
use crate::error::StateError;

async fn to(test: &TestStore, key: &str, deliver_to: Option<&'static str>) {
    let mut unit = test.store.begin(fact(key, "d"));
    unit.stage(&Rows {
        deliver_to,
        confirmation: Confirmation::BySink,
        ..Rows::default()
    })
    .expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
}

#[tokio::test]
async fn the_destination_is_frozen_with_the_intent_and_shared_by_digest() {
    let test = TestStore::open().await;
    for (key, deliver_to) in [
        ("1", Some("seat-1")),
        ("2", Some("seat-2")),
        ("3", Some("seat-1")),
    ] {
        to(&test, key, deliver_to).await;
    }
    assert_eq!(test.count("delivery_snapshot").await, 2);
    let sink = Recorder::answering(|intent| {
        DeliveryResult::Delivered(intent.deliver_to().map(str::to_owned))
    });
    worker(&test, sink).deliver_due().await.expect("delivers");
    let entries = test.store.outbox(None, 9).await.expect("reads");
    let told: Vec<_> = entries.iter().map(|it| it.receipt.as_deref()).collect();
    assert_eq!(told, [Some("seat-1"), Some("seat-2"), Some("seat-1")]);
    let shown: Vec<_> = entries.iter().map(|it| it.deliver_to.as_deref()).collect();
    assert_eq!(shown, told);
    assert_eq!(entries[0].snapshot, entries[2].snapshot);
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_read_takes_only_its_own_intents_along() {
    for change in [
        "version = 2",
        "body = '{'",
        "body = replace(body, 'seat', 'chair')",
        "body = NULL",
    ] {
        let test = TestStore::open().await;
        to(&test, "broken", Some("seat-1")).await;
        let mut raw = test.raw().await;
        let sql = format!("UPDATE OR IGNORE delivery_snapshot SET {change}");
        let changed = sqlx::query(AssertSqlSafe(sql)).execute(&mut raw).await;
        if changed.expect("runs").rows_affected() == 0 {
            // The schema itself refuses this one.
            assert_eq!(change, "body = NULL");
            continue;
        }
        let sink = Recorder::delivering();
        let tally = worker(&test, sink.clone())
            .deliver_due()
            .await
            .expect("delivers");
        assert_eq!((tally.delivered, tally.dead_lettered), (0, 1), "{change}");
        assert!(sink.seen().is_empty());
        let (status, _, error, reasons) = only(&test).await;
        assert_eq!(status, OutboxStatus::DeadLetter);
        assert!(
            error.is_some_and(|error| error.starts_with("its snapshot")),
            "{change}"
        );
        let reason = reasons.last().map(String::as_str);
        assert_eq!(reason, Some("dead_letter.snapshot_unreadable"), "{change}");
        to(&test, "whole", Some("seat-9")).await;
        let tally = worker(&test, sink).deliver_due().await.expect("delivers");
        assert_eq!(tally.delivered, 1);
    }
}

#[tokio::test]
async fn an_intent_from_before_there_were_snapshots_is_delivered() {
    let test = with_intents(1).await;
    let mut raw = test.raw().await;
    sqlx::query("UPDATE outbox SET snapshot_id = NULL")
        .execute(&mut raw)
        .await
        .expect("writes");
    let tally = worker(&test, Recorder::delivering()).deliver_due().await;
    assert_eq!(tally.expect("delivers").delivered, 1);
}

#[tokio::test]
async fn an_intent_without_a_place_to_go_is_refused() {
    for (sink, deliver_to) in [
        ("", None),
        (" ", None),
        ("a\0", None),
        ("a", Some("")),
        ("a", Some("\0")),
    ] {
        let test = TestStore::open().await;
        let mut unit = test.store.begin(fact("k", "d"));
        let refused = unit.stage(&Rows {
            sink,
            deliver_to,
            ..Rows::default()
        });
        assert!(
            matches!(refused, Err(StateError::IntentRefused { .. })),
            "{refused:?}"
        );
    }
}

/// A sink that takes little.
struct Small;

impl DeliverySink for Small {
    fn declaration(&self) -> SinkDeclaration {
        let window = Idempotency::Window(std::time::Duration::from_mins(2));
        SinkDeclaration::new(window, SinkDurability::Accepted).payload_bytes_max(30)
    }

    fn deliver<'a>(
        &'a self,
        intent: &'a DeliveryIntent,
    ) -> futures::future::BoxFuture<'a, DeliveryResult> {
        assert!(
            intent.payload().get().len() <= 30,
            "what is too large is not sent"
        );
        Box::pin(async { DeliveryResult::Delivered(None) })
    }
}

#[tokio::test]
async fn what_a_sink_does_not_take_is_given_up_at_once() {
    let test = TestStore::open().await;
    let _receipt = receipt(test.commit(fact("k", "d")).await);
    let _receipt = receipt(test.commit(fact("long", &"d".repeat(100))).await);
    let tally = worker(&test, std::sync::Arc::new(Small))
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!((tally.delivered, tally.dead_lettered), (1, 1));
    let dead = test
        .store
        .outbox(Some(OutboxStatus::DeadLetter), 9)
        .await
        .expect("reads");
    let error = dead[0].last_error.as_deref().expect("an error");
    assert!(error.contains("the sink takes 30"), "{error}");
    // What the sink declares is shown with its intents.
    assert_eq!(dead[0].may_duplicate_after_us, Some(120_000_000));
}
