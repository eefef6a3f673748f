//! What goes into every commit beside the outcome: audit evidence, the signal, delivery intents.

use triplane_state::commit::{
    AuditRow, CommitParticipant, CommitRefs, IntentRow, PendingFact, SignalRow, StageError, Staged,
};
use uuid::Uuid;

/// Stages the audit row: without it no outcome is committed.
#[derive(Debug)]
pub(crate) struct AuditEvidence;

impl CommitParticipant for AuditEvidence {
    fn name(&self) -> &'static str {
        "audit-evidence"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let id = Uuid::now_v7();
        staged.audit(AuditRow {
            id,
            outcome: fact.outcome.clone(),
            emitter: fact.emitter,
            judgement: fact.judgement.clone(),
        });
        Ok(CommitRefs { ids: vec![id] })
    }
}

/// Stages the signal of the outcome and, for each destination, the intent to deliver it.
///
/// One participant does both, since an intent names the signal that it delivers.
#[derive(Debug)]
pub(crate) struct OutcomeSignal {
    pub(crate) destinations: Vec<String>,
}

impl CommitParticipant for OutcomeSignal {
    fn name(&self) -> &'static str {
        "outcome-signal"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let signal = Uuid::now_v7();
        staged.signal(SignalRow {
            id: signal,
            session: fact.session.clone(),
            kind: fact.kind,
            emitter: fact.emitter,
            invocation: None,
            occurred_at_us: fact.occurred_at_us,
            payload: fact.payload.clone(),
        });
        let mut ids = vec![signal];
        for sink in &self.destinations {
            let id = Uuid::now_v7();
            staged.intent(IntentRow::new(id, signal, sink.clone()));
            ids.push(id);
        }
        Ok(CommitRefs { ids })
    }
}
