//! One emission: its phases in order, and the report or error in the end.

use std::pin::pin;
use std::sync::Arc;

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
use crate::dispatch::phase::{Host, Phase, Timer};
use crate::dispatch::report::DispatchReport;
use crate::dispatch::sequential::{self, Stretch, not_run, stretch};
use crate::dispatch::stage::{Effect, Ending, Set, Stage};
use crate::policy::{DeadlineDisposition, DispatchConcurrency, DispatchPhase, DispatchPolicy};

/// Runs one emission over what `find` finds. From [`EntryPoint::Sync`] it never waits.
pub(crate) async fn run<S, T>(
    host: &Host,
    policy: &DispatchPolicy,
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
    let mut ending: Option<Box<Ending>> = None;
    for declared in policy.phases() {
        let phase = Phase::new(declared, from, host, &list, signal, scope);
        if let Some(ending) = &ending {
            not_run(&phase, 0, &mut outcomes, ending.not_run());
            continue;
        }
        let mut opening = Opening::new(&phase);
        let ordered = policy.preserves_registration_order();
        // Until one does not answer at once, handlers beside each other are called as handlers one
        // after the other are.
        opening.called = match declared.concurrency {
            DispatchConcurrency::Sequential => true,
            DispatchConcurrency::Concurrent => ordered && !list.predicates,
        };
        if opening.called {
            opening.stretch = stretch(&phase, &mut opening.at, &mut outcomes, from).await;
            // Nearly every phase ends here: nobody failed, waits, or left anything to be gathered.
            if matches!(opening.stretch, Stretch::End) {
                continue;
            }
        }
        ending = run_phase(&phase, opening, &mut outcomes, from, ordered).await;
    }
    let report = DispatchReport::new(list, outcomes);
    match ending {
        None => Ok(report),
        Some(ending) => conclude(*ending, report),
    }
}

/// What a phase has come to before its book is opened and its timer is made.
struct Opening<'a, T> {
    /// When the shared deadline is.
    ends: Option<Instant>,
    /// Whether the first stretch has run.
    called: bool,
    /// Where it stopped.
    at: usize,
    stretch: Stretch<'a, T>,
}

impl<T> Opening<'_, T> {
    fn new<S>(phase: &Phase<'_, S, T>) -> Self {
        let deadline = phase.policy.deadline.as_ref();
        Self {
            ends: deadline.map(|(deadline, _)| Instant::now() + deadline.duration()),
            called: false,
            at: 0,
            stretch: Stretch::End,
        }
    }
}

async fn run_phase<'a, S, T>(
    phase: &'a Phase<'_, S, T>,
    opening: Opening<'a, T>,
    outcomes: &mut Outcomes<T>,
    from: EntryPoint,
    ordered: bool,
) -> Option<Box<Ending>>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let DispatchPhase {
        concurrency,
        invocation,
        returned_awaitables,
        deadline,
        ..
    } = phase.policy;
    let mut sleep = pin!(None);
    let mut timer = Timer {
        ends: opening.ends,
        sleep: sleep.as_mut(),
        expired: false,
    };
    let disposition = |timer: &Timer<'_>| match deadline {
        Some((_, disposition)) if timer.expired => Some(*disposition),
        _ => None,
    };
    let mut stage = Stage::new(*invocation, Set::Calls(*concurrency));
    let Opening { at, stretch, .. } = opening;
    let gathered = match concurrency {
        DispatchConcurrency::Sequential => {
            sequential::run(phase, at, stretch, &mut stage, outcomes, &mut timer, from).await
        }
        DispatchConcurrency::Concurrent => {
            let opened = opening.called.then_some((at, stretch));
            concurrent::run(phase, opened, &mut stage, outcomes, &mut timer, ordered).await;
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
