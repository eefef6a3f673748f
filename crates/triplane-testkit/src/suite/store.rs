//! What a store keeps (S1 to S8 of the contract of stores), with two processes where it says so.
//!
//! | | Contract | Here |
//! |---|---|---|
//! | S1 | all staged rows or none, acknowledged after the declared durability | a refused unit leaves nothing; what is acknowledged is there for another process |
//! | S2 | sequences dense, no row appears behind a reader | two processes append to one session while it is read |
//! | S3 | a claim is a compare-and-set | two processes deliver the same intents: each attempt once |
//! | S4 | a settlement is guarded by its attempt | histories replay to where the intents stand |
//! | S5 | what an operator does and its trace are one transaction | a purge and its row |
//! | S6 | one clock | stored times are those of the declared clock |
//! | S7 | dropped futures leave no transaction open | commits that are dropped at every moment |
//! | S8 | one suite for every adapter, run with two processes | this one |

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use triplane_state::clock::ManualClock;
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use triplane_state::{Committed, IntentSelection, Store, StoreOptions};

use crate::suite::fact::{Refuses, Told, fact};

/// What the second process is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Append to the shared session.
    Append,
    /// Deliver what is due.
    Deliver,
}

impl Task {
    /// Its name, to hand it over.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Deliver => "deliver",
        }
    }

    /// The task of this name.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Append, Self::Deliver]
            .into_iter()
            .find(|task| task.as_str() == text)
    }
}

/// A second process that was started: waits for its end, and answers whether it went well.
pub type Started = Box<dyn FnOnce() -> bool>;

const APPENDED: usize = 60;
const SINK: &str = "suite";

/// Holds the store at `path`, which does not exist yet, against the contract. `start` starts another
/// process that calls [`other`].
///
/// # Panics
///
/// When the store breaks the contract; the message says which part.
///
/// # Cancel safety
///
/// Dropping the future ends the check; the store at `path` and a started process are left behind.
pub async fn check(path: &Path, start: impl Fn(&Path, Task) -> Started) {
    all_or_none(path).await;
    dense(path, &start).await;
    once(path, &start).await;
    traced(path).await;
    dropped(path).await;
    one_clock(&path.with_extension("clock")).await;
    let store = open(path).await;
    assert_eq!(
        store.check().await.expect("looks"),
        [],
        "S4: the store contradicts itself"
    );
    store.close().await.expect("closes");
}

/// What the second process does.
///
/// # Panics
///
/// When the store refuses what it must take.
///
/// # Cancel safety
///
/// None is claimed: run it to its end.
pub async fn other(path: &Path, task: Task) {
    let store = open(path).await;
    match task {
        Task::Append => append(&store, "theirs").await,
        Task::Deliver => {
            deliver(&store).await;
        }
    }
    store.close().await.expect("closes");
}

async fn open(path: &Path) -> Store {
    let options = StoreOptions::new(path).busy_timeout(Duration::from_mins(1));
    Store::open(options).await.expect("opens")
}

async fn commit(store: &Store, session: &str, key: &str) {
    let mut unit = store.begin(fact(session, key, "1"));
    unit.stage(&Told { sink: SINK }).expect("stages");
    let committed = unit.commit().await.expect("commits");
    assert!(
        matches!(committed, Committed::Recorded(_)),
        "{key}: {committed:?}"
    );
}

async fn append(store: &Store, whose: &str) {
    for number in 0..APPENDED {
        commit(store, "shared", &format!("{whose} {number}")).await;
    }
}

async fn all_or_none(path: &Path) {
    let store = open(path).await;
    let mut unit = store.begin(fact("alone", "refused", "1"));
    unit.stage(&Told { sink: SINK }).expect("stages");
    assert!(unit.stage(&Refuses).is_err());
    assert!(unit.commit().await.is_err());
    let stats = store.stats().await.expect("counts");
    assert_eq!(
        (stats.operations, stats.signals),
        (0, 0),
        "S1: a refused unit leaves rows"
    );
    commit(&store, "alone", "acknowledged").await;
    let again = open(path).await;
    let seen = again.signals(Some("alone"), 0, 9).await.expect("reads");
    assert_eq!(
        seen.len(),
        1,
        "S1: what is acknowledged is there for everybody"
    );
    again.close().await.expect("closes");
    store.close().await.expect("closes");
}

