//! Calls handlers beside each other: all in the order of registration, before any is waited for.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::contain::contain;
use crate::dispatch::call::Ended;
use crate::dispatch::gather::complete;
use crate::dispatch::nesting;
use crate::dispatch::outcome::{HandlerOutcome, NotRun};
use crate::dispatch::outcomes::Outcomes;
use crate::dispatch::phase::{Phase, Timer, YIELD_AFTER};
use crate::dispatch::sequential::{Begun, Stretch, begin, not_run, yield_now};
use crate::dispatch::stage::{Effect, Stage};
use crate::dispatch::work::{Pending, Work};

/// Which handlers one pass calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    All,
    Offloaded,
    Inline,
}

/// Runs a concurrent phase, on from where its first stretch stopped if it is opened already.
pub(crate) async fn run<'a, S, T>(
    phase: &Phase<'a, S, T>,
    opened: Option<(usize, Stretch<'a, T>)>,
    stage: &mut Stage,
    outcomes: &mut Outcomes<T>,
    timer: &mut Timer<'_>,
) where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let mut worst = Effect::GoOn;
    let matched = if phase.list.predicates {
        let (matched, effect) = match_all(phase, stage, outcomes);
        if effect == Effect::End {
            return;
        }
        worst = effect;
        Matched::These(matched)
    } else {
        Matched::All(phase.list.entries.len())
    };
    // Free to start in any order, what runs elsewhere starts first: it then runs during the rest.
    let passes: &[Pass] = if phase.planned.ordered {
        &[Pass::All]
    } else {
        &[Pass::Offloaded, Pass::Inline]
    };
    let mut calling = Calling {
        phase,
        stage,
        outcomes,
        matched,
        pending: Vec::new(),
        worst,
    };
    let (mut just_polled, mut begin_at) = (true, 0);
    if let Some((at, stretch)) = opened {
        if matches!(stretch, Stretch::Yield) {
            just_polled = false;
            yield_now().await;
            timer.look();
        }
        begin_at = calling.go_on(at, stretch);
    }
    for pass in passes {
        let mut next = begin_at;
        while next < calling.matched.len() {
            if timer.expired {
                calling.expire(next, *pass);
                break;
            }
            let stretch = poll_fn(|cx| Poll::Ready(contain(|| calling.call(&mut next, *pass, cx))));
            match stretch.await {
                Ok(Called::All) => break,
                Ok(Called::Enough) => {
                    just_polled = false;
                    yield_now().await;
                    timer.look();
                }
                Err(panic) => {
                    calling.note(calling.matched.at(next), Ended::Answered(Err(panic)));
                    next += 1;
                }
            }
        }
    }
    let Calling { pending, worst, .. } = calling;
    complete(phase, stage, outcomes, pending, worst, just_polled, timer).await;
}

/// Whom the phase calls, by place in the roster. The selector is asked at the call.
enum Matched {
    All(usize),
    These(Vec<usize>),
}

impl Matched {
    fn len(&self) -> usize {
        match self {
            Self::All(len) => *len,
            Self::These(places) => places.len(),
        }
    }

    fn at(&self, index: usize) -> usize {
        match self {
            Self::All(_) => index,
            Self::These(places) => places[index],
        }
    }
}

/// Asks all predicates before the first handler is called.
fn match_all<S, T>(
    phase: &Phase<'_, S, T>,
    stage: &mut Stage,
    outcomes: &mut Outcomes<T>,
) -> (Vec<usize>, Effect) {
    let (mut matched, mut worst) = (Vec::new(), Effect::GoOn);
    for (at, entry) in phase.list.entries.iter().enumerate() {
        if !phase.selects(entry) {
            continue;
        }
        let failure = match phase.matches(entry) {
            Ok(false) => continue,
            Ok(true) => {
                matched.push(at);
                continue;
            }
            Err(failure) => failure,
        };
        let (name, policy) = (&entry.registration.name, phase.policy.predicate_failure);
        let Some((outcome, effect)) = stage.take_predicate(name, at, failure, policy) else {
            continue;
        };
        outcomes.note(at, outcome);
        worst = worst.max(effect);
        if let (Effect::End, Some(ending)) = (effect, stage.ended()) {
            let why = ending.not_run();
            for at in matched.drain(..) {
                outcomes.note(at, HandlerOutcome::NotRun(why));
            }
            not_run(phase, at + 1, outcomes, why);
            break;
        }
    }
    (matched, worst)
}

enum Called {
    All,
    Enough,
}

struct Calling<'a, 's, S, T> {
    phase: &'s Phase<'a, S, T>,
    stage: &'s mut Stage,
    outcomes: &'s mut Outcomes<T>,
    matched: Matched,
    pending: Vec<Pending<'a, T>>,
    /// The gravest effect so far.
    worst: Effect,
}

impl<'a, S, T> Calling<'a, '_, S, T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    /// Whether this pass calls the handler at this place.
    fn calls(&self, pass: Pass, at: usize) -> bool {
        let entry = &self.phase.list.entries[at];
        let elsewhere = || self.phase.calls.offloads(entry.registration.declared);
        self.phase.selects(entry)
            && match pass {
                Pass::All => true,
                Pass::Offloaded => elsewhere(),
                Pass::Inline => !elsewhere(),
            }
    }

    fn note(&mut self, at: usize, ended: Ended<T>) {
        let name = &self.phase.list.entries[at].registration.name;
        let (outcome, effect) = self.stage.take(name, at, ended, None);
        self.outcomes.note(at, outcome);
        self.worst = self.worst.max(effect);
    }

    /// Takes what the first stretch stopped at, and says where the calls go on.
    fn go_on(&mut self, at: usize, stretch: Stretch<'a, T>) -> usize {
        match stretch {
            Stretch::End => return self.matched.len(),
            Stretch::Yield => return at,
            Stretch::Settle(ended) => self.note(at, ended),
            Stretch::Predicate(failure) => self.note(at, Ended::Answered(Err(failure))),
            Stretch::Waiting(work) | Stretch::Gathered(work) => self.wait_for(at, work),
        }
        at + 1
    }

    fn wait_for(&mut self, at: usize, work: Work<'a, T>) {
        let entry = &self.phase.list.entries[at];
        self.pending.push(Pending {
            at,
            cooperative: entry.cooperates(),
            heeds_elsewhere: entry.registration.heeds_elsewhere,
            work: Some(work),
        });
    }

    /// Calls from `next` on, and leaves `next` at the one that panicked or that is to be called next.
    fn call(&mut self, next: &mut usize, pass: Pass, cx: &mut Context<'_>) -> Called {
        let _level = nesting::enter();
        let first = *next;
        for index in first..self.matched.len() {
            *next = index;
            if index - first == YIELD_AFTER {
                return Called::Enough;
            }
            let at = self.matched.at(index);
            if !self.calls(pass, at) {
                continue;
            }
            let entry = &self.phase.list.entries[at];
            if self.phase.host.timed {
                self.outcomes.began(at);
            }
            match begin(self.phase, entry, cx) {
                Begun::Value(value) => self.outcomes.value(at, value),
                Begun::Ended(ended) => self.note(at, ended),
                Begun::Waiting(work) | Begun::Gathered(work) => self.wait_for(at, work),
            }
        }
        Called::All
    }

    /// Notes those that the deadline kept from being called.
    fn expire(&mut self, next: usize, pass: Pass) {
        for index in next..self.matched.len() {
            let at = self.matched.at(index);
            if self.calls(pass, at) {
                let expired = NotRun::DeadlineExpired;
                self.outcomes.note(at, HandlerOutcome::NotRun(expired));
            }
        }
    }
}
