//! Calls one handler after the other.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::cancel::Scope;
use crate::contain::contain;
use crate::dispatch::call::{Awaitable, Ended, EntryPoint, Pause};
use crate::dispatch::handler::Called;
use crate::dispatch::index::Entry;
use crate::dispatch::nesting;
use crate::dispatch::outcome::{HandlerOutcome, NotRun};
use crate::dispatch::outcomes::Outcomes;
use crate::dispatch::phase::{Phase, Timer, YIELD_AFTER};
use crate::dispatch::stage::{Effect, Stage};
use crate::dispatch::work::{Pending, Stop, Work, dropping};
use crate::failure::HandlerFailure;
use crate::policy::CompletionTiming;

/// What a stretch of calls came to, at the entry where it stopped.
pub(crate) enum Stretch<'a, T> {
    /// Everybody was called.
    End,
    /// One did not simply return a value.
    Settle(Ended<T>),
    /// A predicate failed.
    Predicate(HandlerFailure),
    /// One was called, has been polled once, and is not ready.
    Waiting(Work<'a, T>),
    /// One returned an awaitable that is kept for later.
    Gathered(Work<'a, T>),
    /// Others of the task should run.
    Yield,
}

/// Calls from `at` on while each returns a value, and leaves `at` at the last called. Where it stops
/// before the end it says so in `stretch`, which is [`Stretch::End`] before: a stretch is as large as
/// a failure, and hardly ever made.
#[expect(
    clippy::inline_always,
    reason = "measured: one call less in every emission"
)]
#[inline(always)]
pub(crate) fn stretch<'a, S, T>(
    phase: &Phase<'a, S, T>,
    at: &mut usize,
    outcomes: &mut Outcomes<T>,
    from: EntryPoint,
    cx: &mut Context<'_>,
    stretch: &mut Stretch<'a, T>,
) where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let call = if phase.is_plain() {
        call::<true, S, T>
    } else {
        call::<false, S, T>
    };
    if let Err(panic) = contain(|| call(phase, at, outcomes, from, cx, stretch)) {
        *stretch = Stretch::Settle(Ended::Answered(Err(panic)));
    }
}

/// The next stretch of a phase that goes on.
async fn next_stretch<'a, S, T>(
    phase: &Phase<'a, S, T>,
    at: &mut usize,
    outcomes: &mut Outcomes<T>,
    from: EntryPoint,
) -> Stretch<'a, T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let mut next = Stretch::End;
    poll_fn(|cx| {
        stretch(phase, at, outcomes, from, cx, &mut next);
        Poll::Ready(())
    })
    .await;
    next
}

/// Runs the calls of a sequential phase on from a stretch that stopped; what is to be gathered is
/// returned.
pub(crate) async fn run<'a, S, T>(
    phase: &Phase<'a, S, T>,
    mut at: usize,
    mut stopped: Stretch<'a, T>,
    stage: &mut Stage,
    outcomes: &mut Outcomes<T>,
    timer: &mut Timer<'_>,
    from: EntryPoint,
) -> Vec<Pending<'a, T>>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let mut gathered = Vec::new();
    loop {
        let settled = match stopped {
            Stretch::End => {
                at = phase.list.entries.len();
                break;
            }
            Stretch::Settle(ended) => {
                let entry = &phase.list.entries[at];
                Some(stage.take(&entry.registration.name, at, ended, None))
            }
            Stretch::Predicate(failure) => {
                let name = &phase.list.entries[at].registration.name;
                stage.take_predicate(name, at, failure, phase.policy.predicate_failure)
            }
            Stretch::Waiting(work) => {
                let entry = &phase.list.entries[at];
                let (outcome, effect) = wait(phase, stage, entry, at, work, timer).await;
                timer.look();
                Some((outcome, effect))
            }
            Stretch::Gathered(work) => {
                let entry = &phase.list.entries[at];
                gathered.push(Pending {
                    at,
                    cooperative: entry.cooperates(),
                    heeds_elsewhere: entry.registration.heeds_elsewhere,
                    work: Some(work),
                });
                None
            }
            Stretch::Yield => {
                yield_now().await;
                timer.look();
                if timer.expired {
                    break;
                }
                stopped = next_stretch(phase, &mut at, outcomes, from).await;
                continue;
            }
        };
        at += 1;
        if let Some((outcome, effect)) = settled {
            outcomes.note(at - 1, outcome);
            let stops = match effect {
                Effect::GoOn => false,
                Effect::Failure => stage.completion() == CompletionTiming::StopOnFailure,
                Effect::End => true,
            };
            if stops || timer.expired {
                break;
            }
        }
        stopped = next_stretch(phase, &mut at, outcomes, from).await;
    }
    let why = match (stage.ended(), timer.expired) {
        (Some(ending), _) => ending.not_run(),
        (None, true) => NotRun::DeadlineExpired,
        (None, false) => NotRun::StoppedByFailure,
    };
    not_run(phase, at, outcomes, why);
    gathered
}

