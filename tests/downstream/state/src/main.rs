//! The ports of the durable plane by themselves: what a sink or a participant is written against,
//! without a database.

use std::error::Error;
use std::time::Duration;

use serde_json::value::to_raw_value;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::commit::{
    AuditRow, CommitParticipant, CommitRefs, FactIdentity, PendingFact, Repeat, StageError, Staged,
};
use triplane_state::delivery::{Idempotency, SinkDeclaration, SinkDurability};
use triplane_state::retry::RetryPolicy;
use uuid::Uuid;

/// Stages one audit row; refuses a fact without a subject.
struct Evidence;

impl CommitParticipant for Evidence {
    fn name(&self) -> &str {
        "evidence"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        if fact.subject.is_none() {
            return Err(StageError {
                participant: self.name().to_owned(),
                reason: "nothing to testify".to_owned(),
            });
        }
        let id = Uuid::now_v7();
        staged.audit(AuditRow {
            id,
            outcome: fact.outcome.clone(),
            emitter: fact.emitter,
            judgement: None,
        });
        Ok(CommitRefs { ids: vec![id] })
    }
}

fn fact(subject: Option<&str>) -> Result<PendingFact, serde_json::Error> {
    Ok(PendingFact {
        operation: Uuid::now_v7(),
        identity: FactIdentity {
            key: "s1/1".to_owned(),
            shape: "example".to_owned(),
            digest: "0".to_owned(),
        },
        repeat: Repeat::SameContent,
        session: "s1".to_owned(),
        event: "Example".to_owned(),
        subject: subject.map(str::to_owned),
        outcome: "succeeded".to_owned(),
        occurred_at_us: 0,
        judgement: None,
        kind: SignalKind::OperationSucceeded,
        emitter: EmitterRole::Owner,
        payload: Payload {
            payload_type: "example".to_owned(),
            version: 1,
            body: to_raw_value(&())?.into(),
        },
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut staged = Staged::new();
    let refs = Evidence.stage(&fact(Some("tool"))?, &mut staged)?;
    assert_eq!(refs.ids.len(), 1);
    assert!(!staged.is_empty());
    let refused = Evidence.stage(&fact(None)?, &mut Staged::new());
    assert!(refused.is_err());

    let retry = RetryPolicy::new(3, Duration::from_secs(1), Duration::from_secs(60))?;
    let waits: Vec<_> = (1..=3).map(|attempt| retry.wait_after(attempt)).collect();
    let second = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(waits, [second(1), second(2), None]);
    let declared = SinkDeclaration::new(Idempotency::Permanent, SinkDurability::Fsynced);
    assert_eq!(declared.payload_bytes_max, None);
    println!("state: staged a row and refused another, without a database");
    Ok(())
}
