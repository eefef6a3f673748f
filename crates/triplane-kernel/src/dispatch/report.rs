//! What a fan-out came to: every matched registration, in the order of registration.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use crate::cancel::CancelCause;
use crate::dispatch::index::Roster;
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
    /// The same outcome around another value.
    fn map<U>(self, map: impl FnOnce(T) -> U) -> HandlerOutcome<U, F> {
        match self {
            Self::Value(value) => HandlerOutcome::Value(map(value)),
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
        }
    }

    /// The failure of the handler or of its predicate.
    pub fn failure(self) -> Option<F> {
        match self {
            Self::Failed(failure) | Self::PredicateFailed(failure) => Some(failure),
            _ => None,
        }
    }

    fn as_ref(&self) -> HandlerOutcome<&T, &F> {
        match self {
            Self::Value(value) => HandlerOutcome::Value(value),
            Self::Failed(failure) => HandlerOutcome::Failed(failure),
            Self::PredicateFailed(failure) => HandlerOutcome::PredicateFailed(failure),
            Self::Cancelled(cause) => HandlerOutcome::Cancelled(*cause),
            Self::CancelledBySibling => HandlerOutcome::CancelledBySibling,
            Self::TimedOut => HandlerOutcome::TimedOut,
            Self::AbandonedUnknown => HandlerOutcome::AbandonedUnknown,
            Self::CancelledBeforeStart => HandlerOutcome::CancelledBeforeStart,
            Self::Detached => HandlerOutcome::Detached,
            Self::Overflowed => HandlerOutcome::Overflowed,
            Self::Unawaited => HandlerOutcome::Unawaited,
            Self::NotRun(why) => HandlerOutcome::NotRun(*why),
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
}

/// The report of one emission (ADR-0120 D2, `DispatchReport`).
///
/// It names every matched registration in the order of registration, whatever the order in which
/// the handlers finished. A registration whose predicate refused the signal did not match.
pub struct DispatchReport<T = ()> {
    roster: Arc<dyn Roster>,
    outcomes: Outcomes<T>,
    /// The others that the error around this report raises, by index.
    raised: Vec<usize>,
    deadline_exceeded: bool,
}

/// What the handlers came to, by their place in the roster. Values stand apart: nearly every handler
/// returns one, and an outcome is as large as the largest failure.
pub(crate) struct Outcomes<T> {
    values: Vec<(usize, T)>,
    others: Vec<(usize, HandlerOutcome<Infallible>)>,
}

impl<T> Outcomes<T> {
    pub(crate) fn with_capacity(handlers: usize) -> Self {
        Self {
            values: Vec::with_capacity(handlers),
            others: Vec::new(),
        }
    }

    pub(crate) fn value(&mut self, at: usize, value: T) {
        self.values.push((at, value));
    }

    pub(crate) fn note(&mut self, at: usize, outcome: HandlerOutcome<T>) {
        let other = match outcome {
            HandlerOutcome::Value(value) => return self.value(at, value),
            HandlerOutcome::Failed(failure) => HandlerOutcome::Failed(failure),
            HandlerOutcome::PredicateFailed(failure) => HandlerOutcome::PredicateFailed(failure),
            HandlerOutcome::Cancelled(cause) => HandlerOutcome::Cancelled(cause),
            HandlerOutcome::CancelledBySibling => HandlerOutcome::CancelledBySibling,
            HandlerOutcome::TimedOut => HandlerOutcome::TimedOut,
            HandlerOutcome::AbandonedUnknown => HandlerOutcome::AbandonedUnknown,
            HandlerOutcome::CancelledBeforeStart => HandlerOutcome::CancelledBeforeStart,
            HandlerOutcome::Detached => HandlerOutcome::Detached,
            HandlerOutcome::Overflowed => HandlerOutcome::Overflowed,
            HandlerOutcome::Unawaited => HandlerOutcome::Unawaited,
            HandlerOutcome::NotRun(why) => HandlerOutcome::NotRun(why),
        };
        self.others.push((at, other));
    }

    /// Puts what came in the order of time into the order of registration.
    #[inline]
    fn sort(&mut self) {
        if !self.values.is_sorted_by_key(|(at, _)| *at) {
            self.values.sort_unstable_by_key(|(at, _)| *at);
        }
        if !self.others.is_empty() {
            self.others.sort_unstable_by_key(|(at, _)| *at);
        }
    }

    fn len(&self) -> usize {
        self.values.len() + self.others.len()
    }
}

impl<T> DispatchReport<T> {
    #[inline]
    pub(crate) fn new(
        roster: Arc<dyn Roster>,
        mut outcomes: Outcomes<T>,
        deadline_exceeded: bool,
    ) -> Self {
        outcomes.sort();
        Self {
            roster,
            outcomes,
            raised: Vec::new(),
            deadline_exceeded,
        }
    }

    /// The matched registrations, in the order of registration.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = DispatchEntry<'_, T>> {
        let mut values = self.outcomes.values.iter().peekable();
        let mut others = self.outcomes.others.iter().peekable();
        (0..self.len()).map(move |_| {
            let at_most = others.peek().map_or(usize::MAX, |(at, _)| *at);
            match values.next_if(|(at, _)| *at < at_most) {
                Some((at, value)) => self.entry(*at, HandlerOutcome::Value(value)),
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
        self.outcomes.values.into_iter().map(|(_, value)| value)
    }

    /// The failures of handlers and predicates, in the order of registration; cancellations are not
    /// among them.
    pub fn failures(&self) -> impl Iterator<Item = (&RegistrationName, &HandlerFailure)> {
        self.outcomes
            .others
            .iter()
            .filter_map(|(at, other)| match other {
                HandlerOutcome::Failed(failure) | HandlerOutcome::PredicateFailed(failure) => {
                    Some((self.roster.name(*at), failure))
                }
                _ => None,
            })
    }

    /// What the error around this report raises, in the order of registration: failures, and
    /// cancellations that the policy collects beside them. Empty in a report that is no error's.
    pub fn raised(&self) -> impl ExactSizeIterator<Item = DispatchEntry<'_, T>> {
        self.raised.iter().map(|&index| {
            let (at, other) = &self.outcomes.others[index];
            self.entry(*at, borrowed(other))
        })
    }

    /// Whether the deadline of a phase ran out.
    pub fn deadline_exceeded(&self) -> bool {
        self.deadline_exceeded
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
        }
    }

    /// The report inside an error that raises the registrations at these places of the roster.
    pub(crate) fn raising(self, places: &[usize]) -> DispatchReport {
        let Outcomes { values, others } = self.outcomes;
        let raised = (0..others.len()).filter(|&index| places.contains(&others[index].0));
        DispatchReport {
            raised: raised.collect(),
            roster: self.roster,
            outcomes: Outcomes {
                values: values.into_iter().map(|(at, _)| (at, ())).collect(),
                others,
            },
            deadline_exceeded: self.deadline_exceeded,
        }
    }
}

fn borrowed<T>(other: &HandlerOutcome<Infallible>) -> HandlerOutcome<&T, &HandlerFailure> {
    other.as_ref().map(|never| match *never {})
}

impl<T: fmt::Debug> fmt::Debug for DispatchReport<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self
            .entries()
            .map(|entry| (entry.name.clone(), entry.outcome));
        f.debug_map().entries(entries).finish()
    }
}
