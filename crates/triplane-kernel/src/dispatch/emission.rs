//! One emission: each matched handler in turn.

use std::pin::pin;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{Either, select};

use crate::cancel::{Cooperation, Scope};
use crate::contain::contain;
use crate::dispatch::error::DispatchError;
use crate::dispatch::handler::Called;
use crate::dispatch::index::{Entry, List};
use crate::dispatch::policy::{DispatchPolicy, OnFailure};
use crate::dispatch::report::{DispatchReport, HandlerOutcome, NotRun, Slot};
use crate::failure::HandlerFailure;

/// Whether the caller of an emission can wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryPoint {
    Sync,
    Async,
}

/// A handler answered later where its caller cannot wait.
#[derive(Debug, thiserror::Error)]
#[error("the handler answers later, and this entry does not wait")]
struct AnsweredLater;

/// Runs one emission. From [`EntryPoint::Sync`] it never waits.
pub(crate) async fn run<S: 'static, T: 'static>(
    policy: &DispatchPolicy,
    list: Arc<List<S, T>>,
    signal: &S,
    scope: &Scope,
    from: EntryPoint,
) -> Result<DispatchReport<T>, DispatchError> {
    let mut slots = Vec::with_capacity(list.0.len());
    let mut ended: Option<NotRun> = None;
    for (at, entry) in list.0.iter().enumerate() {
        let outcome = match (matches(entry, signal), ended) {
            (Ok(false), _) => continue,
            (Ok(true) | Err(_), Some(why)) => HandlerOutcome::NotRun(why),
            (Ok(true), None) => match invoke(entry, signal, scope, from).await {
                Ok(value) => HandlerOutcome::Value(value),
                Err(HandlerFailure::Cancelled(cause)) => {
                    ended = Some(NotRun::Cancelled(cause));
                    HandlerOutcome::Cancelled(cause)
                }
                Err(failure) => failed(policy, entry, failure, &mut ended),
            },
            (Err(failure), None) => failed(policy, entry, failure, &mut ended),
        };
        slots.push(Slot { at, outcome });
    }
    let report = DispatchReport::new(list, slots);
    match ended {
        None => Ok(report),
        Some(NotRun::StoppedByFailure) => Err(DispatchError::Failed {
            report: Box::new(report.without_values()),
        }),
        Some(NotRun::Cancelled(cause)) => Err(DispatchError::Cancelled {
            cause,
            report: Box::new(report.without_values()),
        }),
    }
}

fn failed<S, T>(
    policy: &DispatchPolicy,
    entry: &Entry<S, T>,
    failure: HandlerFailure,
    ended: &mut Option<NotRun>,
) -> HandlerOutcome<T> {
    match (policy.on_failure, &failure) {
        (OnFailure::Isolate, HandlerFailure::Failed(_)) => {
            tracing::warn!(registration = %entry.registration.name, %failure, "a handler failed");
        }
        (OnFailure::Raise | OnFailure::Isolate, _) => *ended = Some(NotRun::StoppedByFailure),
    }
    HandlerOutcome::Failed(failure)
}

fn matches<S, T>(entry: &Entry<S, T>, signal: &S) -> Result<bool, HandlerFailure> {
    match &entry.registration.predicate {
        None => Ok(true),
        Some(accepts) => contain(|| accepts(signal)).and_then(|accepted| accepted),
    }
}

async fn invoke<S, T>(
    entry: &Entry<S, T>,
    signal: &S,
    scope: &Scope,
    from: EntryPoint,
) -> Result<T, HandlerFailure> {
    let future = match contain(|| entry.registration.handler.call(signal, scope))? {
        Called::Now(answer) => return answer,
        Called::Later { .. } if from == EntryPoint::Sync => {
            return Err(HandlerFailure::failed(AnsweredLater));
        }
        Called::Later { future, .. } => future,
    };
    let contained = std::panic::AssertUnwindSafe(future)
        .catch_unwind()
        .map(|caught| caught.unwrap_or_else(|payload| Err(HandlerFailure::panicked(&*payload))));
    match entry.registration.cooperation {
        Cooperation::Cooperative => contained.await,
        Cooperation::Dropped => match select(pin!(contained), pin!(scope.cancelled())).await {
            Either::Left((answer, _)) => answer,
            Either::Right((cause, _)) => Err(HandlerFailure::Cancelled(cause)),
        },
    }
}
