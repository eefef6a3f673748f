//! The task that conveys committed intents while the runtime goes on.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::select;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use triplane_state::{DeliveryTally, DeliveryWorker};

/// How long the task waits for a commit of this process before it looks for those of others and
/// for retries that have come due.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A running delivery task.
pub(crate) struct DeliveryTask {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    tally: Mutex<DeliveryTally>,
}

impl DeliveryTask {
    pub(crate) fn start(worker: DeliveryWorker) -> Self {
        let shared = Arc::<Shared>::default();
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(run(worker, Arc::clone(&shared), stopped));
        Self {
            shared,
            stop,
            task: Mutex::new(Some(task)),
        }
    }

    /// Lets the task convey what is due, then ends it; one that takes longer than `budget` is ended
    /// where it stands. Answers what it has done in all, and whether it came to its end.
    pub(crate) async fn stop(&self, budget: Duration) -> (DeliveryTally, bool) {
        self.stop.send_replace(true);
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let mut ended = true;
        if let Some(mut task) = task {
            ended = tokio::time::timeout(budget, &mut task).await.is_ok();
            if !ended {
                task.abort();
            }
        }
        (self.shared.tally(), ended)
    }
}

impl Shared {
    fn tally(&self) -> DeliveryTally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, done: DeliveryTally) {
        self.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(done);
    }
}

async fn run(worker: DeliveryWorker, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
    loop {
        // Read before the delivery: what was committed before the stop is conveyed once more.
        let last = *stopped.borrow_and_update();
        match worker.deliver_due().await {
            Ok(done) => shared.add(done),
            Err(error) => tracing::warn!(%error, "deliveries wait: the store cannot be used"),
        }
        if last {
            return;
        }
        let committed = pin!(worker.enqueued());
        let stopping = pin!(stopped.changed());
        // Whichever comes first, the next thing to do is to look.
        let _reason = tokio::time::timeout(LOOK_EVERY, select(committed, stopping)).await;
    }
}

impl Drop for DeliveryTask {
    fn drop(&mut self) {
        if let Some(task) = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            task.abort();
        }
    }
}

impl fmt::Debug for DeliveryTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryTask")
            .field("tally", &self.shared.tally())
            .finish_non_exhaustive()
    }
}
