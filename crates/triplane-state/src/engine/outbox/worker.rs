//! The delivery worker: claims, sends outside of any transaction, settles.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;

use crate::delivery::{DeliveryIntent, DeliverySink};
use crate::engine::lease::LeaseHolder;
use crate::engine::outbox::change::{Change, apply_changes};
use crate::engine::outbox::claim::{
    Boot, ClaimRequest, Claimed, ClaimedAttempt, LeasedRow, claim, is_due,
};
use crate::engine::outbox::convey::convey;
use crate::engine::outbox::direct::{is_due_direct, leased_direct, load_direct, turn_direct};
use crate::engine::outbox::load::load;
use crate::engine::outbox::read::backlog;
use crate::engine::outbox::registration::SinkRegistration;
use crate::engine::outbox::settle::{
    Unsendable, interrupted_max, lease_void, settlement, unsendable,
};
use crate::engine::outbox::status::Reason;
use crate::engine::outbox::tally::DeliveryTally;
use crate::engine::store::Connections;
use crate::error::StateError;
use crate::retry::RetryPolicy;

/// Conveys committed intents to their sinks (ADR-0059, ADR-0120 D5).
///
/// Any number of workers, in any number of processes, may work on one store. An intent whose sink is
/// not registered here stays as it is; [`DeliveryWorker::without_sink`] counts those.
#[derive(Clone)]
pub struct DeliveryWorker {
    connections: Arc<Connections>,
    sinks: Vec<(String, Arc<dyn DeliverySink>)>,
    retry: RetryPolicy,
    attempt_max: Duration,
    holder: LeaseHolder,
    /// The sinks whose declaration is kept in the store already.
    kept: Arc<Mutex<HashSet<String>>>,
}

impl fmt::Debug for DeliveryWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sinks: Vec<_> = self.sinks.iter().map(|(name, _)| name).collect();
        f.debug_struct("DeliveryWorker")
            .field("sinks", &sinks)
            .field("retry", &self.retry)
            .field("attempt_max", &self.attempt_max)
            .finish_non_exhaustive()
    }
}

/// How long one attempt may take, and how much longer its lease is, so that a slow but living
/// worker settles before anybody else claims (ADR-0059).
const ATTEMPT_MAX: Duration = Duration::from_secs(10);
const LEASE_MARGIN: Duration = Duration::from_secs(5);

impl DeliveryWorker {
    pub(crate) fn new(connections: Arc<Connections>) -> Self {
        Self {
            connections,
            sinks: Vec::new(),
            retry: RetryPolicy::default(),
            attempt_max: ATTEMPT_MAX,
            holder: LeaseHolder::this_process(),
            kept: Arc::default(),
        }
    }

    /// Registers a sink under the name that intents call it by.
    #[must_use]
    pub fn sink(mut self, name: impl Into<String>, sink: Arc<dyn DeliverySink>) -> Self {
        self.sinks.push((name.into(), sink));
        self
    }

    /// When a failed attempt is made again, and how often. The default is that of ADR-0059.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// How long one attempt may take, 10 s by default. A batch gets as many times that as it has
    /// intents; a sink that takes longer is dropped and the outcome is unknown.
    #[must_use]
    pub fn attempt_max(mut self, attempt_max: Duration) -> Self {
        self.attempt_max = attempt_max;
        self
    }

    /// The sinks as they are registered, each held against how long an intent may be tried.
    pub fn registrations(&self) -> Vec<SinkRegistration> {
        let sinks = self.sinks.iter();
        sinks
            .map(|(name, sink)| self.registration(name, sink.as_ref()))
            .collect()
    }

    fn registration(&self, name: &str, sink: &dyn DeliverySink) -> SinkRegistration {
        SinkRegistration::new(name, sink.declaration(), self.retry, self.lease())
    }

    /// How long one attempt may go unsettled.
    fn lease(&self) -> Duration {
        self.attempt_max.saturating_add(LEASE_MARGIN)
    }

    /// Keeps what the sink declares in the store, once for each worker.
    async fn keep(&self, name: &str, sink: &dyn DeliverySink) -> Result<(), StateError> {
        if self.kept().contains(name) {
            return Ok(());
        }
        let registration = self.registration(name, sink);
        let now_us = self.connections.now_us();
        self.connections
            .writer
            .transaction(|connection| {
                Box::pin(async move { Ok(registration.keep(connection, now_us).await?) })
            })
            .await?;
        self.kept().insert(name.to_owned());
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, HashSet<String>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers until nothing is due, to all sinks at the same time.
    ///
    /// What becomes due while it works is delivered too, so it can run beside a producer; beside one
    /// that never rests it does not come to an end.
    ///
    /// # Errors
    ///
    /// What the store answers, when every sink has come to its end. What a sink answers is never an
    /// error.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped while a sink is at work, those attempts are made again when their
    /// lease ends, or at once when this process ends.
    pub async fn deliver_due(&self) -> Result<DeliveryTally, StateError> {
        self.deliver_each(Rounds::UntilIdle, &AtomicBool::new(false))
            .await
    }

    /// As [`DeliveryWorker::deliver_due`]; claims nothing more once `stopping` is set.
    pub(crate) async fn deliver_until(
        &self,
        stopping: &AtomicBool,
    ) -> Result<DeliveryTally, StateError> {
        self.deliver_each(Rounds::IfDue, stopping).await
    }

    /// Waits until a commit of this process has enqueued an intent; answers at once if one has since
    /// the last time it answered. For one waiting worker. What other processes enqueue is not
    /// noticed.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn enqueued(&self) {
        self.connections.enqueued.notified().await;
    }

