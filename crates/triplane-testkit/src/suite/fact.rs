//! The facts that the suites of the state plane tell.

use serde_json::value::RawValue;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::commit::{
    CommitParticipant, CommitRefs, FactIdentity, IntentRow, PendingFact, Repeat, SignalRow,
    StageError, Staged,
};
use uuid::Uuid;

/// A fact that is told under `key` in `session`, with the JSON text `payload`.
///
/// # Panics
///
/// When `payload` is no JSON.
pub fn fact(session: &str, key: &str, payload: &str) -> PendingFact {
    let body = RawValue::from_string(payload.to_owned()).expect("JSON");
    PendingFact {
        operation: Uuid::now_v7(),
        identity: FactIdentity {
            key: key.to_owned(),
            shape: "suite".to_owned(),
            digest: key.to_owned(),
        },
        repeat: Repeat::SameContent,
        session: session.to_owned(),
        event: "Suite".to_owned(),
        subject: None,
        outcome: "succeeded".to_owned(),
        occurred_at_us: 1,
        judgement: None,
        kind: SignalKind::OperationSucceeded,
        emitter: EmitterRole::Owner,
        payload: Payload {
            payload_type: "suite".to_owned(),
            version: 1,
            body: body.into(),
        },
    }
}

/// Stages the signal of a fact and the intent to deliver it to one sink.
#[derive(Debug, Clone)]
pub struct Told {
    /// The sink.
    pub sink: &'static str,
}

impl CommitParticipant for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let [signal, intent] = [Uuid::now_v7(), Uuid::now_v7()];
        staged.signal(SignalRow {
            id: signal,
            session: fact.session.clone(),
            kind: fact.kind,
            emitter: fact.emitter,
            invocation: None,
            occurred_at_us: fact.occurred_at_us,
            payload: fact.payload.clone(),
        });
        staged.intent(IntentRow::new(intent, signal, self.sink));
        Ok(CommitRefs {
            ids: vec![signal, intent],
        })
    }
}

/// A participant that refuses.
#[derive(Debug, Clone, Copy)]
pub struct Refuses;

impl CommitParticipant for Refuses {
    fn name(&self) -> &'static str {
        "refuses"
    }

    fn stage(&self, _: &PendingFact, _: &mut Staged) -> Result<CommitRefs, StageError> {
        Err(StageError {
            participant: "refuses".to_owned(),
            reason: "as it does".to_owned(),
        })
    }
}
