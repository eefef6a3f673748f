//! Waiting for the answer to a unit.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, oneshot};

use crate::engine::commit::receipt::Committed;
use crate::error::StateError;

/// How long a unit that is alone is waited for without sleep: as long as a quick disk takes. To wake a
/// thread that sleeps takes a good part of that once more.
const AWAKE: Duration = Duration::from_micros(500);

/// A unit in the queue: a future of its answer.
///
/// While it is the only one that waits, it asks to be polled again for a moment instead of being woken.
/// Between two looks everybody else has a turn, the other tasks of its runtime and other threads.
#[derive(Debug)]
pub(crate) struct Pending {
    answer: oneshot::Receiver<Result<Committed, StateError>>,
    /// The room that units wait in, and how much of it is free when this one is alone.
    alone: Option<(Arc<Semaphore>, usize)>,
    since: Option<Instant>,
}

impl Pending {
    pub(crate) fn new(
        answer: oneshot::Receiver<Result<Committed, StateError>>,
        room: Arc<Semaphore>,
        free_alone: usize,
    ) -> Self {
        Self {
            answer,
            alone: Some((room, free_alone)),
            since: None,
        }
    }

    /// An answer that is known already.
    pub(crate) fn answered(answer: Result<Committed, StateError>) -> Self {
        let (sender, receiver) = oneshot::channel();
        // The receiver is right here.
        sender.send(answer).ok();
        Self {
            answer: receiver,
            alone: None,
            since: None,
        }
    }

    fn stays_awake(&mut self) -> bool {
        let Some((room, free_alone)) = &self.alone else {
            return false;
        };
        room.available_permits() >= *free_alone
            && self.since.get_or_insert_with(Instant::now).elapsed() < AWAKE
    }
}

impl Future for Pending {
    type Output = Result<Committed, StateError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(answer) = Pin::new(&mut self.answer).poll(cx) {
            return Poll::Ready(answer.unwrap_or(Err(StateError::Closed)));
        }
        if self.stays_awake() {
            thread::yield_now();
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