/// Notes the registrations from `at` on as not called.
pub(crate) fn not_run<S, T>(
    phase: &Phase<'_, S, T>,
    from: usize,
    outcomes: &mut Outcomes<T>,
    why: NotRun,
) {
    for (at, entry) in phase.list.entries.iter().enumerate().skip(from) {
        if phase.selects(entry) {
            outcomes.note(at, HandlerOutcome::NotRun(why));
        }
    }
}

/// `PLAIN` is [`Phase::is_plain`].
fn call<'a, const PLAIN: bool, S, T>(
    phase: &Phase<'a, S, T>,
    at: &mut usize,
    outcomes: &mut Outcomes<T>,
    from: EntryPoint,
    cx: &mut Context<'_>,
    stretch: &mut Stretch<'a, T>,
) where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let _level = nesting::enter();
    let first = *at;
    for (index, entry) in phase.list.entries.iter().enumerate().skip(first) {
        *at = index;
        if index - first == YIELD_AFTER && from == EntryPoint::Async {
            *stretch = Stretch::Yield;
            return;
        }
        if !PLAIN {
            if !phase.selects(entry) {
                continue;
            }
            match phase.matches(entry) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(failure) => {
                    *stretch = Stretch::Predicate(failure);
                    return;
                }
            }
            if phase.host.timed {
                outcomes.began(index);
            }
        }
        let begun = if PLAIN {
            begin_inline(phase, entry, phase.scope, cx)
        } else {
            begin(phase, entry, cx)
        };
        *stretch = match begun {
            Begun::Value(value) => {
                outcomes.value(index, value);
                continue;
            }
            Begun::Ended(ended) => Stretch::Settle(ended),
            Begun::Waiting(work) => Stretch::Waiting(work),
            Begun::Gathered(work) => Stretch::Gathered(work),
        };
        return;
    }
}

/// What one call came to at once.
pub(crate) enum Begun<'a, T> {
    Value(T),
    Ended(Ended<T>),
    /// It has been polled once.
    Waiting(Work<'a, T>),
    Gathered(Work<'a, T>),
}

/// Calls one handler, and polls once what is to be awaited in its turn.
#[expect(
    clippy::inline_always,
    reason = "measured: what it returns is as large as a failure"
)]
#[inline(always)]
pub(crate) fn begin<'a, S, T>(
    phase: &Phase<'a, S, T>,
    entry: &'a Arc<Entry<S, T>>,
    cx: &mut Context<'_>,
) -> Begun<'a, T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let registration = &entry.registration;
    if phase.calls.offloads(registration.declared) {
        return first_poll(phase.offload(entry), cx);
    }
    if phase.planned.detaches {
        return begin_owned(phase, entry, cx);
    }
    begin_inline(phase, entry, phase.scope_of(entry), cx)
}

