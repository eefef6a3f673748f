use std::sync::Arc;

use futures::FutureExt as _;

use crate::delivery::DeliveryResult;
use crate::engine::outbox::tests::{only, with_intents, worker};
use crate::engine::outbox::{DeliveryTally, OutboxStatus};
use crate::engine::testing::{MINUTE, Recorder, Rows, fact, receipt};
use crate::retry::RetryPolicy;

#[tokio::test]
async fn what_is_committed_is_delivered_once_and_in_order() {
    let test = with_intents(150).await;
    let sink = Recorder::delivering();
    let tally = worker(&test, sink.clone())
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!(
        tally,
        DeliveryTally {
            delivered: 150,
            ..DeliveryTally::default()
        }
    );
    let expected: Vec<_> = (0..150).map(|number| (format!("k{number}"), 1)).collect();
    assert_eq!(sink.seen(), expected);
    let again = worker(&test, sink.clone())
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!(again, DeliveryTally::default());
    assert_eq!(test.store.unsettled().await.expect("counts"), 0);
}

#[tokio::test]
async fn one_batch_is_one_batch() {
    let test = with_intents(100).await;
    let tally = worker(&test, Recorder::delivering())
        .deliver_batch_once()
        .await
        .expect("delivers");
    assert_eq!(tally.delivered, 64);
    assert_eq!(test.store.unsettled().await.expect("counts"), 36);
}

#[tokio::test]
async fn whoever_delivers_is_woken_by_a_commit() {
    let test = with_intents(2).await;
    test.store.enqueued().await;
    let delivered = worker(&test, Recorder::delivering()).deliver_due().await;
    assert_eq!(delivered.expect("delivers").delivered, 2);
    let _recorded = test.commit(fact("k0", "d")).await;
    let again = test.store.enqueued().now_or_never();
    assert!(again.is_none(), "nothing new was enqueued");
}

#[tokio::test]
async fn an_intent_without_its_sink_waits_and_stops_nobody() {
    let test = with_intents(3).await;
    let mut unit = test.store.begin(fact("other", "d"));
    unit.stage(&Rows {
        sink: "elsewhere",
        ..Rows::default()
    })
    .expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    let tally = worker(&test, Recorder::delivering())
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!(tally.delivered, 3);
    let waiting = test
        .store
        .outbox(Some(OutboxStatus::Pending), 9)
        .await
        .expect("reads");
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].sink, "elsewhere");
    let without = worker(&test, Recorder::delivering()).without_sink().await;
    assert_eq!(without.expect("counts"), [("elsewhere".to_owned(), 1)]);
}

#[tokio::test]
async fn a_failed_attempt_waits_longer_each_time_and_ends_in_the_dead_letters() {
    let test = with_intents(1).await;
    let retry = RetryPolicy::new(3, MINUTE, MINUTE * 30).expect("valid");
    let sink = Recorder::failing("no route");
    let worker = worker(&test, sink.clone()).retry(retry);
    let mut tallies = Vec::new();
    // Due at once, then after one minute, then after two more.
    for minutes in [0, 1, 1, 1, 5] {
        test.clock.advance(MINUTE * minutes);
        let tally = worker.deliver_due().await.expect("delivers");
        tallies.push((tally.retried, tally.dead_lettered));
    }
    assert_eq!(tallies, [(1, 0), (1, 0), (0, 0), (0, 1), (0, 0)]);
    let (status, attempt, error, reasons) = only(&test).await;
    assert_eq!((status, attempt), (OutboxStatus::DeadLetter, 3));
    assert_eq!(error.as_deref(), Some("no route"));
    assert_eq!(
        reasons,
        [
            "pending.enqueued",
            "delivering.attempt",
            "pending.retry_backoff",
            "delivering.attempt",
            "pending.retry_backoff",
            "delivering.attempt",
            "dead_letter.max_attempts",
        ]
    );
}

#[tokio::test]
async fn the_key_is_the_same_at_every_attempt() {
    let test = with_intents(1).await;
    let keys = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = {
        let keys = Arc::clone(&keys);
        Recorder::answering(move |intent| {
            keys.lock()
                .expect("not poisoned")
                .push(intent.key().to_owned());
            DeliveryResult::Retry {
                error: "again".to_owned(),
                after: None,
            }
        })
    };
    let worker = worker(&test, sink);
    worker.deliver_due().await.expect("delivers");
    test.clock.advance(MINUTE);
    worker.deliver_due().await.expect("delivers");
    let keys = keys.lock().expect("not poisoned").clone();
    let shown = test.store.outbox(None, 1).await.expect("reads")[0]
        .key
        .clone();
    assert_eq!(keys, [shown.clone(), shown]);
}
