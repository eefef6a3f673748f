//! Rates of the store on this machine: `throughput [EVENTS] [PAYLOAD_BYTES] [OPENINGS] [FOLDER]`.
//!
//! For each durability class: units per second from `submit` to the receipt, with their audit row,
//! signal row and intent; then the same with the delivery to a sink that does nothing running beside
//! it; then the time of opening a store, committing one unit and closing it.

#![expect(clippy::print_stdout, reason = "printing is all that it is for")]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::sync::watch;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::commit::{
    AuditRow, CommitParticipant, CommitRefs, FactIdentity, IntentRow, Judgement, PendingFact,
    Repeat, SignalRow, StageError, Staged,
};
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use triplane_state::{Lifetime, StateError, Store, StoreOptions, Synchronous};
use uuid::Uuid;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let events: usize = arguments.next().map_or(Ok(20_000), |text| text.parse())?;
    let bytes: usize = arguments.next().map_or(Ok(4_096), |text| text.parse())?;
    let count: usize = arguments.next().map_or(Ok(2_000), |text| text.parse())?;
    let folder = match arguments.next() {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir_in(".")?,
    };
    for synchronous in [Synchronous::Full, Synchronous::Normal] {
        let path = |name| folder.path().join(format!("{name}-{synchronous:?}.db"));
        let commits = replay(&path("commits"), synchronous, events, bytes, false).await?;
        let delivered = replay(&path("delivered"), synchronous, events, bytes, true).await?;
        report(&format!("{synchronous:?}: commit"), events, commits);
        report(
            &format!("{synchronous:?}: commit and deliver"),
            events,
            delivered,
        );
    }
    for lifetime in [Lifetime::Long, Lifetime::Short] {
        let path = folder.path().join(format!("openings-{lifetime:?}.db"));
        let options = StoreOptions::new(path).lifetime(lifetime);
        openings(&options, count, bytes).await?;
    }
    Ok(())
}

/// Submits `events` units in order, with receipts awaited behind, and optionally delivers meanwhile.
async fn replay(
    path: &Path,
    synchronous: Synchronous,
    events: usize,
    bytes: usize,
    deliver: bool,
) -> Result<Duration, StateError> {
    let store = Store::open(StoreOptions::new(path).synchronous(synchronous)).await?;
    let since = Instant::now();
    let (done, mut is_done) = watch::channel(false);
    let delivery = deliver.then(|| {
        let worker = store.delivery().sink("null", Arc::new(Null));
        tokio::spawn(async move {
            loop {
                let last_round = *is_done.borrow_and_update();
                worker.deliver_due().await?;
                if last_round {
                    return Ok::<_, StateError>(());
                }
                tokio::task::yield_now().await;
            }
        })
    });
    let mut receipts = VecDeque::new();
    for number in 0..events {
        let mut unit = store.begin(fact(number, bytes));
        unit.stage(&Rows)?;
        receipts.push_back(unit.submit().await?);
        if receipts.len() > 256 {
            let _receipt = receipts.pop_front().expect("not empty").await?;
        }
    }
    for receipt in receipts {
        let _receipt = receipt.await?;
    }
    done.send_replace(true);
    if let Some(delivery) = delivery {
        delivery.await.expect("the delivery does not panic")?;
        assert_eq!(store.unsettled().await?, 0);
    }
    let took = since.elapsed();
    store.close().await?;
    Ok(took)
}

/// Opens, commits one unit and closes, again and again, as one-shot programs do.
async fn openings(options: &StoreOptions, count: usize, bytes: usize) -> Result<(), StateError> {
    let mut took = Vec::with_capacity(count);
    for number in 0..count {
        let since = Instant::now();
        let store = Store::open(options.clone()).await?;
        let mut unit = store.begin(fact(number, bytes));
        unit.stage(&Rows)?;
        let _receipt = unit.commit().await?;
        store.close().await?;
        took.push(since.elapsed());
    }
    let median = |part: &[Duration]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part.get(part.len() / 2).copied().unwrap_or_default()
    };
    let tenth = count / 10;
    println!(
        "{}: open, commit, close: median {:.2?}, first tenth {:.2?}, last tenth {:.2?}",
        options.path().display(),
        median(&took),
        median(&took[..tenth]),
        median(&took[count - tenth..]),
    );
    Ok(())
}

fn report(what: &str, events: usize, took: Duration) {
    let rate = f64::from(u32::try_from(events).unwrap_or(u32::MAX)) / took.as_secs_f64();
    println!("{what}: {rate:.0} events/s ({events} in {took:.2?})");
}

fn fact(number: usize, bytes: usize) -> PendingFact {
    let operation = Uuid::now_v7();
    let body = format!(r#"{{"text":"{}"}}"#, "\\\"x y".repeat(bytes / 5));
    PendingFact {
        operation,
        identity: FactIdentity {
            key: format!("session-{}/PreToolUse/{operation}", number % 7),
            shape: "hooks".to_owned(),
            digest: operation.simple().to_string(),
        },
        repeat: Repeat::SameContent,
        session: format!("session-{}", number % 7),
        event: "PreToolUse".to_owned(),
        subject: Some("Bash".to_owned()),
        outcome: "observed".to_owned(),
        occurred_at_us: 1,
        judgement: Some(Judgement {
            decision: "allowed".to_owned(),
            enforcement: "after_the_fact".to_owned(),
            rule: None,
            reason: None,
            notes: None,
            rewrite: None,
        }),
        kind: SignalKind::ProviderObserved,
        emitter: EmitterRole::Provider,
        payload: Payload {
            payload_type: "agent.event".to_owned(),
            version: 1,
            body: RawValue::from_string(body).expect("valid JSON").into(),
        },
    }
}

/// Stages what every unit carries: audit row, signal row and one intent.
struct Rows;

impl CommitParticipant for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let signal = Uuid::now_v7();
        staged.audit(AuditRow {
            id: Uuid::now_v7(),
            outcome: fact.outcome.clone(),
            emitter: fact.emitter,
            judgement: fact.judgement.clone(),
        });
        staged.signal(SignalRow {
            id: signal,
            session: fact.session.clone(),
            kind: fact.kind,
            emitter: fact.emitter,
            invocation: None,
            occurred_at_us: fact.occurred_at_us,
            payload: fact.payload.clone(),
        });
        staged.intent(IntentRow::new(Uuid::now_v7(), signal, "null"));
        Ok(CommitRefs { ids: vec![signal] })
    }
}

/// A sink that takes everything and does nothing.
struct Null;

impl DeliverySink for Null {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
    }

    fn deliver<'a>(&'a self, _intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        Box::pin(async { DeliveryResult::Delivered(None) })
    }
}