async fn dense(path: &Path, start: &impl Fn(&Path, Task) -> Started) {
    let store = open(path).await;
    let theirs = start(path, Task::Append);
    let (mine, reader) = (store.clone(), store.clone());
    let read = async {
        let mut after = 0;
        while after < 2 * APPENDED as u64 {
            let cursor = i64::try_from(after).expect("small");
            for signal in reader
                .signals(Some("shared"), cursor, 7)
                .await
                .expect("reads")
            {
                after += 1;
                assert_eq!(
                    signal.sequence, after,
                    "S2: a row is missing, or came in behind"
                );
            }
            tokio::task::yield_now().await;
        }
        after
    };
    let (read, ()) = futures::join!(read, append(&mine, "mine"));
    assert!(theirs(), "S2: the other process failed");
    assert_eq!(read, 2 * APPENDED as u64);
    store.close().await.expect("closes");
}

async fn once(path: &Path, start: &impl Fn(&Path, Task) -> Started) {
    let store = open(path).await;
    let theirs = start(path, Task::Deliver);
    deliver(&store).await;
    assert!(theirs(), "S3: the other process failed");
    let left = store.unsettled().await.expect("counts");
    assert_eq!(left, 0, "S3: intents were left");
    for entry in store.outbox(None, 1_000).await.expect("reads") {
        assert_eq!(entry.attempt, 1, "S3: claimed twice: {entry:?}");
    }
    store.close().await.expect("closes");
}

async fn deliver(store: &Store) {
    let worker = store.delivery().sink(SINK, Arc::new(Takes));
    worker.deliver_due().await.expect("delivers");
}

async fn traced(path: &Path) {
    let store = open(path).await;
    let before = store.stats().await.expect("counts").intents.delivered;
    assert!(before > 0);
    let report = store
        .purge(IntentSelection::new(), Some("the suite"))
        .await
        .expect("purges");
    assert_eq!(report.intents.len() as u64, before);
    let purged = store.purged(&report.intents[0]).await.expect("reads");
    let trace = purged.map(|purged| Some(purged.purge));
    assert_eq!(trace, Some(report.purge), "S5: a purge without its row");
    store.close().await.expect("closes");
}

async fn dropped(path: &Path) {
    let store = open(path).await;
    for number in 0..200 {
        let key = format!("dropped {number}");
        let mut unit = store.begin(fact("dropped", &key, "1"));
        unit.stage(&Told { sink: SINK }).expect("stages");
        let mut committing = Box::pin(unit.commit());
        // Polled a few times, then dropped where it stands.
        for _ in 0..number % 8 {
            drop((&mut committing).now_or_never());
            tokio::task::yield_now().await;
        }
    }
    commit(&store, "dropped", "after all").await;
    store
        .close()
        .await
        .expect("S7: a dropped commit keeps the store from closing");
}

async fn one_clock(path: &Path) {
    let clock = Arc::new(ManualClock::at(77));
    let store = Store::open(StoreOptions::new(path).clock(clock))
        .await
        .expect("opens");
    commit(&store, "s", "k").await;
    let entry = store.outbox(None, 1).await.expect("reads").remove(0);
    let times = (
        entry.created_at_us,
        entry.updated_at_us,
        entry.next_attempt_at_us,
    );
    assert_eq!(
        times,
        (77, 77, 77),
        "S6: another clock than the declared one"
    );
    store.close().await.expect("closes");
}

/// A sink that takes everything.
struct Takes;

impl DeliverySink for Takes {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
    }

    fn deliver<'a>(&'a self, _intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        async { DeliveryResult::Delivered(None) }.boxed()
    }
}
