//! What is measured: units, sinks and stores.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::runtime::Runtime;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::commit::{
    AuditRow, CommitParticipant, CommitRefs, FactIdentity, IntentRow, Judgement, PendingFact,
    Repeat, SignalRow, StageError, Staged,
};
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use triplane_state::{Store, StoreOptions};
use uuid::Uuid;

use crate::row::Durability;

/// 512 bytes of JSON, in the limits and in what stands beside them.
pub(crate) const PAYLOAD: &str = concat!(
    r#"{"text":"0123456789012345678901234567890123456789012345678901234567890123456789"#,
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234",
    "5678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234",
    "5678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234",
    r#"567890"}"#,
);
const _: () = assert!(PAYLOAD.len() == 512);

/// The sink that every intent is for.
pub(crate) const SINK: &str = "sink";

/// As many threads as any other program has.
pub(crate) fn runtime() -> anyhow::Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?)
}

pub(crate) async fn open(path: &Path, durability: Durability) -> anyhow::Result<Store> {
    let options = StoreOptions::new(path).synchronous(durability.synchronous());
    Ok(Store::open(options).await?)
}

/// What a unit carries besides its operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// A signal, and an intent with a dedup key and its audit row: the reason-coded row that each
    /// change of an intent is written with.
    Enqueue,
    /// The same, and evidence of how the operation was judged.
    EnqueueJudged,
    /// So many signals.
    Append(usize),
}

impl Unit {
    /// A fact that was never told before.
    pub(crate) fn fact(self) -> PendingFact {
        let operation = Uuid::now_v7();
        PendingFact {
            operation,
            identity: FactIdentity {
                key: operation.to_string(),
                shape: "bench".to_owned(),
                digest: operation.simple().to_string(),
            },
            repeat: Repeat::SameContent,
            session: "session".to_owned(),
            event: "PreToolUse".to_owned(),
            subject: Some("Bash".to_owned()),
            outcome: "allowed".to_owned(),
            occurred_at_us: 1,
            judgement: match self {
                Self::EnqueueJudged => Some(Judgement {
                    decision: "allowed".to_owned(),
                    enforcement: "enforced".to_owned(),
                    rule: None,
                    reason: None,
                    notes: None,
                    rewrite: None,
                }),
                Self::Enqueue | Self::Append(_) => None,
            },
            kind: SignalKind::ProviderObserved,
            emitter: EmitterRole::Provider,
            payload: Payload {
                payload_type: "bench".to_owned(),
                version: 1,
                body: RawValue::from_string(PAYLOAD.to_owned())
                    .expect("JSON")
                    .into(),
            },
        }
    }

    fn signals(self) -> usize {
        match self {
            Self::Enqueue | Self::EnqueueJudged => 1,
            Self::Append(signals) => signals,
        }
    }

    /// Commits it in `store`.
    pub(crate) async fn commit(self, store: &Store) -> anyhow::Result<()> {
        let mut unit = store.begin(self.fact());
        unit.stage(&self)?;
        let _receipt = unit.commit().await?;
        Ok(())
    }
}

impl CommitParticipant for Unit {
    fn name(&self) -> &'static str {
        "bench"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let mut ids = Vec::with_capacity(self.signals());
        for _ in 0..self.signals() {
            let id = Uuid::now_v7();
            ids.push(id);
            staged.signal(SignalRow {
                id,
                session: fact.session.clone(),
                kind: fact.kind,
                emitter: fact.emitter,
                invocation: None,
                occurred_at_us: fact.occurred_at_us,
                payload: fact.payload.clone(),
            });
        }
        if let Self::EnqueueJudged = self {
            staged.audit(AuditRow {
                id: Uuid::now_v7(),
                outcome: fact.outcome.clone(),
                emitter: fact.emitter,
                judgement: fact.judgement.clone(),
            });
        }
        if let Self::Enqueue | Self::EnqueueJudged = self {
            let mut intent = IntentRow::new(Uuid::now_v7(), ids[0], SINK);
            intent.dedup_key = Some(fact.identity.key.clone());
            staged.intent(intent);
        }
        Ok(CommitRefs { ids })
    }
}

/// Commits `count` units without waiting for one before the next is under way.
pub(crate) async fn commit_many(store: &Store, unit: Unit, count: usize) -> anyhow::Result<()> {
    let mut waiting = std::collections::VecDeque::new();
    for _ in 0..count {
        let mut work = store.begin(unit.fact());
        work.stage(&unit)?;
        waiting.push_back(work.submit().await?);
        if waiting.len() > 128
            && let Some(first) = waiting.pop_front()
        {
            let _receipt = first.await?;
        }
    }
    for last in waiting {
        let _receipt = last.await?;
    }
    Ok(())
}

/// A sink that takes everything, calls `seen` and does nothing else.
pub(crate) struct Seen<F>(pub(crate) F);

impl<F: Fn(&DeliveryIntent) + Send + Sync> DeliverySink for Seen<F> {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        (self.0)(intent);
        Box::pin(async { DeliveryResult::Delivered(None) })
    }
}

/// A sink that takes everything and does nothing.
pub(crate) fn no_op() -> Arc<dyn DeliverySink> {
    Arc::new(Seen(|_intent: &DeliveryIntent| {}))
}
