//! What a fan-out came to: every matched registration, in the order of registration.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::CancelCause;
use crate::dispatch::index::Roster;
use crate::dispatch::outcomes::{Other, Outcomes};
use crate::dispatch::registration::RegistrationId;
use crate::failure::HandlerFailure;
use crate::name::RegistrationName;

/// What one handler came to. In a report `T` and `F` are references to the value and the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerOutcome<T, F = HandlerFailure> {
    /// It returned this value.
    Value(T),
    /// It failed, ordinarily or fatally, or panicked.
    Failed(F),
    /// Its predicate failed; it was not called.
    PredicateFailed(F),
    /// It cancelled itself, or the emitter's request met it.
    Cancelled(CancelCause),
    /// It was stopped because another handler had failed or cancelled.
    CancelledBySibling,
    /// It was stopped by the deadline.
    TimedOut,
    /// It is offloaded, had begun when nobody waited for it any longer, and may still be at work.
    /// What it comes to will never be known here.
    AbandonedUnknown,
    /// It is offloaded and had not begun when nobody waited for it any longer: it never will.
    CancelledBeforeStart,
    /// It goes on without the emission, owned by the dispatcher.
    Detached,
    /// It was to go on without the emission, but the dispatcher had no room: it was stopped.
    Overflowed,
    /// It returned an awaitable that was dropped without being awaited.
    Unawaited,
    /// It was not called.
    NotRun(NotRun),
}

/// Why a matched handler was not called.
///
/// When an emission has ended, predicates are not asked any more: every registration found by key
/// counts as matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotRun {
    /// An earlier failure ended the emission.
    StoppedByFailure,
    /// The emission was cancelled.
    Cancelled(CancelCause),
    /// The deadline ran out before its turn.
    DeadlineExpired,
}

impl<T, F> HandlerOutcome<T, F> {
    /// The value, or else the same outcome without its place for one.
    pub(crate) fn split(self) -> Result<T, HandlerOutcome<Infallible, F>> {
        Err(match self {
            Self::Value(value) => return Ok(value),
            Self::Failed(failure) => HandlerOutcome::Failed(failure),
            Self::PredicateFailed(failure) => HandlerOutcome::PredicateFailed(failure),
            Self::Cancelled(cause) => HandlerOutcome::Cancelled(cause),
            Self::CancelledBySibling => HandlerOutcome::CancelledBySibling,
            Self::TimedOut => HandlerOutcome::TimedOut,
            Self::AbandonedUnknown => HandlerOutcome::AbandonedUnknown,
            Self::CancelledBeforeStart => HandlerOutcome::CancelledBeforeStart,
            Self::Detached => HandlerOutcome::Detached,
            Self::Overflowed => HandlerOutcome::Overflowed,
            Self::Unawaited => HandlerOutcome::Unawaited,
            Self::NotRun(why) => HandlerOutcome::NotRun(why),
        })
    }

    /// The failure of the handler or of its predicate.
    pub fn failure(self) -> Option<F> {
        match self {
            Self::Failed(failure) | Self::PredicateFailed(failure) => Some(failure),
            _ => None,
        }
    }
}

/// One matched registration in a report.
#[derive(Debug)]
pub struct DispatchEntry<'a, T> {
    /// Its id.
    pub id: RegistrationId,
    /// Its name.
    pub name: &'a RegistrationName,
    /// What its handler came to.
    pub outcome: HandlerOutcome<&'a T, &'a HandlerFailure>,
    /// The time from the call of the handler to its answer, waits included. `None` unless the
    /// dispatcher was made [`with_durations`](crate::FanoutDispatcher::with_durations), and for a
    /// handler that was not called.
    pub took: Option<Duration>,
}

/// The report of one emission (ADR-0120 D2, `DispatchReport`).
///
/// It names every matched registration in the order of registration, whatever the order in which
/// the handlers finished. A registration whose predicate refused the signal did not match.
pub struct DispatchReport<T = ()> {
    roster: Arc<dyn Roster>,
    outcomes: Outcomes<T>,
}

