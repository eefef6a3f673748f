//! Where deliveries go: a sink in this process, and a command, both of which write down what comes.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use triplane_crash::order;
use triplane_referee::journal::{Journal, Moment, Received};
use triplane_state::DeliveryWorker;
use triplane_state::clock::{Clock as _, ManualClock};
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};

use crate::desk::variable;

/// A year: how far the wall clock jumps.
const YEAR_US: i64 = 365 * 86_400 * 1_000_000;

/// Told when the rival's attempt has begun.
static AT_WORK: Notify = Notify::const_new();
/// How long the rival's attempt takes, and how long its beginning is awaited.
const RIVAL_WORKS: Duration = Duration::from_millis(40);
const RIVAL_WAIT_MAX: Duration = Duration::from_secs(1);

/// A sink in this process. The payload says how it behaves.
pub(crate) struct Destination {
    log: Journal,
    clock: Arc<ManualClock>,
    /// The tokens to acknowledge with, by intent.
    pub(crate) tokens: Mutex<HashMap<String, String>>,
    /// Another worker, with another handle, that comes along while this one delivers.
    pub(crate) rival: Mutex<Option<DeliveryWorker>>,
    under_way: Mutex<Vec<JoinHandle<()>>>,
}

impl Destination {
    pub(crate) fn new(folder: &Path, clock: Arc<ManualClock>) -> std::io::Result<Self> {
        Ok(Self {
            log: Journal::open(&folder.join("received.jsonl"))?,
            clock,
            tokens: Mutex::default(),
            rival: Mutex::default(),
            under_way: Mutex::default(),
        })
    }

    async fn take(&self, intent: &DeliveryIntent, leased_us: Option<i64>) -> DeliveryResult {
        let line = |moment| Received {
            moment,
            intent: intent.id().to_owned(),
            key: intent.identity().to_owned(),
            attempt: intent.attempt(),
            pid: Some(std::process::id()),
            leased_us,
            boot_us: self.clock.boot_us(),
        };
        if self.log.write(&[line(Moment::Begun)]).is_err() {
            return retry("the log cannot be written");
        }
        if let Some(token) = intent.ack_token() {
            let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
            tokens.insert(intent.id().to_owned(), token.to_owned());
        }
        let answer = self.answer(intent).await;
        if self.log.write(&[line(Moment::Ended)]).is_err() {
            return retry("the log cannot be written");
        }
        answer
    }

    async fn answer(&self, intent: &DeliveryIntent) -> DeliveryResult {
        let payload = intent.payload().get();
        let behaves = |how: &str| payload.contains(&format!("\"behave\":\"{how}\""));
        let first = intent.attempt() == 1;
        if behaves("reject") {
            return DeliveryResult::Reject {
                reason: "rejected".to_owned(),
            };
        }
        if behaves("retry") && intent.attempt() < 3 {
            return retry("not yet");
        }
        if behaves("unknown") && first {
            return DeliveryResult::Unknown {
                error: "nobody knows".to_owned(),
            };
        }
        if first && behaves("rival") {
            // No time passes, and the lease runs: the rival must find nothing here.
            self.rival_comes().await;
        }
        if first && behaves("jump") {
            let now_us = self.clock.now_us();
            self.clock.set(now_us + YEAR_US);
            self.rival_comes().await;
            self.clock.set(now_us);
        }
        if first && behaves("late") {
            // The lease of the batch runs out while this attempt is at work.
            self.clock.advance(Duration::from_secs(1_000));
            self.rival_is_at_work().await;
        }
        if behaves("late") && intent.attempt() == 2 {
            // Long enough for the late finish to meet this attempt under way.
            AT_WORK.notify_one();
            tokio::time::sleep(RIVAL_WORKS).await;
            return retry("the rival fails");
        }
        DeliveryResult::Delivered(None)
    }

    /// Lets the rival begin, and comes back while it works.
    async fn rival_is_at_work(&self) {
        let rival = self
            .rival
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(rival) = rival {
            let working = tokio::spawn(async move {
                rival.deliver_batch_once().await.ok();
            });
            self.under_way
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(working);
            tokio::time::timeout(RIVAL_WAIT_MAX, AT_WORK.notified())
                .await
                .ok();
        }
    }

    /// Waits for rivals that are still at work.
    pub(crate) async fn settle(&self) {
        let under_way = std::mem::take(
            &mut *self
                .under_way
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for working in under_way {
            working.await.ok();
        }
    }

    async fn rival_comes(&self) {
        let rival = self
            .rival
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(rival) = rival {
            // What it meets is what the store says; the referee judges the rows.
            rival.deliver_batch_once().await.ok();
        }
    }
}

fn retry(error: &str) -> DeliveryResult {
    DeliveryResult::Retry {
        error: error.to_owned(),
        after: None,
    }
}

impl DeliverySink for Destination {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Fsynced)
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        Box::pin(self.take(intent, self.clock.boot_us()))
    }

    /// The lease of a batch runs from its claim: what comes late in a batch has less of it left.
    fn deliver_batch<'a>(
        &'a self,
        intents: &'a [DeliveryIntent],
    ) -> BoxFuture<'a, Vec<DeliveryResult>> {
        let leased_us = self.clock.boot_us();
        Box::pin(async move {
            let mut results = Vec::with_capacity(intents.len());
            for intent in intents {
                results.push(self.take(intent, leased_us).await);
            }
            results
        })
    }
}

/// The task `receive`: this program as the command of the command sink.
pub(crate) fn receive() -> anyhow::Result<()> {
    let folder = variable(order::FOLDER)?;
    let log = Journal::open(&Path::new(&folder).join("received.jsonl"))?;
    log.write(&[Received {
        moment: Moment::Begun,
        intent: variable("TRIPLANE_DISPATCH_INTENT")?,
        key: variable("TRIPLANE_DISPATCH_IDENTITY")?,
        attempt: variable("TRIPLANE_DISPATCH_ATTEMPT")?.parse()?,
        pid: None,
        leased_us: None,
        boot_us: None,
    }])?;
    Ok(())
}
