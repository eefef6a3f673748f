//! One emission: its phases in order, and the report or error in the end.

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use crate::cancel::Scope;
use crate::dispatch::call::{Calls, EntryPoint};
use crate::dispatch::concurrent;
use crate::dispatch::error::DispatchError;
use crate::dispatch::gather::{complete, poll_first};
use crate::dispatch::index::List;
use crate::dispatch::nesting;
use crate::dispatch::phase::{Host, Phase, Timer};
use crate::dispatch::report::{DispatchReport, HandlerOutcome, Outcomes};
use crate::dispatch::sequential::{self, not_run};
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
    let mut outcomes = Outcomes::with_capacity(list.entries.len());
    let mut ending: Option<Box<Ending>> = None;
    let mut expired = false;
    for declared in policy.phases() {
        let phase = Phase {
            policy: declared,
            calls: Calls::new(declared, from),
            host,
            list: &list,
            signal,
            scope,
            inner: OnceLock::new(),
        };
        if let Some(ending) = &ending {
            not_run(&phase, 0, &mut outcomes, ending.not_run());
            continue;
        }
        let ordered = policy.preserves_registration_order();
        ending = run_phase(&phase, &mut outcomes, &mut expired, from, ordered).await;
    }
    let report = DispatchReport::new(list, outcomes, expired);
    match ending {
        None => Ok(report),
        Some(ending) => conclude(*ending, report),
    }
}

async fn run_phase<S, T>(
    phase: &Phase<'_, S, T>,
    outcomes: &mut Outcomes<T>,
    expired: &mut bool,
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
    let sleep = deadline.map(|(deadline, _)| tokio::time::sleep(deadline.duration()));
    let mut sleep = pin!(sleep);
    let mut timer = Timer {
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
            sequential::run(phase, &mut stage, outcomes, &mut timer, from).await
        }
        DispatchConcurrency::Concurrent => {
            concurrent::run(phase, &mut stage, outcomes, &mut timer, ordered).await;
            Vec::new()
        }
    };
    *expired |= timer.expired;
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
    complete(phase, &mut stage, outcomes, pending, worst, &mut timer).await;
    *expired |= timer.expired;
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
