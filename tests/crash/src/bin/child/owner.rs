//! The owner of facts: tells them, with rows of its own, under dedup keys, alone and many at once.

use std::time::Duration;

use serde_json::value::RawValue;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use triplane_kernel::failpoint;
use triplane_referee::journal::{Entry, Journal, Planned};
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::commit::{
    AuditRow, CommitParticipant, CommitRefs, Confirmation, FactIdentity, IntentRow, Judgement,
    PendingFact, Repeat, SignalRow, StageError, Staged,
};
use triplane_state::{
    Applied, Committed, IntentReceipt, SignalReceipt, StateError, Store, UnitOfWork,
};
use uuid::Uuid;

use crate::desk::{Desk, refused, store_folder};

/// What a fact is told with.
#[derive(Debug, Clone)]
pub(crate) struct Telling {
    pub(crate) key: String,
    pub(crate) session: String,
    pub(crate) sink: &'static str,
    /// How its destination behaves.
    pub(crate) behaviour: &'static str,
    pub(crate) dedup: Option<String>,
    pub(crate) owner_row: bool,
    pub(crate) confirmed: bool,
    pub(crate) expires_at_us: Option<i64>,
    ids: [Uuid; 4],
}

const DONE: &str = "INSERT OR IGNORE INTO job_done (identity) VALUES (?1)";

impl Telling {
    pub(crate) fn new(key: String, sink: &'static str, behaviour: &'static str) -> Self {
        Self {
            key,
            session: "one".to_owned(),
            sink,
            behaviour,
            dedup: None,
            owner_row: false,
            confirmed: false,
            expires_at_us: None,
            ids: std::array::from_fn(|_| Uuid::now_v7()),
        }
    }

    fn planned(&self) -> Planned {
        let [operation, audit, signal, intent] = self.ids.map(|id| id.to_string());
        Planned {
            key: self.key.clone(),
            session: self.session.clone(),
            operation,
            audit,
            signal,
            intent,
            owner_row: self.owner_row,
            dedup: self.dedup.clone(),
            sink: self.sink.to_owned(),
        }
    }

    fn fact(&self) -> anyhow::Result<PendingFact> {
        let body = serde_json::json!({"key": self.key, "behave": self.behaviour});
        Ok(PendingFact {
            operation: self.ids[0],
            identity: FactIdentity {
                key: self.key.clone(),
                shape: "crash".to_owned(),
                digest: "d".to_owned(),
            },
            repeat: Repeat::SameContent,
            session: self.session.clone(),
            event: "Crash".to_owned(),
            subject: None,
            outcome: "denied".to_owned(),
            occurred_at_us: 7,
            judgement: Some(Judgement {
                decision: "denied".to_owned(),
                enforcement: "enforced".to_owned(),
                rule: Some("crash".to_owned()),
                reason: None,
                notes: None,
                rewrite: None,
            }),
            kind: SignalKind::OperationDenied,
            emitter: EmitterRole::Owner,
            payload: Payload {
                payload_type: "crash".to_owned(),
                version: 1,
                body: RawValue::from_string(body.to_string())?.into(),
            },
        })
    }

    fn unit(&self, store: &Store) -> anyhow::Result<UnitOfWork> {
        let mut unit = store.begin(self.fact()?);
        unit.stage(self)?;
        Ok(unit)
    }
}

impl CommitParticipant for Telling {
    fn name(&self) -> &'static str {
        "owner"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let [_, audit, signal, intent] = self.ids;
        staged.audit(AuditRow {
            id: audit,
            outcome: fact.outcome.clone(),
            emitter: fact.emitter,
            judgement: fact.judgement.clone(),
        });
        staged.signal(SignalRow {
            id: signal,
            session: self.session.clone(),
            kind: fact.kind,
            emitter: fact.emitter,
            invocation: None,
            occurred_at_us: fact.occurred_at_us,
            payload: fact.payload.clone(),
        });
        let mut row = IntentRow::new(intent, signal, self.sink);
        row.dedup_key.clone_from(&self.dedup);
        row.expires_at_us = self.expires_at_us;
        if self.confirmed {
            row.confirmation = Confirmation::ByConsumer;
        }
        staged.intent(row);
        Ok(CommitRefs {
            ids: self.ids.to_vec(),
        })
    }
}

impl Desk {
    /// Tells one fact and waits for its receipt.
    pub(crate) async fn tell(&self, telling: &Telling) -> anyhow::Result<()> {
        self.journal.write(&[Entry::Meant(telling.planned())])?;
        let mut unit = telling.unit(&self.store)?;
        if telling.owner_row {
            let wrote = unit.execute(sqlx::query(DONE).bind(&telling.key)).await;
            if self.heed("the owner's row", wrote)?.is_none() {
                return Ok(());
            }
        }
        let committed = unit.commit().await;
        failpoint!("owner.receipt_held");
        let noted = noted(telling, &committed, true);
        self.journal.write(&[noted])?;
        failpoint!("owner.emitted");
        Ok(())
    }

