//! Delivery: workers over the sinks of the campaign.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use triplane_crash::order;
use triplane_sinks::argv::ArgvSink;
use triplane_sinks::file::FileSink;
use triplane_state::retry::RetryPolicy;
use triplane_state::{DeliveryWorker, Store};

use crate::desk::Desk;
use crate::destination::Destination;

/// How long nothing may be due before the clock is moved on.
const STEP: Duration = Duration::from_mins(10);
/// How often the clock is moved on: attempts, interruptions and their waits are bounded by less.
const STEPS_MAX: u32 = 80;

impl Desk {
    /// The destination in this process, with a rival on another handle.
    pub(crate) fn destination(&self, other: &Store) -> anyhow::Result<Arc<Destination>> {
        let destination = Destination::new(&self.folder, self.clock.clone())?;
        let destination = Arc::new(destination);
        let own = Destination::new(&self.folder, self.clock.clone())?;
        let rival = worker(other)?.sink("proc", Arc::new(own));
        *destination
            .rival
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(rival);
        Ok(destination)
    }

    /// A worker over every sink.
    pub(crate) fn courier(&self, destination: Arc<Destination>) -> anyhow::Result<DeliveryWorker> {
        let program = std::env::current_exe()?;
        let command = ArgvSink::new(["env".into(), receive_order(), program.into_os_string()])?;
        let absent = ArgvSink::new([self.folder.join("no-such-program")])?;
        Ok(worker(&self.store)?
            .sink("proc", destination)
            .sink(
                "file",
                Arc::new(FileSink::new(self.folder.join("sink.jsonl"))),
            )
            .sink("argv", Arc::new(command))
            .sink("absent", Arc::new(absent)))
    }

    /// Delivers what is due now and a little later.
    pub(crate) async fn deliver(
        &self,
        courier: &DeliveryWorker,
        destination: &Destination,
    ) -> anyhow::Result<()> {
        for _ in 0..3 {
            let delivered = courier.deliver_due().await;
            self.heed("delivery", delivered)?;
            destination.settle().await;
            self.clock.advance(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Delivers until everything has come to its end, moving the clock on.
    pub(crate) async fn deliver_all(
        &self,
        courier: &DeliveryWorker,
        destination: &Destination,
    ) -> anyhow::Result<()> {
        for _ in 0..STEPS_MAX {
            let delivered = courier.deliver_due().await;
            self.heed("delivery", delivered)?;
            destination.settle().await;
            if self.store.unsettled().await? == 0 {
                break;
            }
            self.clock.advance(STEP);
        }
        Ok(())
    }
}

fn worker(store: &Store) -> anyhow::Result<DeliveryWorker> {
    let retry = RetryPolicy::new(4, Duration::from_millis(1), Duration::from_millis(4))?;
    let worker = store.delivery().retry(retry);
    Ok(worker.attempt_max(Duration::from_secs(order::ATTEMPT_S)))
}

/// As an argument of `env`: the command finds the rest in what it inherits.
fn receive_order() -> std::ffi::OsString {
    format!("{}=receive", order::TASK).into()
}
