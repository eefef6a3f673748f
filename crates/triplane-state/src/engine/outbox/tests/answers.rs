use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Either, select};

use crate::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use crate::engine::outbox::OutboxStatus;
use crate::engine::outbox::tests::{only, with_intents, worker};
use crate::engine::testing::{MINUTE, Recorder, Rows, START_US, TestStore, fact, receipt};

/// Delivers the only intent with this answer of the sink, and compares where it stands then.
async fn check(answer: DeliveryResult, status: OutboxStatus, error: Option<&str>, reason: &str) {
    let test = with_intents(1).await;
    let sink = Recorder::answering(move |_| answer.clone());
    worker(&test, sink).deliver_due().await.expect("delivers");
    let (found, attempt, last_error, reasons) = only(&test).await;
    assert_eq!((found, attempt, last_error.as_deref()), (status, 1, error));
    assert_eq!(reasons.last().map(String::as_str), Some(reason));
}

#[tokio::test]
async fn every_answer_of_a_sink_has_its_place() {
    use DeliveryResult::{Delivered, Reject, Retry, Unknown};
    use OutboxStatus as Status;
    let text = |text: &str| text.to_owned();
    check(
        Delivered(None),
        Status::Delivered,
        None,
        "delivered.transport_ok",
    )
    .await;
    check(
        Reject {
            reason: text("no such route"),
        },
        Status::DeadLetter,
        Some("no such route"),
        "dead_letter.rejected",
    )
    .await;
    check(
        Unknown {
            error: text("timed out"),
        },
        Status::Pending,
        Some("timed out"),
        "pending.outcome_unknown",
    )
    .await;
    check(
        Retry {
            error: text("nul \0 in it"),
            after: None,
        },
        Status::Pending,
        Some("nul \u{fffd} in it"),
        "pending.retry_backoff",
    )
    .await;
    check(
        Retry {
            error: "x".repeat(10_000_000),
            after: None,
        },
        Status::Pending,
        Some("x".repeat(2_000).as_str()),
        "pending.retry_backoff",
    )
    .await;
}

#[tokio::test]
async fn a_sink_may_ask_for_more_time_than_the_policy_gives() {
    let test = with_intents(1).await;
    let sink = Recorder::answering(|_| DeliveryResult::Retry {
        error: "busy".to_owned(),
        after: Some(Duration::from_hours(2)),
    });
    let worker = worker(&test, sink);
    worker.deliver_due().await.expect("delivers");
    test.clock.advance(Duration::from_mins(119));
    assert_eq!(worker.deliver_due().await.expect("delivers").retried, 0);
    test.clock.advance(MINUTE);
    assert_eq!(worker.deliver_due().await.expect("delivers").retried, 1);
}

#[tokio::test]
async fn an_expired_intent_is_not_sent() {
    let test = TestStore::open().await;
    let mut unit = test.store.begin(fact("k", "d"));
    let expires_at_us = Some(START_US + 1);
    unit.stage(&Rows {
        expires_at_us,
        ..Rows::default()
    })
    .expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    test.clock.advance(MINUTE);
    let sink = Recorder::delivering();
    let tally = worker(&test, sink.clone())
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!(tally.expired, 1);
    assert!(sink.seen().is_empty());
    assert_eq!(only(&test).await.0, OutboxStatus::Expired);
}

/// A sink that does in `deliver_batch` what a sink must not do.
struct Unruly(Behaviour);

type Behaviour = fn(usize) -> BoxFuture<'static, Vec<DeliveryResult>>;

impl DeliverySink for Unruly {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
    }

    fn deliver<'a>(&'a self, _intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        unreachable!("only batches are delivered")
    }

    fn deliver_batch<'a>(
        &'a self,
        intents: &'a [DeliveryIntent],
    ) -> BoxFuture<'a, Vec<DeliveryResult>> {
        (self.0)(intents.len())
    }
}

#[tokio::test]
async fn a_sink_that_panics_has_failed() {
    let panics: [Behaviour; 2] = [
        |_| panic!("at once"),
        |_| Box::pin(async { panic!("later") }),
    ];
    for sink in panics {
        let test = with_intents(2).await;
        let tally = worker(&test, Arc::new(Unruly(sink)))
            .deliver_due()
            .await
            .expect("delivers");
        assert_eq!(tally.retried, 2);
        let entry = &test.store.outbox(None, 1).await.expect("reads")[0];
        let error = entry.last_error.as_deref().expect("an error");
        assert!(error.starts_with("the sink panicked: "), "{error}");
    }
}

#[tokio::test]
async fn an_intent_over_which_a_sink_panics_takes_no_other_along() {
    let test = with_intents(5).await;
    let sink = Recorder::answering(|intent| {
        assert_ne!(intent.identity(), "k3", "cannot stand it");
        DeliveryResult::Delivered(None)
    });
    let tally = worker(&test, sink).deliver_due().await.expect("delivers");
    assert_eq!((tally.delivered, tally.retried), (4, 1));
    let waits = test
        .store
        .outbox(Some(OutboxStatus::Pending), 9)
        .await
        .expect("reads");
    let waits: Vec<_> = waits.iter().map(|it| it.identity.as_str()).collect();
    assert_eq!(waits, ["k3"]);
}

#[tokio::test]
async fn a_sink_that_hangs_holds_up_no_other() {
    let test = with_intents(3).await;
    let mut unit = test.store.begin(fact("other", "d"));
    unit.stage(&Rows {
        sink: "hangs",
        ..Rows::default()
    })
    .expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    let hangs = Unruly(|_| Box::pin(std::future::pending()));
    let sink = Recorder::delivering();
    let worker = test
        .store
        .delivery()
        .sink("hangs", Arc::new(hangs))
        .sink("sink", sink.clone());
    let all_delivered = async {
        let delivered = Some(OutboxStatus::Delivered);
        while test.store.outbox(delivered, 9).await.expect("reads").len() < 3 {}
    };
    let (delivery, all_delivered) = (pin!(worker.deliver_due()), pin!(all_delivered));
    let first = select(delivery, all_delivered).await;
    let Either::Right(((), _still_waits)) = first else {
        panic!("the delivery as a whole must still wait");
    };
    assert_eq!(sink.seen().len(), 3);
}

#[tokio::test]
async fn an_answer_too_few_is_an_unknown_outcome() {
    let test = with_intents(3).await;
    let sink = Unruly(|_| Box::pin(async { vec![DeliveryResult::Delivered(None)] }));
    let tally = worker(&test, Arc::new(sink))
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!((tally.delivered, tally.unknown), (1, 2));
}

#[tokio::test]
async fn a_sink_that_never_answers_is_given_up() {
    let test = with_intents(2).await;
    let sink = Unruly(|_| Box::pin(std::future::pending()));
    let worker = worker(&test, Arc::new(sink)).attempt_max(Duration::from_millis(1));
    assert_eq!(worker.deliver_due().await.expect("delivers").unknown, 2);
}
