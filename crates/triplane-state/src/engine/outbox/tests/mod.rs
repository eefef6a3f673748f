//! The outbox as its users see it: flow, answers of sinks, claims and leases, rows.

use std::sync::Arc;

use crate::delivery::DeliverySink;
use crate::engine::outbox::{DeliveryWorker, OutboxStatus};
use crate::engine::testing::{TestStore, fact, receipt};

mod flow;
mod answers;
mod claims;
mod rows;
mod acks;
mod operators;
mod clocks;
mod snapshots;
mod watch;
mod in_flight;
mod model;
mod protocol;

pub(crate) async fn with_intents(count: usize) -> TestStore {
    let test = TestStore::open().await;
    for number in 0..count {
        let _receipt = receipt(test.commit(fact(&format!("k{number}"), "d")).await);
    }
    test
}

pub(crate) fn worker(test: &TestStore, sink: Arc<dyn DeliverySink>) -> DeliveryWorker {
    test.store.delivery().sink("sink", sink)
}

/// Status, attempt, last error and the reasons of the history of the only intent.
pub(crate) async fn only(test: &TestStore) -> (OutboxStatus, u32, Option<String>, Vec<String>) {
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