    /// Tells one fact with its owner's row in a transaction that the owner has brought along.
    pub(crate) async fn tell_along(&self, telling: &Telling) -> anyhow::Result<()> {
        self.journal.write(&[Entry::Meant(telling.planned())])?;
        let fact = telling.fact()?;
        let mut staged = Staged::new();
        telling.stage(&fact, &mut staged)?;
        let written = async {
            let mut connection = self.own_connection().await?;
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            let row = sqlx::query(DONE).bind(&telling.key);
            row.execute(&mut *transaction).await?;
            failpoint!("along.owner_written");
            let applied = staged.apply_to(&fact, &mut transaction).await?;
            failpoint!("along.applied");
            transaction.commit().await?;
            failpoint!("along.committed");
            connection.close().await?;
            anyhow::Ok(applied)
        };
        let entry = match written.await {
            Ok(applied) => acked(telling, first_of(&applied), true),
            Err(error) => refused(&format!("fact {}", telling.key), error.as_ref()),
        };
        self.journal.write(&[entry])?;
        Ok(())
    }

    /// A connection of the owner's own, as it has to be for `Staged::apply_to`.
    async fn own_connection(&self) -> Result<SqliteConnection, sqlx::Error> {
        let path = store_folder(&self.folder).join("state.db");
        SqliteConnectOptions::new()
            .filename(path)
            .foreign_keys(true)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(5))
            .connect()
            .await
    }

    /// Tells a fact and takes it back before it is committed.
    pub(crate) async fn take_back(&self, telling: &Telling) -> anyhow::Result<()> {
        let key = telling.key.clone();
        let lines = [Entry::Meant(telling.planned()), Entry::TakenBack { key }];
        self.journal.write(&lines)?;
        let mut unit = telling.unit(&self.store)?;
        let wrote = unit.execute(sqlx::query(DONE).bind(&telling.key)).await;
        self.heed("the owner's row", wrote)?;
        drop(unit);
        Ok(())
    }

    /// Tells facts at the same time, every second one through the other handle.
    pub(crate) async fn tell_together(
        &self,
        other: &Store,
        tellings: &[Telling],
    ) -> anyhow::Result<()> {
        tell_many(&self.journal, &[&self.store, other], tellings).await
    }

    /// What the writer's connection really runs with.
    pub(crate) async fn read_back(&self) -> anyhow::Result<()> {
        let telling = Telling::new(format!("probe-{}", std::process::id()), "proc", "ok");
        let mut unit = telling.unit(&self.store)?;
        let rows = unit.fetch_all(sqlx::query("PRAGMA synchronous")).await?;
        drop(unit);
        for row in rows {
            let level = sqlx::Row::try_get(&row, 0)?;
            self.journal.write(&[Entry::Synchronous { level }])?;
        }
        Ok(())
    }
}

/// Tells facts at the same time, through `stores` in turn.
pub(crate) async fn tell_many(
    journal: &Journal,
    stores: &[&Store],
    tellings: &[Telling],
) -> anyhow::Result<()> {
    let meant: Vec<_> = tellings
        .iter()
        .map(|it| Entry::Meant(it.planned()))
        .collect();
    journal.write(&meant)?;
    let commits = tellings
        .iter()
        .zip(stores.iter().cycle())
        .map(|(telling, store)| async move {
            let committed = telling.unit(store)?.commit().await;
            anyhow::Ok(noted(telling, &committed, false))
        });
    let answers = futures::future::try_join_all(commits).await?;
    journal.write(&answers)?;
    Ok(())
}

/// What the journal says of an answer.
fn noted(telling: &Telling, committed: &Result<Committed, StateError>, in_turn: bool) -> Entry {
    let first = match committed {
        Err(error) => return refused(&format!("fact {}", telling.key), error),
        Ok(Committed::Recorded(receipt)) => first(receipt.signals(), receipt.intents()),
        Ok(Committed::AlreadyRecorded(_)) => First::default(),
    };
    acked(telling, first, in_turn)
}

/// The first signal's sequence and the first intent of what was written.
type First = (Option<u64>, Option<String>);

fn first(signals: &[SignalReceipt], intents: &[IntentReceipt]) -> First {
    let sequence = signals.first().map(|it| it.sequence);
    (sequence, intents.first().map(|it| it.id.to_string()))
}

fn first_of(applied: &Applied) -> First {
    match applied {
        Applied::Written {
            signals, intents, ..
        } => first(signals, intents),
        Applied::AlreadyRecorded(_) => First::default(),
    }
}

fn acked(telling: &Telling, (sequence, intent): First, in_turn: bool) -> Entry {
    Entry::Acked {
        key: telling.key.clone(),
        pid: std::process::id(),
        sequence,
        intent,
        in_turn,
    }
}
