use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::delivery::DeliveryResult;
use crate::engine::lease::LeaseHolder;
use crate::engine::outbox::change::apply_changes;
use crate::engine::outbox::claim::{ClaimRequest, ClaimedAttempt, INTERRUPTED_TOGETHER_MAX, claim};
use crate::engine::outbox::settle::{interrupted_max, settlement};
use crate::engine::outbox::tests::{only, with_intents, worker};
use crate::engine::outbox::{DeliveryTally, OutboxStatus};
use crate::engine::store::Connections;
use crate::engine::testing::{MINUTE, Recorder, fact, receipt};
use crate::retry::RetryPolicy;

fn request(holder: &str) -> ClaimRequest {
    ClaimRequest {
        sink: "sink".to_owned(),
        lease_holder: holder.to_owned(),
        lease: MINUTE,
        interrupted_max: interrupted_max(RetryPolicy::default()),
        boot: None,
    }
}

/// Claims in a transaction of its own; answers (key, attempt).
async fn claim_as(connections: &Arc<Connections>, holder: &str) -> Vec<(i64, u32)> {
    let (request, now_us) = (request(holder), connections.now_us());
    let claimed = connections
        .writer
        .transaction(|connection| {
            Box::pin(async move { Ok(claim(connection, &request, now_us).await?) })
        })
        .await
        .expect("claims");
    claimed
        .attempts
        .iter()
        .map(|it| (it.id, it.attempt))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_workers_one_gets_each_attempt() {
    let test = with_intents(300).await;
    let other = test.open_again().await;
    let sinks = [Recorder::delivering(), Recorder::delivering()];
    let first = test.store.delivery().sink("sink", sinks[0].clone());
    let second = other.delivery().sink("sink", sinks[1].clone());
    let (first, second) = tokio::join!(
        tokio::spawn(async move { first.deliver_due().await.expect("delivers") }),
        tokio::spawn(async move { second.deliver_due().await.expect("delivers") }),
    );
    let mut total = first.expect("no panic");
    total.add(second.expect("no panic"));
    assert_eq!(
        total,
        DeliveryTally {
            delivered: 300,
            ..DeliveryTally::default()
        }
    );
    let sent: Vec<_> = sinks.iter().flat_map(|sink| sink.seen()).collect();
    assert_eq!(sent.len(), 300);
    assert_eq!(sent.into_iter().collect::<HashSet<_>>().len(), 300);
    other.close().await.expect("closes");
}

#[tokio::test]
async fn a_result_that_comes_too_late_changes_nothing() {
    let test = with_intents(1).await;
    let connections = &test.store.connections;
    let stale = claim_as(connections, "slow").await[0];
    assert_eq!(claim_as(connections, "quick").await, [], "the lease holds");
    test.clock.advance(MINUTE * 2);
    assert_eq!(claim_as(connections, "quick").await, [(stale.0, 2)]);

    let claimed = ClaimedAttempt {
        id: stale.0,
        attempt: stale.1,
        failures: 0,
        interrupted: 0,
        unacked: 0,
        ack_token: None,
    };
    let now_us = connections.now_us();
    let late = settlement(
        claimed,
        DeliveryResult::Delivered(None),
        RetryPolicy::default(),
        now_us,
    );
    let held = connections
        .writer
        .transaction(|connection| {
            Box::pin(async move { Ok(apply_changes(connection, &[late], now_us).await?) })
        })
        .await
        .expect("runs");
    assert!(held.is_empty());
    let (status, attempt, _, reasons) = only(&test).await;
    assert_eq!((status, attempt), (OutboxStatus::Delivering, 2));
    assert_eq!(
        reasons,
        [
            "pending.enqueued",
            "delivering.attempt",
            "delivering.attempt"
        ]
    );
}

/// A holder that cannot be alive: this process, started at another time.
fn dead_holder() -> String {
    let text = LeaseHolder::this_process().to_text();
    let (process, started) = text.rsplit_once('/').expect("has a start");
    format!(
        "{process}/{}",
        started.parse::<u64>().expect("a number") + 1
    )
}

#[tokio::test]
async fn a_lease_of_a_dead_process_ends_at_once() {
    let test = with_intents(3).await;
    let claimed = claim_as(&test.store.connections, &dead_holder()).await;
    assert_eq!(claimed.len(), 3);
    let _receipt = receipt(test.commit(fact("later", "d")).await);
    let sink = Recorder::delivering();
    let tally = worker(&test, sink.clone())
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!((tally.leases_voided, tally.delivered), (3, 4));
    let order: Vec<_> = ["k0", "k1", "k2"].map(|key| (key.to_owned(), 2)).into();
    assert_eq!(sink.seen()[..3], order);
    assert_eq!(sink.seen()[3], ("later".to_owned(), 1));
}

#[tokio::test]
async fn the_death_of_a_process_uses_up_no_attempt_of_the_retry_policy() {
    let test = with_intents(2).await;
    let retry = RetryPolicy::new(1, MINUTE, MINUTE).expect("valid");
    for _ in 0..2 {
        assert_eq!(
            claim_as(&test.store.connections, &dead_holder())
                .await
                .len(),
            2
        );
        let voided = test
            .store
            .delivery()
            .retry(retry)
            .deliver_due()
            .await
            .expect("voids");
        assert_eq!(voided.leases_voided, 2);
    }
    let sink = Recorder::delivering();
    let tally = worker(&test, sink.clone())
        .retry(retry)
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!(tally.delivered, 2);
    let order: Vec<_> = ["k0", "k1"].map(|key| (key.to_owned(), 3)).into();
    assert_eq!(sink.seen(), order);
}

#[tokio::test]
async fn an_intent_that_keeps_killing_its_process_goes_last_and_alone_and_is_given_up() {
    let test = with_intents(1).await;
    let connections = &test.store.connections;
    let interrupted_max = interrupted_max(RetryPolicy::default());
    for interrupted in 0..interrupted_max {
        let suspected = interrupted >= INTERRUPTED_TOGETHER_MAX;
        if suspected {
            test.clock.advance(Duration::from_secs(1));
            let other = format!("other{interrupted}");
            let _receipt = receipt(test.commit(fact(&other, "d")).await);
            test.clock.advance(Duration::from_secs(1));
        }
        if interrupted > INTERRUPTED_TOGETHER_MAX {
            let others = claim_as(connections, "alive").await;
            assert!(others.iter().all(|(id, _)| *id != 1), "{others:?}");
        }
        assert_eq!(
            claim_as(connections, &dead_holder()).await,
            [(1, interrupted + 1)],
            "alone, and under a number of its own"
        );
        let worker = test.store.delivery();
        let tally = worker.deliver_due().await.expect("voids the lease");
        let last = interrupted + 1 == interrupted_max;
        let wanted = (u64::from(!last), u64::from(last));
        assert_eq!((tally.leases_voided, tally.dead_lettered), wanted);
    }
    let dead = test
        .store
        .outbox(Some(OutboxStatus::DeadLetter), 9)
        .await
        .expect("reads");
    assert_eq!(
        (dead[0].interrupted, dead[0].failures),
        (interrupted_max, 0)
    );
}

#[tokio::test]
async fn a_lease_that_nobody_can_judge_runs_out_by_time() {
    let test = with_intents(1).await;
    claim_as(&test.store.connections, "another-boot/pid:[1]/7/8").await;
    let worker = worker(&test, Recorder::delivering());
    assert_eq!(
        worker.deliver_due().await.expect("delivers"),
        DeliveryTally::default()
    );
    test.clock.advance(MINUTE);
    assert_eq!(worker.deliver_due().await.expect("delivers").delivered, 1);
    assert_eq!(only(&test).await.1, 2);
}
