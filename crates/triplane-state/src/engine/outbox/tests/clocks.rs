//! The wall clock jumps, both ways, at every moment of an intent's life.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::micros;
use crate::engine::lease::LeaseHolder;
use crate::engine::outbox::OutboxStatus;
use crate::engine::outbox::claim::{Boot, ClaimRequest, claim};
use crate::engine::outbox::settle::interrupted_max;
use crate::engine::outbox::tests::{only, with_intents, worker};
use crate::engine::store::Connections;
use crate::engine::testing::{MINUTE, Recorder, START_US, TestStore, fact, receipt};
use crate::retry::RetryPolicy;

const YEAR_US: i64 = 365 * 24 * 3_600 * 1_000_000;
const JUMPS_US: [i64; 6] = [
    YEAR_US,
    -YEAR_US,
    3_600_000_000,
    -3_600_000_000,
    1_000_000,
    -1_000_000,
];

/// Moves the wall clock without any time passing. Starts late enough to go a year back.
fn jump(test: &TestStore, by_us: i64) {
    use crate::clock::Clock as _;
    test.clock.set(test.clock.now_us() + by_us);
}

async fn started_late() -> TestStore {
    let test = TestStore::open().await;
    test.clock.set(START_US + 2 * YEAR_US);
    test
}

#[tokio::test]
async fn what_was_committed_before_a_jump_is_delivered_at_once() {
    for by_us in JUMPS_US {
        let test = started_late().await;
        let _receipt = receipt(test.commit(fact("before", "d")).await);
        jump(&test, by_us);
        let _receipt = receipt(test.commit(fact("after", "d")).await);
        let tally = worker(&test, Recorder::delivering()).deliver_due().await;
        assert_eq!(tally.expect("delivers").delivered, 2, "{by_us}");
    }
}

#[tokio::test]
async fn what_was_committed_by_a_clock_that_ran_ahead_stands_in_line() {
    let test = started_late().await;
    jump(&test, YEAR_US);
    let _receipt = receipt(test.commit(fact("ahead", "d")).await);
    jump(&test, -YEAR_US);
    for number in 0..100 {
        let _receipt = receipt(test.commit(fact(&number.to_string(), "d")).await);
    }
    let sink = Recorder::delivering();
    worker(&test, sink.clone())
        .deliver_due()
        .await
        .expect("delivers");
    assert_eq!(sink.seen().len(), 101);
}

#[tokio::test]
async fn a_wait_is_as_long_as_it_was_to_be_when_the_clock_is_set_back() {
    for by_us in JUMPS_US.into_iter().filter(|by_us| *by_us < 0) {
        let test = started_late().await;
        let _receipt = receipt(test.commit(fact("k", "d")).await);
        let sink = Recorder::failing("no");
        let worker = worker(&test, sink.clone());
        worker.deliver_due().await.expect("delivers");
        jump(&test, by_us);
        worker.deliver_due().await.expect("delivers");
        test.clock.advance(Duration::from_secs(29));
        worker.deliver_due().await.expect("delivers");
        assert_eq!(sink.seen().len(), 1, "{by_us}: 30 s are not over");
        test.clock.advance(Duration::from_secs(1));
        worker.deliver_due().await.expect("delivers");
        assert_eq!(sink.seen().len(), 2, "{by_us}");
    }
}

/// Claims for a living process of this start of the machine.
async fn claim_now(test: &TestStore) -> Vec<(i64, u32)> {
    let connections: &Arc<Connections> = &test.store.connections;
    let holder = LeaseHolder::this_process();
    let boot_us = connections.options.clock.boot_us().expect("told");
    let request = ClaimRequest {
        sink: "sink".to_owned(),
        lease_holder: holder.to_text(),
        lease: MINUTE,
        interrupted_max: interrupted_max(RetryPolicy::default()),
        boot: holder.boot().map(|id| Boot {
            id: id.to_owned(),
            now_us: boot_us,
        }),
    };
    let now_us = connections.now_us();
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

#[tokio::test]
async fn no_jump_during_a_lease_ends_it_or_makes_it_longer_than_it_was() {
    for by_us in JUMPS_US {
        let test = started_late().await;
        let _receipt = receipt(test.commit(fact("k", "d")).await);
        assert_eq!(claim_now(&test).await, [(1, 1)]);
        test.clock.advance(MINUTE / 2);
        jump(&test, by_us);
        assert_eq!(claim_now(&test).await, [], "{by_us}: the lease holds");
        // Set back, the rest of the lease may be counted anew, from the moment it was seen.
        test.clock.advance(Duration::from_secs(29));
        assert_eq!(
            claim_now(&test).await,
            [],
            "{by_us}: for as long as it was taken"
        );
        test.clock.advance(MINUTE);
        assert_eq!(claim_now(&test).await, [(1, 2)], "{by_us}: and no longer");
        let (status, attempt, _, _) = only(&test).await;
        assert_eq!((status, attempt), (OutboxStatus::Delivering, 2));
    }
}

#[tokio::test]
async fn many_held_leases_do_not_hide_what_is_due_behind_them() {
    let test = with_intents(64).await;
    assert_eq!(claim_now(&test).await.len(), 64);
    jump(&test, YEAR_US);
    let _receipt = receipt(test.commit(fact("due", "d")).await);
    assert_eq!(claim_now(&test).await, [(65, 1)]);
}

#[tokio::test]
async fn the_worker_measures_its_leases_with_both_clocks() {
    let test = with_intents(1).await;
    let sink = Recorder::delivering();
    let worker = worker(&test, sink);
    worker.deliver_due().await.expect("delivers");
    let mut raw = test.raw().await;
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM outbox WHERE lease_boot_us IS NULL")
        .fetch_one(&mut raw)
        .await
        .expect("reads");
    assert_eq!(left, 1, "a settled intent has no lease");
    assert_eq!(micros(MINUTE), 60_000_000);
}
