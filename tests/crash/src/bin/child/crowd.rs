//! The tasks `fill` and `share`: many intents, and several workers on one store, whose processes are
//! stopped for longer than their leases.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use triplane_crash::order;
use triplane_referee::journal::{Journal, Moment, Received};
use triplane_state::clock::{Clock, SystemClock};
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use triplane_state::retry::RetryPolicy;
use triplane_state::{Store, StoreOptions};

use crate::desk::{number, variable};
use crate::owner::{Telling, tell_many};

/// One attempt in so many fails.
const FAILS_EVERY: usize = 8;
/// How long a worker waits when others hold everything that is left.
const WAIT: Duration = Duration::from_millis(2);

/// Time since the machine was started, and much faster: the same for all processes.
#[derive(Debug)]
struct FastClock;

impl Clock for FastClock {
    fn now_us(&self) -> i64 {
        self.boot_us().unwrap_or_default()
    }

    fn boot_us(&self) -> Option<i64> {
        Some(SystemClock::new().boot_us()?.saturating_mul(order::FASTER))
    }
}

async fn open() -> anyhow::Result<(PathBuf, Store)> {
    let folder = PathBuf::from(variable(order::FOLDER)?);
    let options = StoreOptions::new(folder.join("state.db")).clock(Arc::new(FastClock));
    Ok((folder, Store::open(options).await?))
}

/// Tells as many facts as are ordered.
pub(crate) async fn fill() -> anyhow::Result<()> {
    let (folder, store) = open().await?;
    let journal = Journal::open(&folder.join("journal.jsonl"))?;
    let count = number(order::COUNT)?;
    let tellings: Vec<_> = (0..count)
        .map(|n| Telling::new(format!("crowd-{n}"), "crowd", "ok"))
        .collect();
    for some in tellings.chunks(500) {
        tell_many(&journal, &[&store], some).await?;
    }
    store.close().await?;
    Ok(())
}

/// Delivers, beside others, until nothing is left.
pub(crate) async fn share() -> anyhow::Result<()> {
    let (folder, store) = open().await?;
    let retry = RetryPolicy::new(200, Duration::from_millis(1), Duration::from_millis(4))?;
    let worker = store
        .delivery()
        .retry(retry)
        .attempt_max(Duration::from_secs(order::ATTEMPT_S))
        .sink("crowd", Arc::new(Crowded::new(&folder)?));
    loop {
        worker.deliver_due().await?;
        if store.unsettled().await? == 0 {
            break;
        }
        tokio::time::sleep(WAIT).await;
    }
    store.close().await?;
    Ok(())
}

/// A sink that writes down what comes. Nobody is killed here, so it does not wait for the disk.
struct Crowded {
    log: Journal,
}

impl Crowded {
    fn new(folder: &Path) -> std::io::Result<Self> {
        let log = Journal::open(&folder.join("received.jsonl"))?.without_sync();
        Ok(Self { log })
    }

    fn take(&self, intent: &DeliveryIntent) -> DeliveryResult {
        let line = |moment| Received {
            moment,
            intent: intent.id().to_owned(),
            key: intent.identity().to_owned(),
            attempt: intent.attempt(),
            pid: Some(std::process::id()),
            leased_us: None,
            boot_us: None,
        };
        let failed = |error: String| DeliveryResult::Retry { error, after: None };
        if let Err(error) = self.log.write(&[line(Moment::Begun), line(Moment::Ended)]) {
            return failed(error.to_string());
        }
        let number = usize::try_from(intent.sequence()).unwrap_or_default();
        if intent.attempt() == 1 && number.is_multiple_of(FAILS_EVERY) {
            return failed("not yet".to_owned());
        }
        DeliveryResult::Delivered(None)
    }
}

impl DeliverySink for Crowded {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        let answer = self.take(intent);
        Box::pin(async move { answer })
    }
}
