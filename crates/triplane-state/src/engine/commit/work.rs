//! One unit, complete and checked, before it meets the database.

use std::collections::HashSet;

use crate::commit::{AuditRow, IntentRow, PendingFact, Staged};
use crate::engine::snapshot::StoredSnapshot;
use crate::error::StateError;

/// One unit: an outcome and the rows that go along with it.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) fact: PendingFact,
    pub(crate) staged: Staged,
    /// What each intent is enqueued with, in their order.
    snapshots: Vec<StoredSnapshot>,
}

/// A unit on loan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkRef<'w> {
    pub(crate) fact: &'w PendingFact,
    pub(crate) staged: &'w Staged,
    pub(crate) snapshots: &'w [StoredSnapshot],
}

/// What each staged intent is enqueued with, in their order.
pub(crate) fn snapshots(staged: &Staged) -> Vec<StoredSnapshot> {
    staged.intents.iter().map(StoredSnapshot::of).collect()
}

/// How many rows of one kind a unit may stage, and a group may hold: 12 values each stay well below
/// the 32,766 that SQLite binds to one statement.
pub(crate) const ROWS_MAX: usize = 2_000;

/// Refuses rows that could not be committed: too many, an intent without its signal, a payload over
/// the limit.
pub(crate) fn check(staged: &Staged, payload_bytes_max: usize) -> Result<(), StateError> {
    let rows = rows(staged);
    if rows > ROWS_MAX {
        return Err(StateError::TooManyRows {
            rows,
            rows_max: ROWS_MAX,
        });
    }
    for signal in &staged.signals {
        let bytes = signal.payload.body.get().len();
        if bytes > payload_bytes_max {
            return Err(StateError::PayloadTooLarge {
                signal: signal.id,
                bytes,
                bytes_max: payload_bytes_max,
            });
        }
    }
    for intent in &staged.intents {
        if let Some(says) = refusal(intent) {
            return Err(StateError::IntentRefused {
                intent: intent.id,
                says,
            });
        }
    }
    if staged.intents.is_empty() {
        return Ok(());
    }
    let signals: HashSet<_> = staged.signals.iter().map(|signal| signal.id).collect();
    let stray = |intent: &&IntentRow| !signals.contains(&intent.signal);
    if let Some(intent) = staged.intents.iter().find(stray) {
        return Err(StateError::SignalNotStaged {
            intent: intent.id,
            signal: intent.signal,
        });
    }
    Ok(())
}

/// Why an intent could be conveyed to nobody.
fn refusal(intent: &IntentRow) -> Option<&'static str> {
    let deliver_to = intent.deliver_to.as_deref();
    if intent.sink.trim().is_empty() {
        Some("names no sink")
    } else if deliver_to.is_some_and(|to| to.trim().is_empty()) {
        Some("names an empty destination")
    } else if intent.sink.contains('\0') || deliver_to.is_some_and(|to| to.contains('\0')) {
        Some("names a sink or a destination with a NUL in it")
    } else {
        None
    }
}

/// How many rows the table that gets the most of them gets.
fn rows(staged: &Staged) -> usize {
    let Staged {
        audits,
        signals,
        intents,
    } = staged;
    audits.len().max(signals.len()).max(intents.len()).max(1)
}

impl Work {
    pub(crate) fn new(fact: PendingFact, staged: Staged) -> Self {
        let snapshots = snapshots(&staged);
        Self {
            fact,
            staged,
            snapshots,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        rows(&self.staged)
    }

    pub(crate) fn lend(&self) -> WorkRef<'_> {
        WorkRef {
            fact: &self.fact,
            staged: &self.staged,
            snapshots: &self.snapshots,
        }
    }

    /// How much memory the unit takes while it waits, about.
    pub(crate) fn bytes(&self) -> usize {
        let rewritten = |row: &AuditRow| {
            let rewrite = row.judgement.as_ref().and_then(|it| it.rewrite.as_ref());
            rewrite.map_or(0, |it| it.before.get().len() + it.after.get().len())
        };
        let payloads = self
            .staged
            .signals
            .iter()
            .map(|row| row.payload.body.get().len());
        payloads.sum::<usize>() + self.staged.audits.iter().map(rewritten).sum::<usize>()
    }
}