    /// Delivers at most one batch of each sink.
    ///
    /// # Errors
    ///
    /// As [`DeliveryWorker::deliver_due`].
    ///
    /// # Cancel safety
    ///
    /// As [`DeliveryWorker::deliver_due`].
    pub async fn deliver_batch_once(&self) -> Result<DeliveryTally, StateError> {
        self.deliver_each(Rounds::One, &AtomicBool::new(false))
            .await
    }

    /// A slow sink holds up no other, and an error with one does not cut off what another has sent.
    async fn deliver_each(
        &self,
        rounds: Rounds,
        stopping: &AtomicBool,
    ) -> Result<DeliveryTally, StateError> {
        let mut tally = self.void_dead_leases().await?;
        let sinks = self.sinks.iter();
        let deliveries =
            sinks.map(|(name, sink)| self.deliver_to(name, sink.as_ref(), rounds, stopping));
        for delivered in join_all(deliveries).await {
            tally.add(delivered?);
        }
        Ok(tally)
    }

    async fn deliver_to(
        &self,
        name: &str,
        sink: &dyn DeliverySink,
        rounds: Rounds,
        stopping: &AtomicBool,
    ) -> Result<DeliveryTally, StateError> {
        let mut tally = DeliveryTally::default();
        // Whoever looks again and again takes no lock from those who write while there is nothing.
        if rounds == Rounds::IfDue && !self.is_due(name).await? {
            return Ok(tally);
        }
        let mut claimed = self
            .turn(name, Vec::new(), Claims::Next, &mut tally)
            .await?;
        if !claimed.is_empty() {
            self.keep(name, sink).await?;
        }
        while !claimed.is_empty() {
            let settled = self.send(sink, &claimed.attempts).await?;
            let claims = match rounds {
                Rounds::UntilIdle | Rounds::IfDue if !stopping.load(Ordering::Relaxed) => {
                    Claims::Next
                }
                Rounds::UntilIdle | Rounds::IfDue | Rounds::One => Claims::Nothing,
            };
            triplane_kernel::failpoint!("settle.before");
            claimed = self.turn(name, settled, claims, &mut tally).await?;
            triplane_kernel::failpoint!("settle.after");
        }
        Ok(tally)
    }

