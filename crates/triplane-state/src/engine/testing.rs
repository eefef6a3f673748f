//! What the tests of this crate work with.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::value::RawValue;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use tempfile::TempDir;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use uuid::Uuid;

use crate::clock::ManualClock;
use crate::commit::{
    AuditRow, CommitParticipant, CommitRefs, Confirmation, FactIdentity, IntentRow, Judgement,
    PendingFact, Repeat, SignalRow, StageError, Staged,
};
use crate::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
};
use crate::engine::commit::{Committed, Receipt, UnitOfWork};
use crate::engine::handle::Store;
use crate::engine::store::StoreOptions;
use crate::error::StateError;

/// When the manual clock of a test store starts.
pub(crate) const START_US: i64 = 1_000_000_000;

/// A runtime for one of several threads that open a store together.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
}

/// A store in a folder of its own, with a clock that only the test moves.
pub(crate) struct TestStore {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) path: PathBuf,
    _folder: TempDir,
}

impl TestStore {
    pub(crate) async fn open() -> Self {
        Self::open_with(|options| options).await
    }

    pub(crate) async fn open_with(change: impl FnOnce(StoreOptions) -> StoreOptions) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.db");
        let clock = Arc::new(ManualClock::at(START_US));
        let options = StoreOptions::new(&path).clock(clock.clone());
        let store = Store::open(change(options)).await.expect("opens");
        Self {
            store,
            clock,
            path,
            _folder: folder,
        }
    }

    /// A second handle on the same file, as another process would have it.
    pub(crate) async fn open_again(&self) -> Store {
        let options = StoreOptions::new(&self.path).clock(self.clock.clone());
        Store::open(options).await.expect("opens again")
    }

    /// Commits `fact` with an audit row, a signal and an intent for the sink `sink`.
    pub(crate) async fn commit(&self, fact: PendingFact) -> Committed {
        self.unit(fact).commit().await.expect("commits")
    }

    pub(crate) fn unit(&self, fact: PendingFact) -> UnitOfWork {
        let mut unit = self.store.begin(fact);
        unit.stage(&Rows::default()).expect("stages");
        unit
    }

    /// A connection beside the store, for looking at the rows themselves.
    pub(crate) async fn raw(&self) -> SqliteConnection {
        let url = format!("sqlite://{}", self.path.display());
        SqliteConnection::connect(&url).await.expect("connects")
    }

    pub(crate) async fn count(&self, from: &str) -> i64 {
        let query = format!("SELECT count(*) FROM {from}");
        sqlx::query_scalar(sqlx::AssertSqlSafe(query))
            .fetch_one(&mut self.raw().await)
            .await
            .expect("counts")
    }
}

/// A fact that is told under `key`, with content `digest`.
pub(crate) fn fact(key: &str, digest: &str) -> PendingFact {
    let body = format!(r#"{{"key":"{key}","digest":"{digest}"}}"#);
    PendingFact {
        operation: Uuid::now_v7(),
        identity: FactIdentity {
            key: key.to_owned(),
            shape: "hooks".to_owned(),
            digest: digest.to_owned(),
        },
        repeat: Repeat::SameContent,
        session: "s1".to_owned(),
        event: "PreToolUse".to_owned(),
        subject: Some("Bash".to_owned()),
        outcome: "denied".to_owned(),
        occurred_at_us: 7,
        judgement: Some(judgement("denied", Some("rm.root"))),
        kind: SignalKind::OperationDenied,
        emitter: EmitterRole::Owner,
        payload: Payload {
            payload_type: "test".to_owned(),
            version: 1,
            body: RawValue::from_string(body).expect("valid JSON").into(),
        },
    }
}

pub(crate) fn judgement(decision: &str, rule: Option<&str>) -> Judgement {
    Judgement {
        decision: decision.to_owned(),
        enforcement: "enforced".to_owned(),
        rule: rule.map(str::to_owned),
        reason: Some("because".to_owned()),
        notes: None,
        rewrite: None,
    }
}

pub(crate) fn receipt(committed: Committed) -> Receipt {
    match committed {
        Committed::Recorded(receipt) => receipt,
        Committed::AlreadyRecorded(recorded) => panic!("already recorded: {recorded:?}"),
    }
}

/// Stages an audit row, a signal, and an intent to deliver it.
pub(crate) struct Rows {
    pub(crate) sink: &'static str,
    pub(crate) dedup_key: Option<String>,
    pub(crate) expires_at_us: Option<i64>,
    pub(crate) confirmation: Confirmation,
    pub(crate) deliver_to: Option<&'static str>,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            sink: "sink",
            dedup_key: None,
            expires_at_us: None,
            confirmation: Confirmation::BySink,
            deliver_to: None,
        }
    }
}

