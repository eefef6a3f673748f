//! One unit, complete and checked, before it meets the database.

use crate::commit::{PendingFact, Staged};
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

/// Refuses rows that could not be committed: an intent without its signal, a payload over the limit.
pub(crate) fn check(staged: &Staged, payload_bytes_max: usize) -> Result<(), StateError> {
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
        if !staged
            .signals
            .iter()
            .any(|signal| signal.id == intent.signal)
        {
            return Err(StateError::SignalNotStaged {
                intent: intent.id,
                signal: intent.signal,
            });
        }
    }
    Ok(())
}

impl Work {
    pub(crate) fn lend(&self) -> WorkRef<'_> {
        WorkRef {
            fact: &self.fact,
            staged: &self.staged,
        }
    }

    /// How much memory the unit takes while it waits, about.
    pub(crate) fn bytes(&self) -> usize {
        let rewritten = |row: &crate::commit::AuditRow| {
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
