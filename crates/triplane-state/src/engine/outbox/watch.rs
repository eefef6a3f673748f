//! Delivering until told to stop: woken by commits of this process, looking for those of others.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::{Either, select};
use tokio::sync::Notify;

use crate::engine::outbox::tally::DeliveryTally;
use crate::engine::outbox::worker::DeliveryWorker;
use crate::error::StateError;

/// How long it looks for nothing before it looks again. What another process commits, and what comes
/// due, is found within this time; what this process commits wakes it at once.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long it waits at most before it tries a store again that could not be used.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Whether a delivery should come to its end.
#[derive(Debug, Default)]
struct Stopping {
    /// Nothing more is claimed once this is set.
    asked: AtomicBool,
    told: Notify,
}

impl Stopping {
    fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.told.notify_one();
    }

    fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl DeliveryWorker {
    /// Delivers what is due, and what becomes due, until `stop` is ready. The attempts that are under
    /// way then come to their end and are settled; nothing more is claimed.
    ///
    /// `told` hears of every round that did something, and of every store that could not be used: it
    /// is tried again, after longer and longer pauses of up to 5 s. Answers the sum of all rounds.
    ///
    /// # Cancel safety
    ///
    /// As [`DeliveryWorker::deliver_due`].
    pub async fn watch(
        &self,
        stop: impl Future<Output = ()>,
        told: impl FnMut(Result<DeliveryTally, &StateError>),
    ) -> DeliveryTally {
        let stopping = Stopping::default();
        let work = pin!(self.work(&stopping, told));
        // The stop is looked at first: what is told before a round is over ends it.
        match select(pin!(stop), work).await {
            Either::Right((total, _)) => total,
            Either::Left(((), work)) => {
                stopping.ask();
                work.await
            }
        }
    }

    async fn work(
        &self,
        stopping: &Stopping,
        mut told: impl FnMut(Result<DeliveryTally, &StateError>),
    ) -> DeliveryTally {
        let mut total = DeliveryTally::default();
        let mut pause = LOOK_EVERY;
        while !stopping.is_asked() {
            match self.deliver_until(&stopping.asked).await {
                Ok(done) => {
                    pause = LOOK_EVERY;
                    if done != DeliveryTally::default() {
                        total.add(done);
                        told(Ok(done));
                    }
                }
                Err(error) => {
                    pause = pause.saturating_mul(2).min(PAUSE_MAX);
                    told(Err(&error));
                }
            }
            let woken = pin!(self.enqueued());
            let stopped = pin!(stopping.told.notified());
            // Whichever comes first, the next thing to do is to look.
            let _reason = tokio::time::timeout(pause, select(woken, stopped)).await;
        }
        total
    }
}
