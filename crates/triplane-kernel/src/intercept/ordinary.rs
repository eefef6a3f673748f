//! The loop over the ordinary stages.
//!
//! A stretch of plain continues runs inside one `catch_unwind` with an index beside it, which is
//! re-entered behind whoever panicked or decided something: containing each handler by itself costs
//! as much as a quiet handler does.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use crate::cancel::{Cooperation, Scope};
use crate::contain::contain;
use crate::failure::HandlerFailure;
use crate::intercept::decision::Decision;
use crate::intercept::interceptor::{Interceptor, Step};
use crate::intercept::report::{Ending, Note};
use crate::intercept::run::{Answer, Run, Verdict};

impl<C> Run<'_, C> {
    pub(crate) async fn ordinary(&mut self, scope: &Scope) {
        let handlers = &self.plan.handlers[..self.plan.teardown_from];
        if self.cancelled_before(scope) {
            return;
        }
        let mut at = 0;
        while at < handlers.len() {
            let (mut asked, context) = (Asked::End, &self.context);
            let stretch = poll_fn(|cx| {
                let stretch = || ask(handlers, &mut at, context, scope, Some(cx), &mut asked);
                Poll::Ready(contain(stretch))
            });
            let contained = stretch.await;
            // Looked at in place, as in `first_loud`.
            if contained.is_ok() && matches!(asked, Asked::End) {
                return;
            }
            let answer = match (contained, asked) {
                (Ok(()), Asked::End) => return,
                (Ok(()), Asked::Answer(answer)) => answer,
                (Ok(()), Asked::Waiting(future)) => {
                    let cooperation = self.plan.outline.places[at].cooperation;
                    wait(future, scope, cooperation).await
                }
                (Err(failure), _) => Err(failure),
            };
            if self.settle(at, answer).is_break() {
                return;
            }
            at += 1;
        }
    }

    pub(crate) fn ordinary_sync(&mut self, scope: &Scope) {
        let handlers = &self.plan.handlers[..self.plan.teardown_from];
        if self.cancelled_before(scope) {
            return;
        }
        let mut at = 0;
        while at < handlers.len() {
            let (mut asked, context) = (Asked::End, &self.context);
            let stretch = || ask(handlers, &mut at, context, scope, None, &mut asked);
            let contained = contain(stretch);
            if contained.is_ok() && matches!(asked, Asked::End) {
                return;
            }
            let answer = match (contained, asked) {
                (Ok(()), Asked::End) => return,
                (Ok(()), Asked::Answer(answer)) => answer,
                (Ok(()), Asked::Waiting(_)) => Err(HandlerFailure::fatal(AnsweredLater)),
                (Err(failure), _) => Err(failure),
            };
            if self.settle(at, answer).is_break() {
                return;
            }
            at += 1;
        }
    }

    /// Entering a chain is a wait that a standing request fails.
    fn cancelled_before(&mut self, scope: &Scope) -> bool {
        if self.plan.handlers.is_empty() {
            return false;
        }
        let Some(cause) = scope.standing() else {
            return false;
        };
        self.note(0, Note::Ended(Ending::Cancelled(cause)));
        self.verdict = Verdict::Failed(0, HandlerFailure::Cancelled(cause));
        true
    }
}

/// What a stretch of the loop came to.
enum Asked<'a, C> {
    /// Everybody continued.
    End,
    /// One answered something else than a plain continue.
    Answer(Answer<C>),
    /// One has been polled once and is not ready.
    Waiting(BoxFuture<'a, Answer<C>>),
}

/// Asks from `at` on while the answer is a plain continue. Whoever answers otherwise is left in `at`
/// and its answer in `asked`, which is a parameter because a large value returned through
/// `catch_unwind` costs more than the quiet calls before it.
fn ask<'a, C>(
    handlers: &'a [Arc<dyn Interceptor<C>>],
    at: &mut usize,
    context: &'a C,
    scope: &'a Scope,
    mut waker: Option<&mut Context<'_>>,
    asked: &mut Asked<'a, C>,
) {
    loop {
        let answer = match (first_loud(handlers, at, context, scope), waker.as_mut()) {
            (None, _) => return,
            (Some(Step::Ready(answer)), _) => answer,
            (Some(Step::Later(_)), None) => Err(HandlerFailure::fatal(AnsweredLater)),
            (Some(Step::Later(mut future)), Some(cx)) => match future.as_mut().poll(cx) {
                Poll::Ready(Ok(Decision::Continue(None))) => {
                    *at += 1;
                    continue;
                }
                Poll::Ready(answer) => answer,
                Poll::Pending => {
                    *asked = Asked::Waiting(future);
                    return;
                }
            },
        };
        *asked = Asked::Answer(answer);
        return;
    }
}

/// The first step from `at` on that is not a plain continue at once.
fn first_loud<'a, C>(
    handlers: &'a [Arc<dyn Interceptor<C>>],
    at: &mut usize,
    context: &'a C,
    scope: &'a Scope,
) -> Option<Step<'a, Answer<C>>> {
    while let Some(handler) = handlers.get(*at) {
        let step = handler.intercept(context, scope);
        // Looked at in place, and forgotten since it owns nothing: moving or dropping a quiet step
        // costs more than the call.
        if !matches!(step, Step::Ready(Ok(Decision::Continue(None)))) {
            return Some(step);
        }
        std::mem::forget(step);
        *at += 1;
    }
    None
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
