//! What a fan-out came to: every matched registration, in the order of registration.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::dispatch::index::Roster;
use crate::dispatch::outcome::HandlerOutcome;
use crate::dispatch::outcomes::{Other, Outcomes};
use crate::dispatch::registration::RegistrationId;
use crate::failure::HandlerFailure;
use crate::name::RegistrationName;

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
    pub(crate) fn new(roster: Arc<dyn Roster>, outcomes: Outcomes<T>) -> Self {
        Self {
            roster,
            outcomes: outcomes.sorted(),
        }
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
