use crate::engine::commit::Enqueued;
use crate::engine::outbox::tests::{only, with_intents, worker};
use crate::engine::outbox::{IntentSelection, OutboxStatus};
use crate::engine::testing::{MINUTE, Recorder, Rows, START_US, TestStore, fact, receipt};
use crate::retry::RetryPolicy;

/// A store whose `count` intents were all given up.
async fn given_up(count: usize) -> TestStore {
    let test = with_intents(count).await;
    let once = RetryPolicy::new(1, MINUTE, MINUTE).expect("valid");
    let worker = worker(&test, Recorder::failing("no route")).retry(once);
    let tally = worker.deliver_due().await.expect("delivers");
    assert_eq!(tally.dead_lettered, count as u64);
    test
}

#[tokio::test]
async fn an_operator_sends_again_what_was_given_up() {
    let test = given_up(1).await;
    let named = IntentSelection::new().ids([test.store.outbox(None, 1).await.expect("reads")[0]
        .id
        .clone()]);
    let preview = test.store.preview_retry(&named).await.expect("reads");
    assert_eq!(
        only(&test).await.0,
        OutboxStatus::DeadLetter,
        "only looked at"
    );
    let report = test
        .store
        .retry(named.clone(), Some("the broker is back"))
        .await
        .expect("writes");
    assert_eq!((&preview, report.intents.len()), (&report, 1));

    let (status, attempt, error, reasons) = only(&test).await;
    assert_eq!((status, attempt, error), (OutboxStatus::Pending, 1, None));
    assert_eq!(
        reasons.last().map(String::as_str),
        Some("pending.operator_retry")
    );
    let entry = test.store.outbox(None, 1).await.expect("reads").remove(0);
    assert_eq!(
        (entry.failures, entry.interrupted, entry.unacked),
        (0, 0, 0)
    );
    let history = test.store.outbox_entry(&entry.id).await.expect("reads");
    let last = history
        .expect("is there")
        .transitions
        .pop()
        .expect("a change");
    assert_eq!(last.detail.as_deref(), Some("the broker is back"));

    let sink = Recorder::delivering();
    worker(&test, sink.clone())
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!(sink.seen(), [("k0".to_owned(), 2)], "the fence goes on");
    let again = test.store.retry(named, None).await.expect("reads");
    assert_eq!(again.intents, Vec::<String>::new());
    assert_eq!(again.refused[0].1, Some(OutboxStatus::Delivered));
}

#[tokio::test]
async fn an_expired_intent_that_is_sent_again_has_time_again() {
    let test = TestStore::open().await;
    let mut unit = test.store.begin(fact("k", "d"));
    unit.stage(&Rows {
        expires_at_us: Some(START_US + 1),
        ..Rows::default()
    })
    .expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    test.clock.advance(MINUTE);
    let worker = worker(&test, Recorder::delivering());
    assert_eq!(worker.deliver_due().await.expect("delivers").expired, 1);
    let report = test.store.retry(IntentSelection::new(), None).await;
    assert_eq!(report.expect("writes").intents.len(), 1);
    assert_eq!(worker.deliver_due().await.expect("delivers").delivered, 1);
}

#[tokio::test]
async fn a_selection_means_what_it_says() {
    let test = given_up(3).await;
    test.clock.advance(MINUTE);
    let mut unit = test.store.begin(fact("later", "d"));
    unit.stage(&Rows {
        sink: "elsewhere",
        ..Rows::default()
    })
    .expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    let once = RetryPolicy::new(1, MINUTE, MINUTE).expect("valid");
    let worker = test.store.delivery().retry(once);
    let worker = worker.sink("elsewhere", Recorder::failing("no"));
    worker.deliver_due().await.expect("delivers");

    let check = async |selection: IntentSelection, count: usize| {
        let report = test.store.preview_retry(&selection).await.expect("reads");
        assert_eq!(report.intents.len(), count, "{selection:?}");
    };
    check(IntentSelection::new(), 4).await;
    check(IntentSelection::new().sink("elsewhere"), 1).await;
    check(IntentSelection::new().before_us(START_US + 1), 3).await;
    check(IntentSelection::new().status(OutboxStatus::Expired), 0).await;
    check(IntentSelection::new().status(OutboxStatus::Delivered), 0).await;
    check(IntentSelection::new().ids(["nobody"]), 0).await;
    check(IntentSelection::new().ids(Vec::<String>::new()), 0).await;
}

#[tokio::test]
async fn a_purge_takes_settled_intents_and_leaves_a_trace() {
    let test = TestStore::open().await;
    for key in ["delivered", "waiting"] {
        let mut unit = test.store.begin(fact(key, "d"));
        unit.stage(&Rows {
            sink: if key == "waiting" {
                "elsewhere"
            } else {
                "sink"
            },
            dedup_key: Some(key.to_owned()),
            ..Rows::default()
        })
        .expect("stages");
        let _receipt = receipt(unit.commit().await.expect("commits"));
    }
    worker(&test, Recorder::delivering())
        .deliver_due()
        .await
        .expect("delivers");
    let delivered = test.store.outbox(Some(OutboxStatus::Delivered), 9).await;
    let id = delivered.expect("reads")[0].id.clone();

    let all = IntentSelection::new();
    let preview = test.store.preview_purge(&all).await.expect("reads");
    assert_eq!((preview.intents.len(), preview.purge), (1, None));
    assert_eq!(test.count("outbox").await, 2, "only looked at");
    let report = test
        .store
        .purge(all.clone(), Some("a month old"))
        .await
        .expect("writes");
    assert_eq!(report.intents, std::slice::from_ref(&id));
    assert_eq!(test.count("outbox").await, 1, "what waits stays");
    assert_eq!(test.count("outbox_transition").await, 5, "history stays");
    let purged = test.store.purged(&id).await.expect("reads").expect("left");
    assert_eq!(Some(&purged.purge), report.purge.as_ref());
    assert_eq!(purged.detail.as_deref(), Some("a month old"));
    assert_eq!(purged.dedup_key.as_deref(), Some("delivered"));

    // Its key is taken still: a producer that tells it again enqueues nothing.
    let mut unit = test.store.begin(fact("told again", "d"));
    unit.stage(&Rows {
        dedup_key: Some("delivered".to_owned()),
        ..Rows::default()
    })
    .expect("stages");
    let receipt = receipt(unit.commit().await.expect("commits"));
    assert_eq!(receipt.intents()[0].enqueued, Enqueued::Purged);
    assert_eq!(receipt.intents()[0].id.to_string(), id);

    let nothing = test.store.purge(all, None).await.expect("reads");
    assert_eq!((nothing.intents.len(), nothing.purge), (0, None));
    assert_eq!(
        test.count("outbox_purge").await,
        1,
        "an empty purge leaves no row"
    );
}

#[tokio::test]
async fn the_number_of_a_purged_intent_is_given_to_no_other() {
    let test = with_intents(2).await;
    worker(&test, Recorder::delivering())
        .deliver_due()
        .await
        .expect("delivers");
    let report = test.store.purge(IntentSelection::new(), None).await;
    assert_eq!(report.expect("writes").intents.len(), 2);
    let _receipt = receipt(test.commit(fact("next", "d")).await);
    assert_eq!(test.count("outbox WHERE id = 3").await, 1);
}
