//! A unit leaves the same rows and gets the same answer whichever connection writes it.

use sqlx::{AssertSqlSafe, Row as _};
use uuid::Uuid;

use crate::commit::{
    AuditRow, CommitParticipant, CommitRefs, Confirmation, IntentRow, PendingFact, Rewrite,
    SignalRow, StageError, Staged,
};
use crate::engine::commit::Committed;
use crate::engine::commit::direct::{ANY_PURGED, DEDUP, ON_RECORD, PURGED, SESSION, SNAPSHOT};
use crate::engine::outbox::IntentSelection;
use crate::engine::store::Lifetime;
use crate::engine::testing::{Recorder, TestStore, assert_looks_up, fact};

/// Stages two signals, an audit row and an intent with ids that follow from the fact.
struct Fixed {
    dedup_key: Option<&'static str>,
    deliver_to: Option<&'static str>,
    confirmation: Confirmation,
}

impl CommitParticipant for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let id = |number: u128| Uuid::from_u128(fact.operation.as_u128() + number);
        for (number, session) in [(1, fact.session.as_str()), (2, "elsewhere")] {
            staged.signal(SignalRow {
                id: id(number),
                session: session.to_owned(),
                kind: fact.kind,
                emitter: fact.emitter,
                invocation: (number == 2).then(|| id(9)),
                occurred_at_us: fact.occurred_at_us,
                payload: fact.payload.clone(),
            });
        }
        staged.audit(AuditRow {
            id: id(3),
            outcome: fact.outcome.clone(),
            emitter: fact.emitter,
            judgement: fact.judgement.clone(),
        });
        let mut intent = IntentRow::new(id(4), id(1), "sink");
        intent.dedup_key = self.dedup_key.map(str::to_owned);
        intent.deliver_to = self.deliver_to.map(str::to_owned);
        intent.confirmation = self.confirmation;
        intent.expires_at_us = self.deliver_to.map(|_| i64::MAX);
        staged.intent(intent);
        Ok(CommitRefs::default())
    }
}

/// Commits what meets every look-up, and answers every answer and every row.
async fn story(lifetime: Lifetime) -> (Vec<Committed>, Vec<String>) {
    let test = TestStore::open_with(|options| options.lifetime(lifetime)).await;
    let mut answers = Vec::new();
    let tell = |key: &str, digest: &str, number: u128| {
        let mut told = fact(key, digest);
        told.operation = Uuid::from_u128(number << 8);
        told
    };
    let mut rewritten = tell("c", "d", 3);
    if let Some(judgement) = &mut rewritten.judgement {
        judgement.rule = None;
        judgement.rewrite = Some(Rewrite {
            before: told_raw("1"),
            after: told_raw("2"),
        });
    }
    let mut unjudged = tell("e", "d", 6);
    unjudged.judgement = None;
    unjudged.subject = None;
    let by_sink = Fixed {
        dedup_key: Some("once"),
        deliver_to: None,
        confirmation: Confirmation::BySink,
    };
    let by_consumer = Fixed {
        dedup_key: None,
        deliver_to: Some("seat"),
        confirmation: Confirmation::ByConsumer,
    };
    let steps = [
        (tell("a", "d", 1), &by_sink),
        // A dedup key that is taken, a fact that is on record, one of other content.
        (tell("b", "d", 2), &by_sink),
        (rewritten, &by_consumer),
        (tell("a", "d", 4), &by_sink),
        (tell("a", "other", 5), &by_consumer),
        (unjudged, &by_consumer),
    ];
    for (number, (told, rows)) in steps.into_iter().enumerate() {
        if number == 4 {
            // From here on the dedup key is that of a purged intent.
            let worker = test.store.delivery();
            let worker = worker.sink("sink", Recorder::delivering());
            worker.deliver_due().await.expect("delivers");
            let selection = IntentSelection::default();
            let purged = test.store.purge(selection, None).await.expect("purges");
            assert_eq!(purged.intents.len(), 1);
            let again = tell("purged", "d", 8);
            let mut unit = test.store.begin(again);
            unit.stage(&by_sink).expect("stages");
            answers.push(unit.commit().await.expect("commits"));
        }
        let mut unit = test.store.begin(told);
        unit.stage(rows).expect("stages");
        answers.push(unit.commit().await.expect("commits"));
    }
    // Of the three that are there, the sink refuses two, and one waits for its consumer.
    let worker = test.store.delivery();
    let worker = worker.sink("sink", Recorder::failing("no"));
    let told = worker.deliver_due().await.expect("the store works");
    assert_eq!(told.retried, 2);
    let direct = test.store.connections.writer.has_shortcut().await;
    assert_eq!(direct, lifetime == Lifetime::Long);
    let tables = "session operation audit signal_log delivery_snapshot outbox outbox_transition";
    let mut rows = Vec::new();
    for table in tables.split(' ') {
        let mut found = dump(&test, table).await;
        // It names the purge, whose id is its own.
        found.retain(|row| !row.contains("dispatch.purged.operator"));
        rows.extend(found);
    }
    (answers, rows)
}

fn told_raw(json: &str) -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string(json.to_owned()).expect("JSON")
}

async fn dump(test: &TestStore, table: &str) -> Vec<String> {
    let mut raw = test.raw().await;
    let columns = format!(
        "SELECT group_concat('quote(' || name || ')', '||'' ''||') FROM pragma_table_info('{table}') WHERE name <> 'lease_holder'"
    );
    let columns: String = sqlx::query_scalar(AssertSqlSafe(columns))
        .fetch_one(&mut raw)
        .await
        .expect("describes");
    let rows = sqlx::query(AssertSqlSafe(format!("SELECT {columns} FROM {table}")))
        .fetch_all(&mut raw)
        .await
        .expect("reads");
    let shown = |row| {
        format!(
            "{table}: {}",
            sqlx::sqlite::SqliteRow::get::<String, _>(row, 0)
        )
    };
    rows.iter().map(shown).collect()
}

#[tokio::test]
async fn a_unit_leaves_the_same_rows_on_either_road() {
    let (short, long) = (story(Lifetime::Short).await, story(Lifetime::Long).await);
    assert_eq!(long.0, short.0);
    assert_eq!(long.1, short.1);
    let recorded = short.0.iter();
    let recorded = recorded.filter(|answer| matches!(answer, Committed::Recorded(_)));
    assert_eq!((short.0.len(), recorded.count()), (7, 6));
}

#[tokio::test]
async fn what_a_commit_asks_is_looked_up() {
    let test = TestStore::open().await;
    for sql in [ON_RECORD, SESSION, DEDUP, PURGED, ANY_PURGED, SNAPSHOT] {
        assert_looks_up(&test, sql).await;
    }
}