    /// The intents that wait for a sink which is not registered here, counted by the sink's name.
    ///
    /// # Errors
    ///
    /// What the store answers.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn without_sink(&self) -> Result<Vec<(String, u64)>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let mut waiting = backlog(&mut reader)
            .await
            .map_err(|error| self.connections.failure(error))?;
        waiting.retain(|(name, _)| self.sinks.iter().all(|(sink, _)| sink != name));
        Ok(waiting)
    }

    /// Whether a claim for `sink` would find something.
    async fn is_due(&self, sink: &str) -> Result<bool, StateError> {
        let now_us = self.connections.now_us();
        let (readers, name) = (&self.connections.readers, sink.to_owned());
        let found = readers.direct(move |connection| is_due_direct(connection, &name, now_us));
        if let Some(found) = found.await {
            return Ok(found);
        }
        let mut reader = readers.lend().await?;
        let found = is_due(&mut reader, sink, now_us).await;
        found.map_err(|error| self.connections.failure(error))
    }

    /// One transaction: settles the last batch and claims the next one.
    async fn turn(
        &self,
        sink: &str,
        settled: Vec<Change>,
        claims: Claims,
        tally: &mut DeliveryTally,
    ) -> Result<Claimed, StateError> {
        if settled.is_empty() && claims == Claims::Nothing {
            return Ok(Claimed::default());
        }
        let request = ClaimRequest {
            sink: sink.to_owned(),
            lease_holder: self.holder.to_text(),
            lease: self.lease(),
            interrupted_max: interrupted_max(self.retry),
            boot: self.boot(),
        };
        let now_us = self.connections.now_us();
        let request = (claims == Claims::Next).then(|| Arc::new(request));
        let changes = Arc::new(settled);
        let (settled, wanted) = (Arc::clone(&changes), request.clone());
        let writer = &self.connections.writer;
        let turned = writer
            .direct(move |connection| turn_direct(connection, &settled, wanted.as_deref(), now_us));
        let (held, claimed) = if let Some(turned) = turned.await? {
            turned
        } else {
            let settled = Arc::clone(&changes);
            writer
                .transaction(|connection| {
                    Box::pin(async move {
                        let held = apply_changes(connection, &settled, now_us).await?;
                        triplane_kernel::failpoint!("settle.changed");
                        let claimed = match request {
                            Some(request) => claim(connection, &request, now_us).await?,
                            None => Claimed::default(),
                        };
                        Ok((held, claimed))
                    })
                })
                .await?
        };
        triplane_kernel::failpoint!("turn.committed");
        tally.count(&changes, &held);
        tally.expired += claimed.expired;
        tally.dead_lettered += claimed.dead_lettered;
        Ok(claimed)
    }

    /// Loads the intents, hands them to the sink, and turns its results into changes.
    async fn send(
        &self,
        sink: &dyn DeliverySink,
        attempts: &[ClaimedAttempt],
    ) -> Result<Vec<Change>, StateError> {
        if attempts.is_empty() {
            return Ok(Vec::new());
        }
        let store_id = self.connections.store_id().await?;
        let (id, wanted) = (store_id.to_owned(), attempts.to_vec());
        let readers = &self.connections.readers;
        let loaded = readers.direct(move |connection| load_direct(connection, &id, &wanted));
        let loaded = if let Some(loaded) = loaded.await {
            loaded
        } else {
            let mut reader = readers.lend().await?;
            load(&mut reader, store_id, attempts)
                .await
                .map_err(|error| self.connections.failure(error))?
        };
        let mut changes = Vec::with_capacity(loaded.len());
        let mut claimed = Vec::with_capacity(loaded.len());
        let mut intents = Vec::with_capacity(loaded.len());
        let bytes_max = sink.declaration().payload_bytes_max;
        for (attempt, intent) in loaded {
            let intent = intent.and_then(|intent| fitting(intent, bytes_max));
            match intent {
                Ok(intent) => {
                    claimed.push(attempt);
                    intents.push(intent);
                }
                Err(reason) => changes.push(unsendable(attempt, reason, self.connections.now_us())),
            }
        }
        triplane_kernel::failpoint!("send.before");
        let results = convey(sink, &intents, self.attempt_max).await;
        triplane_kernel::failpoint!("send.answered");
        let now_us = self.connections.now_us();
        let settled = claimed.into_iter().zip(results);
        changes.extend(
            settled.map(|(attempt, result)| settlement(attempt, result, self.retry, now_us)),
        );
        Ok(changes)
    }

    /// This start of the machine and the time since then, if both can be told.
    fn boot(&self) -> Option<Boot> {
        let now_us = self.connections.options.clock.boot_us()?;
        let id = self.holder.boot()?.to_owned();
        Some(Boot { id, now_us })
    }

    /// Ends the leases of processes that are proven dead, so that their intents are due at once.
    async fn void_dead_leases(&self) -> Result<DeliveryTally, StateError> {
        let mut tally = DeliveryTally::default();
        let readers = &self.connections.readers;
        let held = if let Some(held) = readers.direct(leased_direct).await {
            held
        } else {
            let mut reader = readers.lend().await?;
            LeasedRow::read_all(&mut reader)
                .await
                .map_err(|error| self.connections.failure(error))?
        };
        let mut seen = HashMap::new();
        let now_us = self.connections.now_us();
        let dead = held.into_iter().filter(|row| {
            let verdict = seen
                .entry(row.holder.clone())
                .or_insert_with(|| self.holder.is_dead(&row.holder));
            *verdict
        });
        let changes: Vec<_> = dead
            .map(|row| lease_void(row.claimed, row.created_at_us, self.retry, now_us))
            .collect();
        if changes.is_empty() {
            return Ok(tally);
        }
        triplane_kernel::failpoint!("lease.before_void");
        self.turn("", changes, Claims::Nothing, &mut tally).await?;
        triplane_kernel::failpoint!("lease.voided");
        Ok(tally)
    }
}

/// The intent, unless its payload is larger than its sink takes.
fn fitting(intent: DeliveryIntent, bytes_max: Option<usize>) -> Result<DeliveryIntent, Unsendable> {
    let bytes = intent.payload.get().len();
    match bytes_max {
        Some(bytes_max) if bytes > bytes_max => Err(Unsendable {
            reason: Reason::TooLarge,
            says: format!("the payload has {bytes} bytes, the sink takes {bytes_max}"),
        }),
        _ => Ok(intent),
    }
}

/// How often a sink is given a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounds {
    UntilIdle,
    /// The same, after a look that takes no lock.
    IfDue,
    One,
}

/// Whether a turn claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claims {
    Next,
    Nothing,
}
