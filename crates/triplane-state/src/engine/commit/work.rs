//! One unit, complete and checked, before it meets the database.

use std::collections::HashSet;

use crate::commit::{AuditRow, IntentRow, PendingFact, Staged};
use crate::error::StateError;

/// One unit: an outcome and the rows that go along with it.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) fact: PendingFact,
    pub(crate) staged: Staged,
}

/// A unit on loan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkRef<'w> {
    pub(crate) fact: &'w PendingFact,
    pub(crate) staged: &'w Staged,
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
    pub(crate) fn rows(&self) -> usize {
        rows(&self.staged)
    }

    pub(crate) fn lend(&self) -> WorkRef<'_> {
        WorkRef {
            fact: &self.fact,
            staged: &self.staged,
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
