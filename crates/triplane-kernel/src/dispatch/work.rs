//! A handler that has been called and has not answered yet.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::cancel::CancelCause;
use crate::contain::contain;
use crate::dispatch::call::{Answer, Ended};
use crate::dispatch::nesting;
use crate::dispatch::offload::Offload;
use crate::dispatch::outcome::HandlerOutcome;
use crate::failure::HandlerFailure;
use crate::sync::AtomicU8;

/// Why a handler is stopped before it has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Sibling,
    Deadline,
    Cancelled(CancelCause),
}

impl Stop {
    /// The request that a cooperative handler sees.
    pub(crate) fn cause(self) -> CancelCause {
        match self {
            Self::Sibling => CancelCause::Handler,
            Self::Deadline => CancelCause::Deadline,
            Self::Cancelled(cause) => cause,
        }
    }

    pub(crate) fn outcome<T>(self) -> HandlerOutcome<T> {
        match self {
            Self::Sibling => HandlerOutcome::CancelledBySibling,
            Self::Deadline => HandlerOutcome::TimedOut,
            Self::Cancelled(cause) => HandlerOutcome::Cancelled(cause),
        }
    }
}

/// Where the answer comes from.
pub(crate) enum Work<'a, T> {
    /// The handler's own future.
    Borrowed(BoxFuture<'a, Answer<T>>),
    /// A call that owns what it borrows.
    Owned(BoxFuture<'static, Ended<T>>),
    /// A call that was made on another thread.
    Offloaded(Offloaded<T>),
}

impl<'a, T> Work<'a, T> {
    /// Polls for the answer; a panic is an answer.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ended<T>> {
        let _level = nesting::enter();
        contain(|| match self {
            Self::Borrowed(future) => future.as_mut().poll(cx).map(Ended::Answered),
            Self::Owned(future) => future.as_mut().poll(cx),
            Self::Offloaded(offloaded) => offloaded.poll(cx),
        })
        .unwrap_or_else(|failure| Poll::Ready(Ended::Answered(Err(failure))))
    }

    /// Whether a cooperative handler meets a request itself now: it does not when its call is still
    /// running on another thread and does not look there.
    pub(crate) fn heeds(&self, elsewhere: bool) -> bool {
        match self {
            Self::Borrowed(_) | Self::Owned(_) => true,
            Self::Offloaded(offloaded) => elsewhere || offloaded.is_back(),
        }
    }

    /// The same work for as long as it takes, if it borrows nothing.
    pub(crate) fn unbound(self) -> Result<Work<'static, T>, Work<'a, T>> {
        match self {
            Self::Borrowed(_) => Err(self),
            Self::Owned(future) => Ok(Work::Owned(future)),
            Self::Offloaded(offloaded) => Ok(Work::Offloaded(offloaded)),
        }
    }

    /// Stops the handler as far as it can be stopped, and says what is known of it then.
    pub(crate) fn stop<U>(self, why: Stop) -> HandlerOutcome<U> {
        let outcome = match &self {
            Self::Borrowed(_) | Self::Owned(_) => why.outcome(),
            Self::Offloaded(offloaded) => offloaded.abandon().unwrap_or_else(|| why.outcome()),
        };
        match contain(|| drop(self)) {
            Ok(()) => outcome,
            Err(failure) => HandlerOutcome::Failed(failure),
        }
    }
}

/// A handler that is waited for beside others.
pub(crate) struct Pending<'a, T> {
    /// Its place in the roster.
    pub(crate) at: usize,
    pub(crate) cooperative: bool,
    /// Whether the call is cooperative on another thread, too.
    pub(crate) heeds_elsewhere: bool,
    pub(crate) work: Option<Work<'a, T>>,
}

impl<T> Pending<'_, T> {
    /// Whether the handler meets a request itself.
    pub(crate) fn heeds(&self) -> bool {
        let heeds = |work: &Work<'_, T>| work.heeds(self.heeds_elsewhere);
        self.cooperative && self.work.as_ref().is_some_and(heeds)
    }
}

impl<T> Future for Pending<'_, T> {
    type Output = (usize, Ended<T>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let ended = std::task::ready!(work.poll(cx));
        let ended = match self.work.take() {
            Some(work) => dropping(work, ended),
            None => ended,
        };
        Poll::Ready((self.at, ended))
    }
}

