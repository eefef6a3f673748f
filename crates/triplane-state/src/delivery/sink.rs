//! Where committed intents go.

use std::num::NonZeroUsize;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{FuturesUnordered, StreamExt as _};

use crate::delivery::intent::DeliveryIntent;

/// A destination of deliveries (ADR-0120 D5).
///
/// The delivery worker calls it after the commit, outside any transaction, at least once for each
/// intent: a process that dies between the send and its bookkeeping sends again, under the same
/// [key](DeliveryIntent::key). A sink must not panic and must come to an answer in bounded time.
/// Nothing that it answers changes the fact.
pub trait DeliverySink: Send + Sync {
    /// What the destination promises.
    fn declaration(&self) -> SinkDeclaration;

    /// Conveys one intent.
    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult>;

    /// Conveys several intents and answers for each, in the same order.
    ///
    /// By default begun in order, with as many under way at once as the
    /// [declaration](SinkDeclaration::in_flight_max) allows: one after the other unless it says
    /// otherwise. A sink that pays per call, such as a file that must reach the disk, does better.
    fn deliver_batch<'a>(
        &'a self,
        intents: &'a [DeliveryIntent],
    ) -> BoxFuture<'a, Vec<DeliveryResult>> {
        let in_flight_max = self.declaration().in_flight_max.get();
        Box::pin(async move {
            let mut results = Vec::with_capacity(intents.len());
            let mut waiting = intents.iter().enumerate();
            let mut under_way = FuturesUnordered::new();
            loop {
                let room = in_flight_max - under_way.len();
                for (place, intent) in waiting.by_ref().take(room) {
                    under_way.push(self.deliver(intent).map(move |result| (place, result)));
                }
                // Whichever ends first: a slow one does not keep others from beginning.
                let Some(ended) = under_way.next().await else {
                    break;
                };
                results.push(ended);
            }
            results.sort_unstable_by_key(|(place, _)| *place);
            results.into_iter().map(|(_, result)| result).collect()
        })
    }
}

/// What a destination promises, declared before the first delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SinkDeclaration {
    /// How long the destination remembers a key.
    pub idempotency: Idempotency,
    /// What an accepted delivery means.
    pub durability: SinkDurability,
    /// In which order it keeps what it takes.
    pub ordering: SinkOrdering,
    /// The largest payload that it takes, in bytes, if it has a limit. A larger one is given up
    /// without an attempt.
    pub payload_bytes_max: Option<usize>,
    /// How many deliveries may be under way at once, where the sink is given them one by one. With
    /// more than one it sees no order.
    pub in_flight_max: NonZeroUsize,
}

impl SinkDeclaration {
    /// A declaration without a limit of size and without a promise of order, for one delivery at a
    /// time.
    pub const fn new(idempotency: Idempotency, durability: SinkDurability) -> Self {
        Self {
            idempotency,
            durability,
            ordering: SinkOrdering::None,
            payload_bytes_max: None,
            in_flight_max: NonZeroUsize::MIN,
        }
    }

    /// The same with this order.
    #[must_use]
    pub const fn ordering(mut self, ordering: SinkOrdering) -> Self {
        self.ordering = ordering;
        self
    }

    /// The same for payloads of up to `bytes_max` bytes.
    #[must_use]
    pub const fn payload_bytes_max(mut self, bytes_max: usize) -> Self {
        self.payload_bytes_max = Some(bytes_max);
        self
    }

    /// The same with up to `in_flight_max` deliveries at once; 0 counts as 1.
    #[must_use]
    pub const fn in_flight_max(mut self, in_flight_max: usize) -> Self {
        self.in_flight_max = match NonZeroUsize::new(in_flight_max) {
            Some(in_flight_max) => in_flight_max,
            None => NonZeroUsize::MIN,
        };
        self
    }
}

/// How long a destination remembers the key of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// Not at all: a repeated delivery is a second one.
    None,
    /// For this long after the first delivery.
    Window(Duration),
    /// As long as the destination exists.
    Permanent,
}

/// What an accepted delivery has survived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkDurability {
    /// The destination has taken it.
    Accepted,
    /// The destination has written it through to its disk.
    Fsynced,
}

/// In which order a destination keeps what it takes.
///
/// Attempts are made in the order of commits; one that fails comes again after others, so that a
/// destination sees the order of a session only when nothing fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkOrdering {
    /// In none that it would promise.
    None,
    /// Of each session in the order in which it was given.
    PerSession,
}

/// The answer of a sink to one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum DeliveryResult {
    /// Conveyed; the destination's own receipt, if it gives one.
    Delivered(Option<String>),
    /// Not conveyed; worth another attempt, not before `after` if that is set.
    Retry {
        /// What went wrong.
        error: String,
        /// The earliest next attempt, counted from now.
        after: Option<Duration>,
    },
    /// Not conveyed, and no attempt will do better.
    Reject {
        /// Why not.
        reason: String,
    },
    /// Sent, and nothing is known of it, as after a time-out. Counts as an attempt.
    Unknown {
        /// What went wrong.
        error: String,
    },
}
