//! One emission: its phases in order, and the report or error in the end.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::time::Instant;

use crate::cancel::Scope;
use crate::dispatch::call::EntryPoint;
use crate::dispatch::concurrent;
use crate::dispatch::error::DispatchError;
use crate::dispatch::gather::{complete, poll_first};
use crate::dispatch::index::List;
use crate::dispatch::nesting;
use crate::dispatch::outcome::HandlerOutcome;
use crate::dispatch::outcomes::Outcomes;
use crate::dispatch::phase::{Emission, Host, Phase, Timer};
use crate::dispatch::planned::Planned;
use crate::dispatch::report::DispatchReport;
use crate::dispatch::sequential::{self, Stretch, not_run};
use crate::dispatch::stage::{Effect, Ending, Set, Stage};
use crate::policy::{DeadlineDisposition, DispatchConcurrency, DispatchPhase};

/// Runs one emission over what `find` finds. From [`EntryPoint::Sync`] it never waits.
pub(crate) async fn run<S, T>(
    host: &Host,
    find: impl FnOnce() -> Result<Arc<List<S, T>>, DispatchError>,
    signal: &Arc<S>,
    scope: &Scope,
    from: EntryPoint,
) -> Result<DispatchReport<T>, DispatchError>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    nesting::check()?;
    let list = find()?;
    let mut outcomes = Outcomes::new(list.entries.len(), host.timed);
    let emission = Emission {
        host,
        list: &list,
        signal,
        scope,
        from,
    };
    let mut left = &*host.phases;
    let ending = {
        let (inner, mut opening) = (OnceLock::new(), None);
        poll_fn(|cx| {
            let opening = &mut opening;
            open(&emission, &mut left, &inner, &mut outcomes, opening, cx);
            Poll::Ready(())
        })
        .await;
        match opening {
            None if left.is_empty() => None,
            opening => go_on(&emission, left, opening, &mut outcomes).await,
        }
    };
    match ending {
        None => Ok(DispatchReport::new(list, outcomes)),
        Some(ending) => conclude(*ending, DispatchReport::new(list, outcomes)),
    }
}

/// Runs what is left of an emission that did not end at once.
async fn go_on<S, T>(
    emission: &Emission<'_, S, T>,
    mut left: &[Planned],
    opening: Option<Opening<'_, S, T>>,
    outcomes: &mut Outcomes<T>,
) -> Option<Box<Ending>>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let mut ending = match opening {
        Some(opening) => run_phase(opening, outcomes).await,
        None => None,
    };
    while ending.is_none() && !left.is_empty() {
        let (inner, mut opening) = (OnceLock::new(), None);
        poll_fn(|cx| {
            open(emission, &mut left, &inner, outcomes, &mut opening, cx);
            Poll::Ready(())
        })
        .await;
        if let Some(opening) = opening {
            ending = run_phase(opening, outcomes).await;
        }
    }
    if let Some(ending) = &ending {
        let inner = OnceLock::new();
        for planned in left {
            let phase = Phase::new(emission, planned, &inner);
            not_run(&phase, 0, outcomes, ending.not_run());
        }
    }
    ending
}

/// A phase that did not end at its first stretch: its book is not opened, its timer not made.
struct Opening<'a, S, T> {
    phase: Phase<'a, S, T>,
    from: EntryPoint,
    /// When the shared deadline is.
    ends: Option<Instant>,
    /// Whether the first stretch has run.
    called: bool,
    /// Where it stopped.
    at: usize,
    stretch: Stretch<'a, T>,
}

