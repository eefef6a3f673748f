//! The durable plane with its store, and with nothing above it: one unit, committed and delivered.

use std::error::Error;
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::value::to_raw_value;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::commit::{
    CommitParticipant, CommitRefs, FactIdentity, IntentRow, PendingFact, Repeat, SignalRow,
    StageError, Staged,
};
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use triplane_state::{Committed, Store, StoreOptions};
use uuid::Uuid;

/// Stages the signal of a fact and the intent to tell the sink `memory` of it.
struct Told;

impl CommitParticipant for Told {
    fn name(&self) -> &str {
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
        staged.intent(IntentRow::new(intent, signal, "memory"));
        Ok(CommitRefs {
            ids: vec![signal, intent],
        })
    }
}

#[derive(Default)]
struct Memory(Mutex<Vec<String>>);

impl DeliverySink for Memory {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        self.0
            .lock()
            .expect("the memory")
            .push(intent.identity().to_owned());
        async { DeliveryResult::Delivered(None) }.boxed()
    }
}

fn fact() -> Result<PendingFact, serde_json::Error> {
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
        subject: None,
        outcome: "succeeded".to_owned(),
        occurred_at_us: 0,
        judgement: None,
        kind: SignalKind::OperationSucceeded,
        emitter: EmitterRole::Owner,
        payload: Payload {
            payload_type: "example".to_owned(),
            version: 1,
            body: to_raw_value("body")?.into(),
        },
    })
}

async fn run() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(StoreOptions::new(folder.path().join("state.db"))).await?;
    for wanted in ["recorded", "already recorded"] {
        let mut unit = store.begin(fact()?);
        unit.stage(&Told)?;
        let got = match unit.commit().await? {
            Committed::Recorded(_) => "recorded",
            Committed::AlreadyRecorded(_) => "already recorded",
        };
        assert_eq!(got, wanted);
    }
    let memory = Arc::new(Memory::default());
    let worker = store
        .delivery()
        .sink("memory", Arc::clone(&memory) as Arc<dyn DeliverySink>);
    assert_eq!(worker.deliver_due().await?.delivered, 1);
    assert_eq!(*memory.0.lock().expect("the memory"), ["s1/1"]);
    store.close().await?;
    println!("state with its store: one fact told twice, recorded and delivered once");
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run())
}
