//! Waits for handlers that run beside each other.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use crate::cancel::CancelCause;
use crate::dispatch::call::Ended;
use crate::dispatch::outcome::HandlerOutcome;
use crate::dispatch::outcomes::Outcomes;
use crate::dispatch::phase::{Phase, Timer, YIELD_AFTER};
use crate::dispatch::stage::{Effect, Stage};
use crate::dispatch::work::{Pending, Stop};
use crate::policy::CompletionTiming;

enum Event {
    Empty,
    Stop(Stop),
    Emitter(CancelCause),
    Deadline,
}

/// Polls each once, in order, before any failure is acted on. What is not ready stays in `pending`.
pub(crate) async fn poll_first<S, T>(
    phase: &Phase<'_, S, T>,
    stage: &mut Stage,
    outcomes: &mut Outcomes<T>,
    pending: &mut Vec<Pending<'_, T>>,
) -> Effect {
    let mut worst = Effect::GoOn;
    poll_fn(|cx| {
        pending.retain_mut(|one| {
            let Poll::Ready((at, ended)) = Pin::new(one).poll(cx) else {
                return true;
            };
            let name = &phase.list.entries[at].registration.name;
            let (outcome, effect) = stage.take(name, at, ended, None);
            outcomes.note(at, outcome);
            worst = worst.max(effect);
            false
        });
        Poll::Ready(())
    })
    .await;
    worst
}

/// Waits until none is left: each has answered, was stopped, or goes on by itself.
///
/// `first` is the gravest effect of the answers that are there already, `just_polled` says that each
/// of `pending` was polled in this very wake-up: a second poll in it would wake early what yields
/// once.
pub(crate) async fn complete<S, T>(
    phase: &Phase<'_, S, T>,
    stage: &mut Stage,
    outcomes: &mut Outcomes<T>,
    pending: Vec<Pending<'_, T>>,
    first: Effect,
    mut just_polled: bool,
    timer: &mut Timer<'_>,
) where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    if pending.is_empty() {
        return;
    }
    let mut rest = Rest {
        phase,
        fresh: pending.into_iter(),
        set: FuturesUnordered::new(),
        asked: None,
    };
    if let Some(stop) = stage.stops(first) {
        rest.stop(stop, stage, outcomes);
        just_polled = false;
    }
    let mut cancelled = pin!(phase.scope.cancelled());
    let (mut watching, mut ticking) = (true, true);
    loop {
        let event = poll_fn(|cx| {
            if !std::mem::take(&mut just_polled)
                && let Poll::Ready(event) = rest.poll(cx, stage, outcomes)
            {
                return Poll::Ready(event);
            }
            if watching && let Poll::Ready(cause) = cancelled.as_mut().poll(cx) {
                return Poll::Ready(Event::Emitter(cause));
            }
            if ticking && (timer.expired || timer.poll(cx).is_ready()) {
                return Poll::Ready(Event::Deadline);
            }
            Poll::Pending
        })
        .await;
        match event {
            Event::Empty => return,
            Event::Stop(stop) => rest.stop(stop, stage, outcomes),
            Event::Emitter(cause) => {
                watching = false;
                stage.cancelled_by_emitter(cause);
                rest.stop(Stop::Cancelled(cause), stage, outcomes);
            }
            Event::Deadline => {
                ticking = false;
                timer.expired = true;
                if stage.completion() == CompletionTiming::DetachBounded {
                    rest.let_go(stage, outcomes);
                } else {
                    rest.stop(Stop::Deadline, stage, outcomes);
                }
            }
        }
    }
}

/// The handlers that have not answered.
struct Rest<'p, 'a, S, T> {
    phase: &'p Phase<'a, S, T>,
    /// Those that have been polled once, by the waker of the task. Most answer when the task is woken
    /// for the first time, and asking each again is then cheaper than a waker for each.
    fresh: std::vec::IntoIter<Pending<'a, T>>,
    /// Those that are slower, each polled when its own waker was told.
    set: FuturesUnordered<Pending<'a, T>>,
    /// What those that are left have been asked to stop for.
    asked: Option<Stop>,
}

impl<'a, S, T> Rest<'_, 'a, S, T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    /// Takes answers while there are any. All answers of one wake-up count before the first failure
    /// among them is acted on.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        stage: &mut Stage,
        outcomes: &mut Outcomes<T>,
    ) -> Poll<Event> {
        let mut worst = Effect::GoOn;
        for _ in 0..YIELD_AFTER {
            let next = match self.fresh.next() {
                Some(mut one) => match Pin::new(&mut one).poll(cx) {
                    Poll::Ready(answered) => Poll::Ready(Some(answered)),
                    Poll::Pending => {
                        self.set.push(one);
                        continue;
                    }
                },
                None => self.set.poll_next_unpin(cx),
            };
            let Poll::Ready(next) = next else {
                return match (stage.stops(worst), self.asked) {
                    (Some(stop), None) => Poll::Ready(Event::Stop(stop)),
                    _ => Poll::Pending,
                };
            };
            let Some((at, ended)) = next else {
                return Poll::Ready(Event::Empty);
            };
            let name = &self.phase.list.entries[at].registration.name;
            let (outcome, effect) = stage.take(name, at, ended, self.asked);
            outcomes.note(at, outcome);
            worst = worst.max(effect);
        }
        if let (Some(stop), None) = (stage.stops(worst), self.asked) {
            return Poll::Ready(Event::Stop(stop));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Those that are left, in the order of registration: the set gives them back in another one.
    fn take(&mut self) -> Vec<Pending<'a, T>> {
        let set = std::mem::take(&mut self.set);
        let mut left: Vec<_> = self.fresh.by_ref().chain(set).collect();
        left.sort_unstable_by_key(|one| one.at);
        left
    }

    /// Asks the cooperative ones to stop, and stops the others.
    fn stop(&mut self, why: Stop, stage: &mut Stage, outcomes: &mut Outcomes<T>) {
        self.asked = Some(why);
        for mut one in self.take() {
            if one.heeds() {
                self.set.push(one);
            } else if let Some(work) = one.work.take() {
                let outcome = work.stop(why);
                self.note(one.at, outcome, stage, outcomes);
            }
        }
        if let Some(scope) = self.phase.inner.get() {
            scope.cancel(why.cause());
        }
    }

    /// Hands those that are left to the dispatcher.
    fn let_go(&mut self, stage: &mut Stage, outcomes: &mut Outcomes<T>) {
        for mut one in self.take() {
            let Some(work) = one.work.take() else {
                continue;
            };
            let outcome = match work.unbound() {
                Ok(work) => {
                    let entry = &self.phase.list.entries[one.at];
                    self.phase.host.detached.let_go(entry, work)
                }
                Err(borrowed) => borrowed.stop(Stop::Deadline),
            };
            self.note(one.at, outcome, stage, outcomes);
        }
    }

    /// Notes what stopping came to. A panic on the way is a failure like any other.
    fn note(
        &self,
        at: usize,
        outcome: HandlerOutcome<T>,
        stage: &mut Stage,
        outcomes: &mut Outcomes<T>,
    ) {
        let outcome = match outcome {
            HandlerOutcome::Failed(failure) => {
                let name = &self.phase.list.entries[at].registration.name;
                stage.take(name, at, Ended::Answered(Err(failure)), None).0
            }
            outcome => outcome,
        };
        outcomes.note(at, outcome);
    }
}
