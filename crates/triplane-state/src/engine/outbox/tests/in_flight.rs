use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use tokio::sync::Barrier;

use crate::delivery::{DeliveryIntent, DeliveryResult, DeliverySink, SinkDeclaration};
use crate::engine::outbox::tests::{with_intents, worker};
use crate::engine::testing::Recorder;

/// A sink whose deliveries end only when so many of them are under way as it allows.
struct Together {
    in_flight_max: usize,
    all: Barrier,
    under_way: AtomicUsize,
    most: AtomicUsize,
}

impl DeliverySink for Together {
    fn declaration(&self) -> SinkDeclaration {
        Recorder::delivering()
            .declaration()
            .in_flight_max(self.in_flight_max)
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        Box::pin(async move {
            let under_way = 1 + self.under_way.fetch_add(1, Ordering::Relaxed);
            self.most.fetch_max(under_way, Ordering::Relaxed);
            self.all.wait().await;
            self.under_way.fetch_sub(1, Ordering::Relaxed);
            DeliveryResult::Delivered(Some(intent.identity().to_owned()))
        })
    }
}

#[tokio::test]
async fn as_many_deliveries_are_under_way_as_the_sink_allows() {
    for (in_flight_max, reached) in [(0, 1), (1, 1), (3, 3)] {
        let test = with_intents(12).await;
        let sink = Arc::new(Together {
            in_flight_max,
            all: Barrier::new(reached),
            under_way: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        });
        let told = worker(&test, sink.clone()).deliver_due().await;
        assert_eq!(told.expect("the store works").delivered, 12);
        assert_eq!(sink.most.load(Ordering::Relaxed), reached);
        // Each answer stands with the intent that it was given for.
        for entry in test.store.outbox(None, 12).await.expect("reads") {
            let found = test.store.outbox_entry(&entry.id).await.expect("reads");
            let last = found.expect("is there").transitions.pop();
            let receipt = last.and_then(|last| last.detail);
            assert_eq!(receipt, Some(entry.identity));
        }
    }
}
