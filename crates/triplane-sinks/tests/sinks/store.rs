//! A store with committed intents, and a witness of what a sink was asked and answered.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::value::RawValue;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::commit::{
    CommitParticipant, CommitRefs, FactIdentity, IntentRow, PendingFact, Repeat, SignalRow,
    StageError, Staged,
};
use triplane_state::delivery::{DeliveryIntent, DeliveryResult, DeliverySink, SinkDeclaration};
use triplane_state::retry::RetryPolicy;
use triplane_state::{Committed, DeliveryTally, Store, StoreOptions};
use uuid::Uuid;

const SINK: &str = "audit";

/// A store in a folder of its own.
pub(crate) struct Fixture {
    store: Store,
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = StoreOptions::new(folder.path().join("state.db"));
        let store = Store::open(options).await.expect("a store");
        Self { store, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Commits a fact with this identity and payload, and the intent to deliver it.
    pub(crate) async fn commit(&self, identity: &str, payload: &str) {
        let body = RawValue::from_string(payload.to_owned()).expect("one JSON value");
        let fact = PendingFact {
            operation: Uuid::now_v7(),
            identity: FactIdentity {
                key: identity.to_owned(),
                shape: "test".to_owned(),
                digest: identity.to_owned(),
            },
            repeat: Repeat::SameContent,
            session: "s1".to_owned(),
            event: "PreToolUse".to_owned(),
            subject: Some("Bash".to_owned()),
            outcome: "allowed".to_owned(),
            occurred_at_us: 1_700_000_000_000_000,
            judgement: None,
            kind: SignalKind::OperationAllowed,
            emitter: EmitterRole::Owner,
            payload: Payload {
                payload_type: "tool_call".to_owned(),
                version: 1,
                body: Arc::from(body),
            },
        };
        let mut unit = self.store.begin(fact);
        unit.stage(&SignalAndIntent).expect("staged");
        let committed = unit.commit().await.expect("committed");
        assert!(matches!(committed, Committed::Recorded(_)), "{committed:?}");
    }

    /// Delivers what is due to `sink`, repeating failed attempts at once, three in all.
    pub(crate) async fn deliver(&self, sink: Arc<dyn DeliverySink>) -> DeliveryTally {
        let retry = RetryPolicy::new(3, Duration::ZERO, Duration::ZERO).expect("a policy");
        let worker = self.store.delivery().retry(retry).sink(SINK, sink);
        worker.deliver_due().await.expect("delivered")
    }
}

/// Stages the signal of a fact and one intent.
struct SignalAndIntent;

impl CommitParticipant for SignalAndIntent {
    fn name(&self) -> &'static str {
        "signal-and-intent"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let (signal, intent) = (Uuid::now_v7(), Uuid::now_v7());
        staged.signal(SignalRow {
            id: signal,
            session: fact.session.clone(),
            kind: fact.kind,
            emitter: fact.emitter,
            invocation: None,
            occurred_at_us: fact.occurred_at_us,
            payload: fact.payload.clone(),
        });
        staged.intent(IntentRow::new(intent, signal, SINK));
        Ok(CommitRefs {
            ids: vec![signal, intent],
        })
    }
}

/// A sink that passes on to another and keeps what was asked and answered.
pub(crate) struct Witness<S> {
    sink: S,
    /// How many answers are kept from the worker, as if the process had died before it heard them.
    unheard: Mutex<usize>,
    seen: Mutex<Vec<(DeliveryIntent, DeliveryResult)>>,
}

impl<S: DeliverySink> Witness<S> {
    pub(crate) fn of(sink: S) -> Arc<Self> {
        Self::losing(sink, 0)
    }

    /// Loses the first `unheard` answers.
    pub(crate) fn losing(sink: S, unheard: usize) -> Arc<Self> {
        let (unheard, seen) = (Mutex::new(unheard), Mutex::default());
        Arc::new(Self {
            sink,
            unheard,
            seen,
        })
    }

    /// The intents and the sink's answers so far, in order.
    pub(crate) fn seen(&self) -> Vec<(DeliveryIntent, DeliveryResult)> {
        self.seen.lock().expect("not poisoned").clone()
    }

    /// The answers so far.
    pub(crate) fn answers(&self) -> Vec<DeliveryResult> {
        self.seen().into_iter().map(|(_, answer)| answer).collect()
    }

    fn hear(&self, answer: DeliveryResult) -> DeliveryResult {
        let mut unheard = self.unheard.lock().expect("not poisoned");
        if *unheard == 0 {
            return answer;
        }
        *unheard -= 1;
        DeliveryResult::Unknown {
            error: "lost".to_owned(),
        }
    }
}

impl<S: DeliverySink> DeliverySink for Witness<S> {
    fn declaration(&self) -> SinkDeclaration {
        self.sink.declaration()
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        async move {
            let answer = self.sink.deliver(intent).await;
            let seen = (intent.clone(), answer.clone());
            self.seen.lock().expect("not poisoned").push(seen);
            self.hear(answer)
        }
        .boxed()
    }

    fn deliver_batch<'a>(
        &'a self,
        intents: &'a [DeliveryIntent],
    ) -> BoxFuture<'a, Vec<DeliveryResult>> {
        async move {
            let answers = self.sink.deliver_batch(intents).await;
            let seen = intents.iter().cloned().zip(answers.iter().cloned());
            self.seen.lock().expect("not poisoned").extend(seen);
            answers
                .into_iter()
                .map(|answer| self.hear(answer))
                .collect()
        }
        .boxed()
    }
}