/// The same for one that is called here and cannot outlive the emission.
#[expect(
    clippy::inline_always,
    reason = "measured: what it returns is as large as a failure"
)]
#[inline(always)]
fn begin_inline<'a, S, T>(
    phase: &Phase<'a, S, T>,
    entry: &'a Arc<Entry<S, T>>,
    scope: &'a Scope,
    cx: &mut Context<'_>,
) -> Begun<'a, T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let registration = &entry.registration;
    match registration.handler.call(phase.signal, scope) {
        Called::Now(Ok(value)) => Begun::Value(value),
        Called::Now(answer) => Begun::Ended(Ended::Answered(answer)),
        Called::Later { kind, mut future } => {
            match phase.calls.awaitable(registration.declared, kind) {
                Awaitable::Await => match future.as_mut().poll(cx) {
                    Poll::Ready(Ok(value)) => Begun::Value(value),
                    Poll::Ready(answer) => Begun::Ended(Ended::Answered(answer)),
                    Poll::Pending => Begun::Waiting(Work::Borrowed(future)),
                },
                Awaitable::Gather => Begun::Gathered(Work::Borrowed(future)),
                Awaitable::Drop => Begun::Ended(Ended::Unawaited),
                Awaitable::Fail(refusal) => Begun::Ended(Ended::Answered(Err(refusal.failure()))),
            }
        }
    }
}

/// The same for a handler that may outlive the emission.
fn begin_owned<S, T>(
    phase: &Phase<'_, S, T>,
    entry: &Arc<Entry<S, T>>,
    cx: &mut Context<'_>,
) -> Begun<'static, T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    if !phase.gathers() {
        return first_poll(Work::Owned(phase.owned(entry, Pause::No)), cx);
    }
    let paused = Work::Owned(phase.owned(entry, Pause::BeforeAwaiting));
    match first_poll(paused, cx) {
        Begun::Waiting(work) => Begun::Gathered(work),
        begun => begun,
    }
}

fn first_poll<T>(mut work: Work<'static, T>, cx: &mut Context<'_>) -> Begun<'static, T> {
    match work.poll(cx) {
        Poll::Ready(Ended::Answered(Ok(value))) => Begun::Value(value),
        Poll::Ready(ended) => Begun::Ended(ended),
        Poll::Pending => Begun::Waiting(work),
    }
}

/// Waits for one handler, which has just been polled.
async fn wait<S, T>(
    phase: &Phase<'_, S, T>,
    stage: &mut Stage,
    entry: &Entry<S, T>,
    at: usize,
    mut work: Work<'_, T>,
    timer: &mut Timer<'_>,
) -> (HandlerOutcome<T>, Effect) {
    let cooperative = entry.cooperates();
    let mut cancelled = pin!(phase.scope.cancelled());
    let mut polled = true;
    let mut asked = None;
    let waited = poll_fn(|cx| {
        if !std::mem::take(&mut polled)
            && let Poll::Ready(ended) = work.poll(cx)
        {
            return Poll::Ready(Ok(ended));
        }
        // A cooperative handler meets the emitter's request itself; it sees the deadline as one.
        let heeds = cooperative && work.heeds(entry.registration.heeds_elsewhere);
        if !heeds && let Poll::Ready(cause) = cancelled.as_mut().poll(cx) {
            return Poll::Ready(Err(Stop::Cancelled(cause)));
        }
        if asked.is_none() && timer.poll(cx).is_ready() {
            if !heeds {
                return Poll::Ready(Err(Stop::Deadline));
            }
            asked = Some(Stop::Deadline);
            if let Some(scope) = phase.inner.get() {
                scope.cancel(Stop::Deadline.cause());
            }
        }
        Poll::Pending
    })
    .await;
    let name = &entry.registration.name;
    match waited {
        Ok(ended) => stage.take(name, at, dropping(work, ended), asked),
        Err(stop) => match (work.stop(stop), stop) {
            (HandlerOutcome::Failed(failure), _) => {
                stage.take(name, at, Ended::Answered(Err(failure)), None)
            }
            (outcome, Stop::Cancelled(cause)) => {
                let cancelled = Ended::Answered(Err(HandlerFailure::Cancelled(cause)));
                let (_, effect) = stage.take::<T>(name, at, cancelled, None);
                (outcome, effect)
            }
            (outcome, Stop::Deadline | Stop::Sibling) => (outcome, Effect::GoOn),
        },
    }
}

/// Lets the other work of this task run once.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