/// Runs the phases that are left while each ends at once: nobody in it fails, waits, or leaves
/// anything to be gathered. Nearly every emission ends here.
///
/// A phase to go on with is put into `opening`. One that follows a phase whose handlers have a scope
/// of their own is left for an `inner` of its own.
// A call of its own: built into the state machine of the emission, it would work in its memory.
#[inline(never)]
fn open<'a, 'e: 'a, S, T>(
    emission: &Emission<'a, S, T>,
    left: &mut &'e [Planned],
    inner: &'a OnceLock<Scope>,
    outcomes: &mut Outcomes<T>,
    opening: &mut Option<Opening<'a, S, T>>,
    cx: &mut Context<'_>,
) where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    while inner.get().is_none()
        && let Some((planned, rest)) = left.split_first()
    {
        *left = rest;
        let phase = Phase::new(emission, planned, inner);
        let deadline = phase.policy.deadline.as_ref();
        let ends = deadline.map(|(deadline, _)| Instant::now() + deadline.duration());
        // Until one does not answer at once, handlers beside each other are called as handlers one
        // after the other are.
        let called = match phase.policy.concurrency {
            DispatchConcurrency::Sequential => true,
            DispatchConcurrency::Concurrent => planned.ordered && !emission.list.predicates,
        };
        let (mut at, mut stretch) = (0, Stretch::End);
        if called {
            sequential::stretch(&phase, &mut at, outcomes, emission.from, cx, &mut stretch);
            if matches!(stretch, Stretch::End) {
                continue;
            }
        }
        *opening = Some(Opening {
            phase,
            from: emission.from,
            ends,
            called,
            at,
            stretch,
        });
        return;
    }
}

async fn run_phase<S, T>(
    opening: Opening<'_, S, T>,
    outcomes: &mut Outcomes<T>,
) -> Option<Box<Ending>>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let Opening {
        ref phase,
        from,
        ends,
        called,
        at,
        stretch,
    } = opening;
    let DispatchPhase {
        concurrency,
        invocation,
        returned_awaitables,
        deadline,
        ..
    } = phase.policy;
    let mut sleep = pin!(None);
    let mut timer = Timer {
        ends,
        sleep: sleep.as_mut(),
        expired: false,
    };
    let disposition = |timer: &Timer<'_>| match deadline {
        Some((_, disposition)) if timer.expired => Some(*disposition),
        _ => None,
    };
    let mut stage = Stage::new(*invocation, Set::Calls(*concurrency));
    let gathered = match concurrency {
        DispatchConcurrency::Sequential => {
            sequential::run(phase, at, stretch, &mut stage, outcomes, &mut timer, from).await
        }
        DispatchConcurrency::Concurrent => {
            let opened = called.then_some((at, stretch));
            concurrent::run(phase, opened, &mut stage, outcomes, &mut timer).await;
            Vec::new()
        }
    };
    if timer.expired {
        outcomes.deadline_ran_out();
    }
    let ending = stage.surface(disposition(&timer));
    let (None, Some(second)) = (&ending, returned_awaitables) else {
        for abandoned in gathered {
            let name = &phase.list.entries[abandoned.at].registration.name;
            tracing::warn!(registration = %name,
                "a returned awaitable is dropped unawaited, since the calls did not all succeed");
            outcomes.note(abandoned.at, HandlerOutcome::Unawaited);
        }
        return ending;
    };
    let mut stage = Stage::new(*second, Set::ReturnedAwaitables);
    let mut pending = gathered;
    let worst: Effect = poll_first(phase, &mut stage, outcomes, &mut pending).await;
    complete(
        phase, &mut stage, outcomes, pending, worst, true, &mut timer,
    )
    .await;
    if timer.expired {
        outcomes.deadline_ran_out();
    }
    stage.surface(disposition(&timer))
}

fn conclude<T>(
    ending: Ending,
    report: DispatchReport<T>,
) -> Result<DispatchReport<T>, DispatchError> {
    let raising = |report: DispatchReport<T>, places: &[usize]| Box::new(report.raising(places));
    Err(match ending {
        Ending::Failed(at) => DispatchError::Failed {
            report: raising(report, &[at]),
        },
        Ending::Group(places) => DispatchError::Group {
            report: raising(report, &places),
        },
        Ending::Cancelled { cause, by } => DispatchError::Cancelled {
            cause,
            report: raising(report, by.as_slice()),
        },
        Ending::HandlerCancelled(places) => DispatchError::HandlerCancelled {
            report: raising(report, &places),
        },
        Ending::Deadline(DeadlineDisposition::Raise) => DispatchError::DeadlineExceeded {
            report: raising(report, &[]),
        },
        Ending::Deadline(DeadlineDisposition::LogAndStop) => {
            tracing::warn!("the deadline of an emission ran out");
            return Ok(report);
        }
        Ending::Deadline(DeadlineDisposition::ReturnReport | DeadlineDisposition::SilentStop) => {
            return Ok(report);
        }
    })
}
