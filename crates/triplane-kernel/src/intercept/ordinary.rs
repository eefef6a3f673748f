//! The loop over the ordinary stages.
//!
//! A stretch of plain continues runs inside one `catch_unwind` with an index beside it, which is
//! re-entered behind whoever panicked or decided something: containing each handler by itself costs
//! as much as a quiet handler does.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use crate::cancel::{CancelCause, Cooperation, Scope};
use crate::contain::contain;
use crate::failure::HandlerFailure;
use crate::intercept::decision::Decision;
use crate::intercept::interceptor::{Interceptor, Step};
use crate::intercept::plan::Compiled;
use crate::intercept::report::{Decided, Ending, Note};
use crate::intercept::run::{Answer, Run};

/// What a stretch of the loop came to.
pub(crate) enum Asked<'a, C> {
    /// Everybody continued.
    End,
    /// One answered something else than a plain continue.
    Answer(Answer<C>),
    /// One has been polled once and is not ready.
    Waiting(BoxFuture<'a, Answer<C>>),
}

/// Asks the ordinary registrations from `at` on while the answer is a plain continue. Whoever answers
/// otherwise, or panics, is left in `at` and its answer in `asked`, which is a parameter because a
/// large value returned through `catch_unwind` costs more than the quiet calls before it.
#[inline]
pub(crate) fn stretch<'a, C>(
    handlers: &'a [Box<dyn Interceptor<C>>],
    at: &mut usize,
    context: &'a C,
    scope: &'a Scope,
    cx: &mut Context<'_>,
    asked: &mut Asked<'a, C>,
) {
    if let Err(panic) = contain(|| ask(handlers, at, context, scope, cx, asked)) {
        *asked = Asked::Answer(Err(panic));
    }
}

/// The same where nobody can wait.
#[expect(
    clippy::inline_always,
    reason = "measured: a call costs as much as two quiet interceptors"
)]
#[inline(always)]
pub(crate) fn stretch_now<'a, C>(
    handlers: &'a [Box<dyn Interceptor<C>>],
    at: &mut usize,
    context: &'a C,
    scope: &'a Scope,
    asked: &mut Asked<'a, C>,
) {
    if let Err(panic) = contain(|| ask_now(handlers, at, context, scope, asked)) {
        *asked = Asked::Answer(Err(panic));
    }
}

// A function of its own: the few values that a quiet call needs then stay in registers.
#[inline(never)]
fn ask<'a, C>(
    handlers: &'a [Box<dyn Interceptor<C>>],
    at: &mut usize,
    context: &'a C,
    scope: &'a Scope,
    cx: &mut Context<'_>,
    asked: &mut Asked<'a, C>,
) {
    let mut index = *at;
    while let Some(handler) = handlers.get(index) {
        *at = index;
        index += 1;
        // Looked at in place, and forgotten since it owns nothing: moving or dropping a quiet answer
        // costs more than the call.
        *asked = match handler.intercept(context, scope) {
            step if is_quiet(&step) => {
                std::mem::forget(step);
                continue;
            }
            Step::Ready(answer) => Asked::Answer(answer),
            Step::Later(mut future) => match future.as_mut().poll(cx) {
                polled if matches!(polled, Poll::Ready(Ok(Decision::Continue(None)))) => {
                    std::mem::forget(polled);
                    continue;
                }
                Poll::Ready(answer) => Asked::Answer(answer),
                Poll::Pending => Asked::Waiting(future),
            },
        };
        return;
    }
}

#[expect(
    clippy::inline_always,
    reason = "measured: a call costs as much as two quiet interceptors"
)]
#[inline(always)]
fn ask_now<'a, C>(
    handlers: &'a [Box<dyn Interceptor<C>>],
    at: &mut usize,
    context: &'a C,
    scope: &'a Scope,
    asked: &mut Asked<'a, C>,
) {
    let mut index = *at;
    while let Some(handler) = handlers.get(index) {
        *at = index;
        index += 1;
        let step = handler.intercept(context, scope);
        if is_quiet(&step) {
            std::mem::forget(step);
            continue;
        }
        *asked = at_once(step);
        return;
    }
}

#[inline]
fn is_quiet<C>(step: &Step<'_, Answer<C>>) -> bool {
    matches!(step, Step::Ready(Ok(Decision::Continue(None))))
}