impl CommitParticipant for Rows {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let signal = Uuid::now_v7();
        let intent = Uuid::now_v7();
        staged.audit(AuditRow {
            id: Uuid::now_v7(),
            outcome: fact.outcome.clone(),
            emitter: fact.emitter,
            judgement: fact.judgement.clone(),
        });
        staged.signal(SignalRow {
            id: signal,
            session: fact.session.clone(),
            kind: fact.kind,
            emitter: fact.emitter,
            invocation: None,
            occurred_at_us: fact.occurred_at_us,
            payload: fact.payload.clone(),
        });
        staged.intent(IntentRow {
            dedup_key: self.dedup_key.clone(),
            expires_at_us: self.expires_at_us,
            confirmation: self.confirmation,
            deliver_to: self.deliver_to.map(str::to_owned),
            ..IntentRow::new(intent, signal, self.sink)
        });
        Ok(CommitRefs {
            ids: vec![signal, intent],
        })
    }
}

/// A sink that remembers what it was given and answers what it was told to.
pub(crate) struct Recorder {
    pub(crate) seen: Mutex<Vec<(String, u32)>>,
    answer: Box<dyn Fn(&DeliveryIntent) -> DeliveryResult + Send + Sync>,
}

impl Recorder {
    pub(crate) fn answering(
        answer: impl Fn(&DeliveryIntent) -> DeliveryResult + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            seen: Mutex::default(),
            answer: Box::new(answer),
        })
    }

    pub(crate) fn delivering() -> Arc<Self> {
        Self::answering(|_| DeliveryResult::Delivered(None))
    }

    pub(crate) fn failing(error: &'static str) -> Arc<Self> {
        Self::answering(move |_| DeliveryResult::Retry {
            error: error.to_owned(),
            after: None,
        })
    }

    /// The identities of what was sent, with the number of the attempt.
    pub(crate) fn seen(&self) -> Vec<(String, u32)> {
        self.seen.lock().expect("not poisoned").clone()
    }
}

impl DeliverySink for Recorder {
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Accepted)
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        let seen = (intent.identity().to_owned(), intent.attempt());
        self.seen.lock().expect("not poisoned").push(seen);
        let answer = (self.answer)(intent);
        Box::pin(async move { answer })
    }
}

/// A participant that refuses.
pub(crate) struct Refuses;

impl CommitParticipant for Refuses {
    fn name(&self) -> &'static str {
        "refuses"
    }

    fn stage(&self, _fact: &PendingFact, _staged: &mut Staged) -> Result<CommitRefs, StageError> {
        Err(StageError {
            participant: "refuses".to_owned(),
            reason: "not today".to_owned(),
        })
    }
}

pub(crate) fn assert_closed<T: std::fmt::Debug>(result: &Result<T, StateError>) {
    assert!(matches!(result, Err(StateError::Closed)), "{result:?}");
}

pub(crate) const MINUTE: Duration = Duration::from_mins(1);

/// Asserts that `sql` reads no table from end to end and does not sort.
pub(crate) async fn assert_looks_up(test: &TestStore, sql: &str) {
    let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = sqlx::query(explain)
        .fetch_all(&mut test.raw().await)
        .await
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    let slow = |step: &String| {
        // A list that the statement is given, or the limited result of a subquery.
        let given = ["VIRTUAL TABLE", "CONSTANT ROW", "SCAN (subquery"];
        let given = given.iter().any(|given| step.contains(given));
        step.contains("TEMP B-TREE") || step.contains("SCAN") && !given
    };
    let steps: Vec<String> = rows.iter().map(|row| row.get(3)).collect();
    assert!(!steps.iter().any(slow), "{sql}\n{steps:#?}");
}