/// The end of a handler whose future is dropped: a panic there takes the place of a value.
pub(crate) fn dropping<T>(work: Work<'_, T>, ended: Ended<T>) -> Ended<T> {
    match (contain(|| drop(work)), ended) {
        (Err(failure), Ended::Answered(Ok(_))) => Ended::Answered(Err(failure)),
        (_, ended) => ended,
    }
}

/// A call on another thread; when it returns an awaitable, that is awaited here.
pub(crate) struct Offloaded<T> {
    begun: Arc<Begun>,
    state: OffloadState<T>,
}

enum OffloadState<T> {
    There(oneshot::Receiver<Returned<T>>),
    Here(BoxFuture<'static, Ended<T>>),
}

enum Returned<T> {
    Ended(Ended<T>),
    Awaitable(BoxFuture<'static, Ended<T>>),
}

/// Whether the call has begun: decided once, by whoever comes first, the other thread or the one
/// that gives up.
#[derive(Debug, Default)]
struct Begun(AtomicU8);

const WAITING: u8 = 0;
const RUNNING: u8 = 1;
const GIVEN_UP: u8 = 2;

impl Begun {
    fn decide(&self, wanted: u8) -> bool {
        self.0
            .compare_exchange(WAITING, wanted, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

/// The offload dropped the call without making it.
#[derive(Debug, thiserror::Error)]
#[error("the offload refused the call")]
struct OffloadRefused;

impl<T: Send + 'static> Offloaded<T> {
    /// Hands in a call that pauses before it awaits; see [`owned`](crate::dispatch::call::owned).
    pub(crate) fn submit(offload: &dyn Offload, mut call: BoxFuture<'static, Ended<T>>) -> Self {
        let begun = Arc::new(Begun::default());
        let theirs = Arc::clone(&begun);
        let (answer, receiver) = oneshot::channel();
        offload.submit(Box::new(move || {
            if !theirs.decide(RUNNING) {
                return;
            }
            let mut context = Context::from_waker(Waker::noop());
            let returned = match contain(|| call.as_mut().poll(&mut context)) {
                Ok(Poll::Ready(ended)) => Returned::Ended(ended),
                Ok(Poll::Pending) => Returned::Awaitable(call),
                Err(failure) => Returned::Ended(Ended::Answered(Err(failure))),
            };
            // Nobody waits any longer: what was returned is dropped, an awaitable unawaited.
            if let Err(unheard) = answer.send(returned) {
                let _ = contain(|| drop(unheard));
            }
        }));
        Self {
            begun,
            state: OffloadState::There(receiver),
        }
    }
}

impl<T> Offloaded<T> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Ended<T>> {
        loop {
            match &mut self.state {
                OffloadState::Here(future) => return future.as_mut().poll(cx),
                OffloadState::There(receiver) => {
                    match std::task::ready!(Pin::new(receiver).poll(cx)) {
                        Ok(Returned::Ended(ended)) => return Poll::Ready(ended),
                        Ok(Returned::Awaitable(future)) => self.state = OffloadState::Here(future),
                        Err(_) => {
                            let refused = HandlerFailure::failed(OffloadRefused);
                            return Poll::Ready(Ended::Answered(Err(refused)));
                        }
                    }
                }
            }
        }
    }

    /// Whether the call has returned, and what it returned is awaited here.
    fn is_back(&self) -> bool {
        matches!(self.state, OffloadState::Here(_))
    }

    /// What is known of a call that nobody waits for; `None` when it has come back already and only
    /// its awaitable is left, which can be dropped like any other.
    fn abandon<U>(&self) -> Option<HandlerOutcome<U>> {
        match self.state {
            OffloadState::Here(_) => None,
            OffloadState::There(_) if self.begun.decide(GIVEN_UP) => {
                Some(HandlerOutcome::CancelledBeforeStart)
            }
            OffloadState::There(_) => Some(HandlerOutcome::AbandonedUnknown),
        }
    }
}

impl<T> Drop for Offloaded<T> {
    /// A call that nobody waits for does not begin any more.
    fn drop(&mut self) {
        self.begun.decide(GIVEN_UP);
    }
}