#[cold]
#[inline(never)]
fn at_once<C>(step: Step<'_, Answer<C>>) -> Asked<'_, C> {
    Asked::Answer(match step {
        Step::Ready(answer) => answer,
        Step::Later(_) => Err(HandlerFailure::fatal(AnsweredLater)),
    })
}

impl<C> Asked<'_, C> {
    /// The answer, waited for if need be; `None` when everybody continued.
    pub(crate) async fn answer(
        self,
        plan: &Compiled<C>,
        at: usize,
        scope: &Scope,
    ) -> Option<Answer<C>> {
        match self {
            Self::End => None,
            Self::Answer(answer) => Some(answer),
            Self::Waiting(future) => {
                let cooperation = plan.outline.places[at].cooperation;
                Some(wait(future, scope, cooperation).await)
            }
        }
    }

    /// The same where nobody can wait, and nobody was left waiting.
    #[cold]
    #[inline(never)]
    pub(crate) fn answer_now(self) -> Option<Answer<C>> {
        match self {
            Self::End => None,
            Self::Answer(answer) => Some(answer),
            Self::Waiting(_) => Some(Err(HandlerFailure::fatal(AnsweredLater))),
        }
    }
}

impl<C> Run<'_, C> {
    /// Asks from `at` on, behind the answer of that registration if it has given one.
    pub(crate) async fn ordinary(
        &mut self,
        mut at: usize,
        mut loud: Option<Answer<C>>,
        scope: &Scope,
    ) {
        loop {
            if let Some(answer) = loud.take() {
                if self.settle(at, answer).is_break() {
                    return;
                }
                at += 1;
            }
            let Some(until) = self.until(at) else { return };
            let (plan, context, clock) = (self.plan, &self.context, self.clock());
            let (handlers, mut asked) = (&plan.ordinary[..until], Asked::End);
            poll_fn(|cx| {
                stretch(handlers, &mut at, context, scope, cx, &mut asked);
                Poll::Ready(())
            })
            .await;
            loud = asked.answer(plan, at, scope).await;
            self.stop_clock(at, clock);
            if loud.is_none() {
                at = until;
            }
        }
    }

    /// The same without waiting.
    pub(crate) fn ordinary_sync(
        &mut self,
        mut at: usize,
        mut loud: Option<Answer<C>>,
        scope: &Scope,
    ) {
        loop {
            if let Some(answer) = loud.take() {
                if self.settle(at, answer).is_break() {
                    return;
                }
                at += 1;
            }
            let Some(until) = self.until(at) else { return };
            let (handlers, clock) = (&self.plan.ordinary[..until], self.clock());
            let mut asked = Asked::End;
            stretch_now(handlers, &mut at, &self.context, scope, &mut asked);
            loud = asked.answer_now();
            self.stop_clock(at, clock);
            if loud.is_none() {
                at = until;
            }
        }
    }

    /// Where the next stretch ends: behind the next registration when each is timed, else behind
    /// the last; `None` when all have been asked.
    fn until(&self, at: usize) -> Option<usize> {
        let all = self.plan.ordinary.len();
        let until = if self.plan.timed { at + 1 } else { all };
        (at < all).then_some(until)
    }

    /// Entering a chain is a wait that a standing request fails.
    pub(crate) fn cancelled_before(&mut self, cause: CancelCause) {
        self.note(0, Note::Ended(Ending::Cancelled(cause)));
        let cancelled = HandlerFailure::Cancelled(cause);
        self.verdict = Some((0, Decided::Failed(cancelled)));
    }
}

/// An interceptor answered later where its caller cannot wait.
#[derive(Debug, thiserror::Error)]
#[error("the interceptor answers later, and this entry does not wait")]
pub(crate) struct AnsweredLater;

/// Waits for a future that has just been polled and found pending.
async fn wait<C>(
    mut future: BoxFuture<'_, Answer<C>>,
    scope: &Scope,
    cooperation: Cooperation,
) -> Answer<C> {
    let mut cancelled = pin!(scope.cancelled());
    let mut polled = true;
    let answer = poll_fn(|cx| {
        // Polled in this same wake-up already; a second poll would wake early what yields once.
        if !std::mem::take(&mut polled)
            && let Poll::Ready(answer) = contain(|| future.as_mut().poll(cx))
                .unwrap_or_else(|failure| Poll::Ready(Err(failure)))
        {
            return Poll::Ready(answer);
        }
        match cooperation {
            Cooperation::Dropped => cancelled
                .as_mut()
                .poll(cx)
                .map(|cause| Err(HandlerFailure::Cancelled(cause))),
            Cooperation::Cooperative => Poll::Pending,
        }
    })
    .await;
    contain(|| drop(future)).and(answer)
}
