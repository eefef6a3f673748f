//! What a fan-out came to: every matched registration, in the order of registration.

use std::fmt;
use std::sync::Arc;

use crate::cancel::CancelCause;
use crate::dispatch::index::Roster;
use crate::dispatch::registration::RegistrationId;
use crate::failure::HandlerFailure;
use crate::name::RegistrationName;

/// What one handler came to.
#[derive(Debug)]
#[non_exhaustive]
pub enum HandlerOutcome<T> {
    /// It returned this value.
    Value(T),
    /// It failed, ordinarily or fatally, or panicked.
    Failed(HandlerFailure),
    /// Its predicate failed; it was not called.
    PredicateFailed(HandlerFailure),
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

/// One matched registration in a report.
#[derive(Debug)]
pub struct DispatchEntry<'a, T> {
    /// Its id.
    pub id: RegistrationId,
    /// Its name.
    pub name: &'a RegistrationName,
    /// What its handler came to.
    pub outcome: &'a HandlerOutcome<T>,
}

/// The report of one emission (ADR-0120 D2, `DispatchReport`).
///
/// It names every matched registration in the order of registration, whatever the order in which
/// the handlers finished. A registration whose predicate refused the signal did not match.
pub struct DispatchReport<T = ()> {
    roster: Arc<dyn Roster>,
    slots: Vec<Slot<T>>,
    /// The slots that the error around this report raises.
    raised: Vec<usize>,
    deadline_exceeded: bool,
}

pub(crate) struct Slot<T> {
    /// The place in the roster.
    pub(crate) at: usize,
    pub(crate) outcome: HandlerOutcome<T>,
}

impl<T> DispatchReport<T> {
    pub(crate) fn new(
        roster: Arc<dyn Roster>,
        slots: Vec<Slot<T>>,
        deadline_exceeded: bool,
    ) -> Self {
        Self {
            roster,
            slots,
            raised: Vec::new(),
            deadline_exceeded,
        }
    }

    /// The matched registrations, in the order of registration.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = DispatchEntry<'_, T>> {
        self.slots.iter().map(|slot| self.entry(slot))
    }

    /// The number of matched registrations.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing matched.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The returned values, in the order of registration.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.slots
            .into_iter()
            .filter_map(|slot| match slot.outcome {
                HandlerOutcome::Value(value) => Some(value),
                _ => None,
            })
    }

    /// The failures of handlers and predicates, in the order of registration; cancellations are not
    /// among them.
    pub fn failures(&self) -> impl Iterator<Item = (&RegistrationName, &HandlerFailure)> {
        self.slots.iter().filter_map(|slot| match &slot.outcome {
            HandlerOutcome::Failed(failure) | HandlerOutcome::PredicateFailed(failure) => {
                Some((self.roster.name(slot.at), failure))
            }
            _ => None,
        })
    }

    /// What the error around this report raises, in the order of registration: failures, and
    /// cancellations that the policy collects beside them. Empty in a report that is no error's.
    pub fn raised(&self) -> impl ExactSizeIterator<Item = DispatchEntry<'_, T>> {
        self.raised
            .iter()
            .map(|&index| self.entry(&self.slots[index]))
    }

    /// Whether the deadline of a phase ran out.
    pub fn deadline_exceeded(&self) -> bool {
        self.deadline_exceeded
    }

    fn entry<'a>(&'a self, slot: &'a Slot<T>) -> DispatchEntry<'a, T> {
        DispatchEntry {
            id: self.roster.id(slot.at),
            name: self.roster.name(slot.at),
            outcome: &slot.outcome,
        }
    }

    /// The cancellation at this place of the roster, if that is what its handler came to.
    pub(crate) fn cancellation(&self, at: usize) -> Option<CancelCause> {
        let slot = self.slots.iter().find(|slot| slot.at == at)?;
        match slot.outcome {
            HandlerOutcome::Cancelled(cause) => Some(cause),
            _ => None,
        }
    }

    /// The report inside an error that raises the registrations at these places of the roster.
    pub(crate) fn raising(self, places: &[usize]) -> DispatchReport {
        let slots: Vec<_> = self.slots.into_iter().map(Slot::without_value).collect();
        let raised = (0..slots.len())
            .filter(|&index| places.contains(&slots[index].at))
            .collect();
        DispatchReport {
            roster: self.roster,
            slots,
            raised,
            deadline_exceeded: self.deadline_exceeded,
        }
    }
}

impl<T> Slot<T> {
    fn without_value(self) -> Slot<()> {
        let outcome = match self.outcome {
            HandlerOutcome::Value(_) => HandlerOutcome::Value(()),
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
        Slot {
            at: self.at,
            outcome,
        }
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
