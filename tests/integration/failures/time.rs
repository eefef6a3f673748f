//! Clocks that jump, and the same work done twice at the same time.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::Value;
use serde_json::value::to_raw_value;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::clock::ManualClock;
use triplane_state::commit::{
    CommitParticipant, CommitRefs, FactIdentity, IntentRow, PendingFact, Repeat, SignalRow,
    StageError, Staged,
};
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use triplane_state::{Committed, Store, StoreOptions};
use uuid::Uuid;

use crate::failures::row::{event, show};
use crate::program::{Place, text};
use crate::rows::Rows;

const HOUR: Duration = Duration::from_hours(1);
const NOON_US: i64 = 1_800_000_000_000_000;

/// Stages the signal of a fact and an intent to deliver it.
struct Told;

impl CommitParticipant for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let [signal, intent] = [Uuid::now_v7(), Uuid::now_v7()];
        staged.signal(SignalRow {
            id: signal,
            session: fact.session.clone(),
            kind: fact.kind,
            emitter: fact.emitter,
            invocation: None,
            occurred_at_us: fact.occurred_at_us,
            payload: fact.payload.clone(),
        });
        staged.intent(IntentRow::new(intent, signal, "sink"));
        Ok(CommitRefs {
            ids: vec![signal, intent],
        })
    }
}

struct Accepts;

impl DeliverySink for Accepts {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
    }

    fn deliver<'a>(&'a self, _intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        async { DeliveryResult::Delivered(None) }.boxed()
    }
}

fn fact(n: u32, occurred_at_us: i64) -> PendingFact {
    PendingFact {
        operation: Uuid::now_v7(),
        identity: FactIdentity {
            key: format!("s1/{n}"),
            shape: "test".to_owned(),
            digest: n.to_string(),
        },
        repeat: Repeat::SameContent,
        session: "s1".to_owned(),
        event: "Test".to_owned(),
        subject: None,
        outcome: "succeeded".to_owned(),
        occurred_at_us,
        judgement: None,
        kind: SignalKind::OperationSucceeded,
        emitter: EmitterRole::Owner,
        payload: Payload {
            payload_type: "test".to_owned(),
            version: 1,
            body: to_raw_value(&n).expect("JSON").into(),
        },
    }
}

#[tokio::test]
async fn a_clock_that_jumps_back_an_hour_changes_no_order_and_loses_nothing() {
    let place = Place::new();
    let clock = Arc::new(ManualClock::at(NOON_US));
    let options = StoreOptions::new(place.store()).clock(Arc::clone(&clock) as Arc<_>);
    let store = Store::open(options).await.expect("opens");
    let hour_us = i64::try_from(HOUR.as_micros()).expect("small");
    for (n, now_us) in [(1, NOON_US), (2, NOON_US - hour_us), (3, NOON_US)] {
        clock.set(now_us);
        let mut unit = store.begin(fact(n, now_us));
        unit.stage(&Told).expect("stages");
        let committed = unit.commit().await.expect("commits");
        assert!(matches!(committed, Committed::Recorded(_)), "{n}");
    }
    let mut rows = Rows::open(&place.store()).await;
    let order = rows
        .texts("SELECT sequence || ' ' || payload FROM signal_log ORDER BY sequence")
        .await;
    assert_eq!(order, ["1 1", "2 2", "3 3"]);
    let worker = store.delivery().sink("sink", Arc::new(Accepts));

    // What was committed later than the clock says now does not wait until it has caught up.
    clock.set(NOON_US - hour_us);
    let behind = worker.deliver_due().await.expect("delivers").delivered;
    show(
        "the clock jumps back an hour between two events",
        None,
        &format!("order kept; {behind} delivered while it is behind"),
    );
    assert_eq!(behind, 3);
    store.close().await.expect("closes");
}

#[tokio::test]
async fn two_replays_of_one_file_at_the_same_time_write_each_fact_once() {
    let place = Place::new();
    let mut recording = String::new();
    for n in 0..2_000 {
        let command = if n % 20 == 0 {
            "rm -rf /"
        } else {
            "cargo check"
        };
        recording += &(event(command, n) + "\n");
    }
    let recording = place.file("recording.jsonl", &recording);
    let recording = recording.to_str().expect("a path");
    let start = || {
        place
            .command(&["replay", recording, "--json", "--busy-timeout", "60s"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    };
    let replays = [start(), start()];
    let mut written = 0;
    let mut shown = 0;
    for replay in replays {
        let output = replay.wait_with_output().expect("it ends");
        let stdout = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
        let last = stdout.lines().last().expect("a summary");
        let summary: Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(summary["events"], 2_000);
        written += summary["signals"].as_i64().expect("a number");
        shown += stdout.lines().count() - 1;
    }
    show(
        "two replays at the same time",
        Some(0),
        &format!("{written} facts written by both together"),
    );
    assert_eq!(
        (written, shown),
        (2_000, 100),
        "each fact by one of the two, and shown by it"
    );
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!(rows.count("operation").await, 2_000);
    assert_eq!((rows.torn().await, rows.holes().await), (0, 0));
    let out = std::fs::read_to_string(place.path("deliveries.jsonl")).expect("a sink file");
    let mut keys: Vec<&str> = out
        .lines()
        .map(|line| line.split('"').nth(3).expect("a key"))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 2_000, "each fact was delivered");
}
