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
    /// It failed, or panicked.
    Failed(HandlerFailure),
    /// It was cancelled.
    Cancelled(CancelCause),
    /// It was not called.
    NotRun(NotRun),
}

/// Why a matched handler was not called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotRun {
    /// An earlier failure stopped the emission.
    StoppedByFailure,
    /// The emission was cancelled.
    Cancelled(CancelCause),
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
}

pub(crate) struct Slot<T> {
    pub(crate) at: usize,
    pub(crate) outcome: HandlerOutcome<T>,
}

impl<T> DispatchReport<T> {
    pub(crate) fn new(roster: Arc<dyn Roster>, slots: Vec<Slot<T>>) -> Self {
        Self { roster, slots }
    }

    /// The matched registrations, in the order of registration.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = DispatchEntry<'_, T>> {
        self.slots.iter().map(|slot| DispatchEntry {
            id: self.roster.id(slot.at),
            name: self.roster.name(slot.at),
            outcome: &slot.outcome,
        })
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

    /// The failures, in the order of registration; cancellations are not among them.
    pub fn failures(&self) -> impl Iterator<Item = (&RegistrationName, &HandlerFailure)> {
        self.slots.iter().filter_map(|slot| match &slot.outcome {
            HandlerOutcome::Failed(failure) => Some((self.roster.name(slot.at), failure)),
            _ => None,
        })
    }

    /// The report without the returned values.
    pub(crate) fn without_values(self) -> DispatchReport {
        let slots = self.slots.into_iter().map(|slot| Slot {
            at: slot.at,
            outcome: match slot.outcome {
                HandlerOutcome::Value(_) => HandlerOutcome::Value(()),
                HandlerOutcome::Failed(failure) => HandlerOutcome::Failed(failure),
                HandlerOutcome::Cancelled(cause) => HandlerOutcome::Cancelled(cause),
                HandlerOutcome::NotRun(why) => HandlerOutcome::NotRun(why),
            },
        });
        DispatchReport::new(self.roster, slots.collect())
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
