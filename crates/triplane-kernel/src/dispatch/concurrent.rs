//! Calls handlers beside each other: all in the order of registration, before any is waited for.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::contain::contain;
use crate::dispatch::call::{Ended, cooperates};
use crate::dispatch::gather::complete;
use crate::dispatch::phase::{Phase, Timer, YIELD_AFTER};
use crate::dispatch::report::{HandlerOutcome, NotRun, Slot};
use crate::dispatch::sequential::{Begun, begin, not_run, yield_now};
use crate::dispatch::stage::{Effect, Stage};
use crate::dispatch::work::Pending;

/// Until it has been called, a matched handler counts as not run.
const UNCALLED: NotRun = NotRun::StoppedByFailure;

/// Which handlers one pass calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    All,
    Offloaded,
    Inline,
}

/// Runs a concurrent phase.
pub(crate) async fn run<S, T>(
    phase: &Phase<'_, S, T>,
    stage: &mut Stage,
    slots: &mut Vec<Slot<T>>,
    timer: &mut Timer<'_>,
    ordered: bool,
) where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let first = slots.len();
    let worst = match_all(phase, stage, slots);
    if worst == Effect::End {
        return;
    }
    // Free to start in any order, what runs elsewhere starts first: it then runs during the rest.
    let passes: &[Pass] = if ordered {
        &[Pass::All]
    } else {
        &[Pass::Offloaded, Pass::Inline]
    };
    let mut calling = Calling {
        phase,
        stage,
        slots,
        pending: Vec::new(),
        worst,
    };
    for pass in passes {
        let mut next = first;
        while next < calling.slots.len() && !timer.expired {
            let stretch = poll_fn(|cx| Poll::Ready(contain(|| calling.call(&mut next, *pass, cx))));
            match stretch.await {
                Ok(Called::All) => break,
                Ok(Called::Enough) => {
                    yield_now().await;
                    timer.look();
                }
                Err(panic) => {
                    calling.note(next, Ended::Answered(Err(panic)));
                    next += 1;
                }
            }
        }
    }
    let Calling { pending, worst, .. } = calling;
    if timer.expired {
        expire(&mut slots[first..]);
    }
    complete(phase, stage, slots, pending, worst, timer).await;
}

/// Asks all predicates before the first handler is called, and notes who matches.
fn match_all<S, T>(phase: &Phase<'_, S, T>, stage: &mut Stage, slots: &mut Vec<Slot<T>>) -> Effect {
    let mut worst = Effect::GoOn;
    for (at, entry) in phase.list.0.iter().enumerate() {
        if !phase.selects(entry) {
            continue;
        }
        match phase.matches(entry) {
            Ok(false) => {}
            Ok(true) => slots.push(Slot {
                at,
                outcome: HandlerOutcome::NotRun(UNCALLED),
            }),
            Err(failure) => {
                let name = &entry.registration.name;
                let policy = phase.policy.predicate_failure;
                let Some((outcome, effect)) = stage.take_predicate(name, at, failure, policy)
                else {
                    continue;
                };
                slots.push(Slot { at, outcome });
                worst = worst.max(effect);
                if let (Effect::End, Some(ending)) = (effect, stage.ended()) {
                    not_run(phase, at + 1, slots, ending.not_run());
                    return worst;
                }
            }
        }
    }
    worst
}

enum Called {
    All,
    Enough,
}

struct Calling<'a, 'e, 's, S, T> {
    phase: &'a Phase<'e, S, T>,
    stage: &'s mut Stage,
    slots: &'s mut Vec<Slot<T>>,
    pending: Vec<Pending<'a, T>>,
    /// The gravest effect so far.
    worst: Effect,
}

impl<S, T> Calling<'_, '_, '_, S, T>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    fn note(&mut self, index: usize, ended: Ended<T>) {
        let at = self.slots[index].at;
        let name = &self.phase.list.0[at].registration.name;
        let (outcome, effect) = self.stage.take(name, at, ended, None);
        self.slots[index].outcome = outcome;
        self.worst = self.worst.max(effect);
    }

    /// Calls from `next` on, and leaves `next` at the one that panicked or that is to be called next.
    fn call(&mut self, next: &mut usize, pass: Pass, cx: &mut Context<'_>) -> Called {
        let first = *next;
        for index in first..self.slots.len() {
            *next = index;
            if index - first == YIELD_AFTER {
                return Called::Enough;
            }
            let Slot {
                at,
                outcome: HandlerOutcome::NotRun(_),
            } = self.slots[index]
            else {
                continue;
            };
            let entry = &self.phase.list.0[at];
            let elsewhere = || self.phase.calls.offloads(entry.registration.declared);
            match pass {
                Pass::All => {}
                Pass::Offloaded if elsewhere() => {}
                Pass::Inline if !elsewhere() => {}
                Pass::Offloaded | Pass::Inline => continue,
            }
            match begin(self.phase, entry, cx) {
                Begun::Value(value) => self.slots[index].outcome = HandlerOutcome::Value(value),
                Begun::Ended(ended) => self.note(index, ended),
                Begun::Waiting(work) | Begun::Gathered(work) => {
                    // Called, and not awaited to its end yet.
                    self.slots[index].outcome = HandlerOutcome::Unawaited;
                    self.pending.push(Pending {
                        slot: index,
                        at,
                        cooperative: cooperates(entry),
                        work: Some(work),
                    });
                }
            }
        }
        Called::All
    }
}

/// Notes those that the deadline kept from being called.
fn expire<T>(slots: &mut [Slot<T>]) {
    for slot in slots {
        if matches!(slot.outcome, HandlerOutcome::NotRun(_)) {
            slot.outcome = HandlerOutcome::NotRun(NotRun::DeadlineExpired);
        }
    }
}
