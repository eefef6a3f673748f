//! The loop over the teardown stages: it runs whatever came before, and holds a cancellation back.
//!
//! The clock of a stage starts when a cancellation waits and the stage has begun. Without a
//! cancellation a teardown stage takes the time it takes.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::cancel::{CancelCause, Scope};
use crate::contain::contain;
use crate::failure::HandlerFailure;
use crate::intercept::interceptor::Step;
use crate::intercept::ordinary::AnsweredLater;
use crate::intercept::report::{Decided, Ending, Note};
use crate::intercept::run::{Answer, Run};
use crate::intercept::stage::StageKind;

/// A cancellation that waits for the teardown to end.
struct Held {
    cause: CancelCause,
    /// Whose turn it was when the request came.
    at: usize,
}

/// One teardown stage while it runs.
struct Stage {
    index: usize,
    budget: Duration,
    /// The scope that the stage's handlers see: the owner's request does not reach it.
    shield: Scope,
    ends: Option<Instant>,
    ran_out: bool,
}

enum Waited<C> {
    Answered(Answer<C>),
    RanOut,
}

impl<C> Run<'_, C> {
    pub(crate) async fn teardown(&mut self, scope: &Scope) {
        let mut held = None;
        let mut budget_ran_out = false;
        let cancelled_before = self.cancelled();
        let mut stage: Option<Stage> = None;
        for (index, handler) in self.plan.teardown() {
            let stage = self.enter(&mut stage, index, held.is_some());
            if stage.ran_out {
                self.note(index, Note::NotRun(Ending::BudgetRanOut));
                continue;
            }
            let (shield, clock) = (stage.shield.clone(), self.clock());
            let asking = || handler.intercept(&self.context, &shield);
            let waited = match contain(asking) {
                Err(failure) => Waited::Answered(Err(failure)),
                Ok(Step::Ready(answer)) => Waited::Answered(answer),
                Ok(Step::Later(future)) => {
                    let watch = held.is_none() && !cancelled_before;
                    let shielded = WaitShielded {
                        future,
                        index,
                        stage,
                        watch,
                    };
                    shielded.wait(scope, &mut held).await
                }
            };
            self.stop_clock(index, clock);
            match waited {
                Waited::Answered(answer) => {
                    if self.settle_teardown(index, answer) {
                        self.rest_not_run(index + 1);
                        break;
                    }
                }
                Waited::RanOut => {
                    stage.ran_out = true;
                    budget_ran_out = true;
                    self.note(index, Note::Dropped);
                    stage.shield.cancel(CancelCause::Deadline);
                }
            }
        }
        if cancelled_before || held.is_some() {
            self.note(usize::MAX, Note::Shielded { budget_ran_out });
        }
        if let Some(Held { cause, at }) = held {
            self.raise(at, cause);
        }
    }

    pub(crate) fn teardown_sync(&mut self) {
        let shield = Scope::new();
        let shielded = self.cancelled();
        for (index, handler) in self.plan.teardown() {
            let clock = self.clock();
            let asking = || handler.intercept(&self.context, &shield);
            let answer = match contain(asking) {
                Err(failure) => Err(failure),
                Ok(Step::Ready(answer)) => answer,
                Ok(Step::Later(_)) => Err(HandlerFailure::fatal(AnsweredLater)),
            };
            self.stop_clock(index, clock);
            if self.settle_teardown(index, answer) {
                self.rest_not_run(index + 1);
                break;
            }
        }
        if shielded {
            self.note(
                usize::MAX,
                Note::Shielded {
                    budget_ran_out: false,
                },
            );
        }
    }

    /// Only an explicit stop ends a teardown: the other registrations have their own to clean up.
    fn settle_teardown(&mut self, index: usize, answer: Answer<C>) -> bool {
        let ending = match answer {
            Ok(decision) => self.take(index, decision),
            Err(failure) => self.fail(index, failure),
        };
        ending == Some(Ending::Stopped)
    }

    fn rest_not_run(&mut self, from: usize) {
        for index in from..self.plan.outline.places.len() {
            self.note(index, Note::NotRun(Ending::Stopped));
        }
    }

    /// Whether the ordinary stages ended with a cancellation.
    fn cancelled(&self) -> bool {
        matches!(
            self.verdict,
            Some((_, Decided::Failed(HandlerFailure::Cancelled(_))))
        )
    }

    fn enter<'s>(
        &mut self,
        stage: &'s mut Option<Stage>,
        index: usize,
        held: bool,
    ) -> &'s mut Stage {
        let declared = self.plan.outline.places[index].stage;
        let waiting = held || self.cancelled();
        if stage.as_ref().is_none_or(|stage| stage.index != declared) {
            let StageKind::Teardown {
                budget: Some(budget),
            } = self.plan.outline.stages[declared].kind
            else {
                unreachable!("a plan places only teardown stages here, each with a budget");
            };
            *stage = Some(Stage {
                index: declared,
                budget,
                shield: Scope::new(),
                ends: waiting.then(|| Instant::now() + budget),
                ran_out: false,
            });
        }
        stage.as_mut().expect("set above")
    }
}

/// One shielded wait.
struct WaitShielded<'a, 's, C> {
    future: BoxFuture<'a, Answer<C>>,
    index: usize,
    stage: &'s mut Stage,
    /// Whether a request is still to be looked for: the first one is held, later ones change nothing.
    watch: bool,
}

impl<C> WaitShielded<'_, '_, C> {
    async fn wait(mut self, scope: &Scope, held: &mut Option<Held>) -> Waited<C> {
        let mut cancelled = pin!(scope.cancelled());
        let mut timer = pin!(self.stage.ends.map(tokio::time::sleep_until));
        let waited = poll_fn(|cx| {
            let polled = contain(|| self.future.as_mut().poll(cx));
            if let Poll::Ready(answer) = polled.unwrap_or_else(|failure| Poll::Ready(Err(failure)))
            {
                return Poll::Ready(Waited::Answered(answer));
            }
            if self.watch
                && let Poll::Ready(cause) = cancelled.as_mut().poll(cx)
            {
                self.watch = false;
                *held = Some(Held {
                    cause,
                    at: self.index,
                });
                let ends = Instant::now() + self.stage.budget;
                self.stage.ends = Some(ends);
                timer.set(Some(tokio::time::sleep_until(ends)));
            }
            match timer.as_mut().as_pin_mut() {
                Some(timer) => timer.poll(cx).map(|()| Waited::RanOut),
                None => Poll::Pending,
            }
        })
        .await;
        match contain(|| drop(self.future)) {
            Err(failure) if matches!(waited, Waited::Answered(Ok(_))) => {
                Waited::Answered(Err(failure))
            }
            _ => waited,
        }
    }
}
