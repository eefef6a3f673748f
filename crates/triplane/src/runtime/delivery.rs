//! The task that conveys committed intents while the runtime goes on.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use triplane_state::{DeliveryTally, DeliveryWorker, StateError};

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

    fn hear(&self, told: Result<DeliveryTally, &StateError>) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        match told {
            Ok(done) => tally.add(done),
            Err(error) => tracing::warn!(%error, "deliveries wait: the store cannot be used"),
        }
    }
}

async fn run(worker: DeliveryWorker, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
    // An error of the wait: whoever could tell is gone, which is a stop too.
    let stop = async { drop(stopped.wait_for(|stop| *stop).await) };
    worker.watch(stop, |told| shared.hear(told)).await;
    // What was committed before the stop is conveyed once more.
    shared.hear(worker.deliver_due().await.as_ref().copied());
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
