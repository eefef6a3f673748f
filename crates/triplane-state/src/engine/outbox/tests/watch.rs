use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::delivery::{DeliveryIntent, DeliveryResult, DeliverySink, SinkDeclaration};
use crate::engine::outbox::tests::with_intents;
use crate::engine::outbox::{DeliveryTally, OutboxStatus};
use crate::engine::testing::{Recorder, Rows, TestStore, fact, receipt};

/// A sink that says what it is given, and waits for leave to answer when there is somebody to ask.
struct Telling {
    told: mpsc::UnboundedSender<String>,
    leave: Option<tokio::sync::Semaphore>,
}

impl DeliverySink for Telling {
    fn declaration(&self) -> SinkDeclaration {
        Recorder::delivering().declaration()
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        Box::pin(async move {
            self.told.send(intent.identity().to_owned()).ok();
            if let Some(leave) = &self.leave {
                leave.acquire().await.expect("open").forget();
            }
            DeliveryResult::Delivered(None)
        })
    }
}

fn telling(leave: Option<usize>) -> (Arc<Telling>, mpsc::UnboundedReceiver<String>) {
    let (told, heard) = mpsc::unbounded_channel();
    let leave = leave.map(tokio::sync::Semaphore::new);
    (Arc::new(Telling { told, leave }), heard)
}

/// Watches until the answered sender is used; answers the sum.
fn watch(
    test: &TestStore,
    sink: Arc<Telling>,
) -> (oneshot::Sender<()>, tokio::task::JoinHandle<DeliveryTally>) {
    let worker = test.store.delivery().sink("sink", sink);
    let (stop, stopped) = oneshot::channel();
    let watching = tokio::spawn(async move {
        let stopped = async { stopped.await.unwrap_or(()) };
        worker
            .watch(stopped, |told| assert!(told.is_ok(), "{told:?}"))
            .await
    });
    (stop, watching)
}

#[tokio::test]
async fn what_anybody_commits_is_delivered_while_it_watches() {
    let test = with_intents(1).await;
    let (sink, mut heard) = telling(None);
    let (stop, watching) = watch(&test, sink);
    assert_eq!(heard.recv().await.as_deref(), Some("k0"));
    let _receipt = receipt(test.commit(fact("mine", "d")).await);
    assert_eq!(heard.recv().await.as_deref(), Some("mine"));
    let other = test.open_again().await;
    let mut unit = other.begin(fact("theirs", "d"));
    unit.stage(&Rows::default()).expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    assert_eq!(heard.recv().await.as_deref(), Some("theirs"));
    other.close().await.expect("closes");
    stop.send(()).expect("watches");
    let total = watching.await.expect("ends");
    assert_eq!(total.delivered, 3);
}

#[tokio::test]
async fn told_to_stop_it_settles_what_is_under_way_and_claims_no_more() {
    let test = with_intents(100).await;
    let (sink, mut heard) = telling(Some(0));
    let (stop, watching) = watch(&test, Arc::clone(&sink));
    heard.recv().await.expect("the first is under way");
    stop.send(()).expect("watches");
    sink.leave.as_ref().expect("asked").add_permits(100);
    let total = watching.await.expect("ends");
    assert_eq!(total.delivered, 64, "one batch");
    let left = test.store.outbox(Some(OutboxStatus::Pending), 99).await;
    assert_eq!(left.expect("reads").len(), 36);
    assert_eq!(test.count("outbox WHERE status = 'delivering'").await, 0);
}

#[tokio::test]
async fn a_store_that_cannot_be_used_for_a_while_is_used_again() {
    let test = with_intents(1).await;
    let away = test.path.with_extension("away");
    std::fs::rename(&test.path, &away).expect("moves");
    let (sink, mut heard) = telling(None);
    let worker = test.store.delivery().sink("sink", sink);
    let (stop, stopped) = oneshot::channel::<()>();
    let (path, back) = (test.path.clone(), away.clone());
    let mut failures = 0;
    let watching = tokio::spawn(async move {
        let stopped = async { stopped.await.unwrap_or(()) };
        let told = |told: Result<DeliveryTally, &crate::error::StateError>| {
            if told.is_err() {
                failures += 1;
                if failures == 2 {
                    std::fs::rename(&back, &path).expect("moves back");
                }
            }
        };
        worker.watch(stopped, told).await
    });
    assert_eq!(heard.recv().await.as_deref(), Some("k0"));
    stop.send(()).expect("watches");
    assert_eq!(watching.await.expect("ends").delivered, 1);
}

#[tokio::test]
async fn looking_for_nothing_takes_no_lock() {
    let test = TestStore::open_with(|options| options.busy_timeout(Duration::ZERO)).await;
    let mut raw = test.raw().await;
    let held = sqlx::Connection::begin_with(&mut raw, "BEGIN IMMEDIATE")
        .await
        .expect("begins");
    let worker = test.store.delivery().sink("sink", Recorder::delivering());
    let looked = worker
        .deliver_until(&std::sync::atomic::AtomicBool::new(false))
        .await;
    let looked = looked.expect("takes no lock");
    assert_eq!(looked, DeliveryTally::default());
    drop(held);
}
