use std::sync::{Arc, Mutex};

use crate::commit::Confirmation;
use crate::delivery::DeliveryResult;
use crate::engine::outbox::tests::{only, worker};
use crate::engine::outbox::{Acknowledgement, OutboxStatus};
use crate::engine::testing::{MINUTE, Recorder, Rows, TestStore, fact, receipt};
use crate::retry::RetryPolicy;

/// A store with one intent that its consumer is to acknowledge; answers its id too.
async fn asking() -> (TestStore, String) {
    let test = TestStore::open().await;
    let mut unit = test.store.begin(fact("k", "d"));
    unit.stage(&Rows {
        confirmation: Confirmation::ByConsumer,
        ..Rows::default()
    })
    .expect("stages");
    let receipt = receipt(unit.commit().await.expect("commits"));
    let id = receipt.intents()[0].id.to_string();
    (test, id)
}

/// A sink that answers `Delivered` and keeps the tokens that came along.
fn keeping_tokens() -> (Arc<Recorder>, Arc<Mutex<Vec<String>>>) {
    let tokens: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&tokens);
    let sink = Recorder::answering(move |intent| {
        let token = intent.ack_token().expect("a token").to_owned();
        kept.lock().expect("not poisoned").push(token);
        DeliveryResult::Delivered(None)
    });
    (sink, tokens)
}

#[tokio::test]
async fn a_taken_intent_is_sent_again_until_it_is_acknowledged() {
    let (test, id) = asking().await;
    let (sink, tokens) = keeping_tokens();
    let worker = worker(&test, sink);
    assert_eq!(worker.deliver_due().await.expect("delivers").delivered, 1);
    assert_eq!(only(&test).await.0, OutboxStatus::Pending);
    test.clock.advance(MINUTE / 2);
    assert_eq!(worker.deliver_due().await.expect("delivers").delivered, 1);

    let sent = tokens.lock().expect("not poisoned").clone();
    assert_ne!(sent[0], sent[1], "another token at each attempt");
    // Any attempt's token acknowledges, and which one it was is on record.
    let acked = test.store.acknowledge(&id, &sent[0]).await.expect("writes");
    assert_eq!(acked, Acknowledgement::Acked { attempt: 1 });
    let again = test.store.acknowledge(&id, &sent[1]).await.expect("reads");
    assert_eq!(again, Acknowledgement::Before);
    let (status, attempt, _, reasons) = only(&test).await;
    assert_eq!((status, attempt), (OutboxStatus::Acked, 2));
    assert_eq!(reasons.last().map(String::as_str), Some("acked.consumer"));
    test.clock.advance(MINUTE * 60);
    assert_eq!(worker.deliver_due().await.expect("delivers").delivered, 0);
}

#[tokio::test]
async fn no_token_stands_in_the_store() {
    let (test, _id) = asking().await;
    let (sink, tokens) = keeping_tokens();
    worker(&test, sink).deliver_due().await.expect("delivers");
    let sent = tokens.lock().expect("not poisoned")[0].clone();
    assert_eq!(sent.len(), 32);
    test.store.close().await.expect("closes");
    let bytes = std::fs::read(&test.path).expect("a file");
    let found = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
    assert!(!found(&sent));
    assert!(found(&crate::engine::outbox::ack::token_digest(&sent)));
}

#[tokio::test]
async fn what_does_not_fit_changes_nothing_and_says_why() {
    let (test, id) = asking().await;
    let ack = async |id: &str, token: &str| test.store.acknowledge(id, token).await.expect("reads");
    assert_eq!(ack("nobody", "x").await, Acknowledgement::Unknown);
    assert_eq!(ack(&id, "x").await, Acknowledgement::NotSent);

    let (sink, tokens) = keeping_tokens();
    let once = RetryPolicy::new(1, MINUTE, MINUTE).expect("valid");
    let worker = worker(&test, sink).retry(once);
    let tally = worker.deliver_due().await.expect("delivers");
    assert_eq!((tally.delivered, tally.dead_lettered), (0, 1));
    let (_, _, error, reasons) = only(&test).await;
    assert_eq!(
        error.as_deref(),
        Some("it was taken by the sink and never acknowledged")
    );
    assert_eq!(
        reasons.last().map(String::as_str),
        Some("dead_letter.ack_timeout")
    );

    let token = tokens.lock().expect("not poisoned")[0].clone();
    for wrong in ["", "x", &token[1..], &token.to_uppercase()[..31]] {
        assert_eq!(ack(&id, wrong).await, Acknowledgement::WrongToken);
    }
    let status = OutboxStatus::DeadLetter;
    assert_eq!(ack(&id, &token).await, Acknowledgement::TooLate { status });

    let _receipt = receipt(test.commit(fact("other", "d")).await);
    let other = test.store.outbox(None, 1).await.expect("reads")[0]
        .id
        .clone();
    assert_eq!(ack(&other, &token).await, Acknowledgement::NotAsked);
}

#[tokio::test]
async fn an_acknowledgement_during_the_send_wins_over_its_result() {
    let (test, id) = asking().await;
    let store = test.store.clone();
    let sink = Recorder::answering(|_| DeliveryResult::Delivered(None));
    let acking = Acking { store, id, sink };
    let tally = worker(&test, Arc::new(acking))
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!((tally.delivered, tally.superseded), (0, 1));
    assert_eq!(only(&test).await.0, OutboxStatus::Acked);
}

/// A sink whose consumer acknowledges before the sink has answered.
struct Acking {
    store: crate::engine::handle::Store,
    id: String,
    sink: Arc<Recorder>,
}

impl crate::delivery::DeliverySink for Acking {
    fn declaration(&self) -> crate::delivery::SinkDeclaration {
        self.sink.declaration()
    }

    fn deliver<'a>(
        &'a self,
        intent: &'a crate::delivery::DeliveryIntent,
    ) -> futures::future::BoxFuture<'a, DeliveryResult> {
        Box::pin(async move {
            let token = intent.ack_token().expect("a token");
            let acked = self.store.acknowledge(&self.id, token).await;
            assert_eq!(
                acked.expect("writes"),
                Acknowledgement::Acked { attempt: 1 }
            );
            self.sink.deliver(intent).await
        })
    }
}

#[tokio::test]
async fn the_schema_refuses_an_acknowledgement_of_what_was_never_sent() {
    let (test, _id) = asking().await;
    let acked = "UPDATE outbox SET status = 'acked'";
    let mut raw = test.raw().await;
    assert!(sqlx::query(acked).execute(&mut raw).await.is_err());
    let claimed = "UPDATE outbox SET attempt = 1, ack_required = 0";
    sqlx::query(claimed)
        .execute(&mut raw)
        .await
        .expect("writes");
    assert!(sqlx::query(acked).execute(&mut raw).await.is_err());
}
