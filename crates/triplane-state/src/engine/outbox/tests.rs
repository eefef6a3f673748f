use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Either, select};

use crate::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use crate::engine::lease::LeaseHolder;
use crate::engine::outbox::change::{HELD, HISTORY, UPDATE, apply_changes};
use crate::engine::outbox::claim::{
    ClaimRequest, ClaimedAttempt, DUE, INTERRUPTED_TOGETHER_MAX, LEASED, claim,
};
use crate::engine::outbox::load::LOAD;
use crate::engine::outbox::settle::{interrupted_max, settlement};
use crate::engine::outbox::{DeliveryTally, DeliveryWorker, OutboxStatus};
use crate::engine::store::Connections;
use crate::engine::testing::{
    MINUTE, Recorder, Rows, START_US, TestStore, assert_looks_up, fact, receipt,
};
use crate::retry::RetryPolicy;

async fn with_intents(count: usize) -> TestStore {
    let test = TestStore::open().await;
    for number in 0..count {
        let _receipt = receipt(test.commit(fact(&format!("k{number}"), "d")).await);
    }
    test
}

fn worker(test: &TestStore, sink: Arc<dyn DeliverySink>) -> DeliveryWorker {
    test.store.delivery().sink("sink", sink)
}

/// Status, attempt, last error and the reasons of the history of the only intent.
async fn only(test: &TestStore) -> (OutboxStatus, u32, Option<String>, Vec<String>) {
    let entries = test.store.outbox(None, 2).await.expect("reads");
    assert_eq!(entries.len(), 1);
    let found = test
        .store
        .outbox_entry(&entries[0].id)
        .await
        .expect("reads")
        .expect("is there");
    let short = |reason: &str| reason.trim_start_matches("dispatch.").to_owned();
    let reasons = found
        .transitions
        .iter()
        .map(|it| short(&it.reason))
        .collect();
    (
        found.entry.status,
        found.entry.attempt,
        found.entry.last_error,
        reasons,
    )
}

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

fn request(holder: &str) -> ClaimRequest {
    ClaimRequest {
        sink: "sink".to_owned(),
        lease_holder: holder.to_owned(),
        lease: MINUTE,
        interrupted_max: interrupted_max(RetryPolicy::default()),
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
            for sql in ["DROP TRIGGER outbox_edge", "UPDATE outbox SET attempt = 1"] {
                sqlx::query(sql).execute(&mut raw).await.expect("runs");
            }
            let update = "UPDATE outbox SET status = ?1, lease_holder = ?2";
            sqlx::query(update)
                .bind(from.as_str())
                .bind(lease(from))
                .execute(&mut raw)
                .await
                .expect("runs");
            let schema = include_str!("../schema/migrations/0001_initial.sql");
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
    for sql in [DUE, LEASED, LOAD, HELD, HISTORY, UPDATE] {
        assert_looks_up(&test, sql).await;
    }
}

#[tokio::test]
async fn every_state_can_be_listed() {
    let test = with_intents(6).await;
    let mut raw = test.raw().await;
    sqlx::query("DROP TRIGGER outbox_edge")
        .execute(&mut raw)
        .await
        .expect("drops");
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