impl<T> DispatchReport<T> {
    #[inline]
    pub(crate) fn new(roster: Arc<dyn Roster>, mut outcomes: Outcomes<T>) -> Self {
        outcomes.sort();
        Self { roster, outcomes }
    }

    /// The matched registrations, in the order of registration.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = DispatchEntry<'_, T>> {
        let mut values = self.outcomes.values().peekable();
        let mut others = self.outcomes.others().iter().peekable();
        (0..self.len()).map(move |_| {
            let at_most = others.peek().map_or(usize::MAX, |(at, _)| *at);
            match values.next_if(|(at, _)| *at < at_most) {
                Some((at, value)) => self.entry(at, HandlerOutcome::Value(value)),
                None => match others.next() {
                    Some((at, other)) => self.entry(*at, borrowed(other)),
                    None => unreachable!("there are as many entries as outcomes"),
                },
            }
        })
    }

    /// The number of matched registrations.
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether nothing matched.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The returned values, in the order of registration.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.outcomes.values.into_iter()
    }

    /// The failures of handlers and predicates, in the order of registration; cancellations are not
    /// among them.
    pub fn failures(&self) -> impl Iterator<Item = (&RegistrationName, &HandlerFailure)> {
        let others = self.outcomes.others().iter();
        others.filter_map(|(at, other)| match other {
            HandlerOutcome::Failed(failure) | HandlerOutcome::PredicateFailed(failure) => {
                Some((self.roster.name(*at), failure))
            }
            _ => None,
        })
    }

    /// What the error around this report raises, in the order of registration: failures, and
    /// cancellations that the policy collects beside them. Empty in a report that is no error's.
    pub fn raised(&self) -> impl ExactSizeIterator<Item = DispatchEntry<'_, T>> {
        let raised = self.outcomes.raised();
        raised.map(|(at, other)| self.entry(*at, borrowed(other)))
    }

    /// Whether the deadline of a phase ran out.
    pub fn deadline_exceeded(&self) -> bool {
        self.outcomes.deadline_exceeded()
    }

    fn entry<'a>(
        &'a self,
        at: usize,
        outcome: HandlerOutcome<&'a T, &'a HandlerFailure>,
    ) -> DispatchEntry<'a, T> {
        DispatchEntry {
            id: self.roster.id(at),
            name: self.roster.name(at),
            outcome,
            took: self.outcomes.took(at),
        }
    }

    /// The report inside an error that raises the registrations at these places of the roster.
    pub(crate) fn raising(self, places: &[usize]) -> DispatchReport {
        DispatchReport {
            roster: self.roster,
            outcomes: self.outcomes.raising(places),
        }
    }
}

fn borrowed<T>(other: &Other) -> HandlerOutcome<&T, &HandlerFailure> {
    match other {
        HandlerOutcome::Value(never) => match *never {},
        HandlerOutcome::Failed(failure) => HandlerOutcome::Failed(failure),
        HandlerOutcome::PredicateFailed(failure) => HandlerOutcome::PredicateFailed(failure),
        HandlerOutcome::Cancelled(cause) => HandlerOutcome::Cancelled(*cause),
        HandlerOutcome::CancelledBySibling => HandlerOutcome::CancelledBySibling,
        HandlerOutcome::TimedOut => HandlerOutcome::TimedOut,
        HandlerOutcome::AbandonedUnknown => HandlerOutcome::AbandonedUnknown,
        HandlerOutcome::CancelledBeforeStart => HandlerOutcome::CancelledBeforeStart,
        HandlerOutcome::Detached => HandlerOutcome::Detached,
        HandlerOutcome::Overflowed => HandlerOutcome::Overflowed,
        HandlerOutcome::Unawaited => HandlerOutcome::Unawaited,
        HandlerOutcome::NotRun(why) => HandlerOutcome::NotRun(*why),
    }
}

impl<T: fmt::Debug> fmt::Debug for DispatchReport<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self
            .entries()
            .map(|entry| (entry.name.clone(), entry.outcome));
        f.debug_map().entries(entries).finish()
    }
}
