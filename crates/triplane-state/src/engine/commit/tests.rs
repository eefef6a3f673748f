use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use sqlx::Connection as _;
use uuid::Uuid;

use crate::commit::{
    CommitParticipant, CommitRefs, IntentRow, PendingFact, Repeat, StageError, Staged,
};
use crate::engine::commit::lookup::query;
use crate::engine::commit::work::{Work, check};
use crate::engine::commit::{Applied, Committed, Enqueued};
use crate::engine::testing::{
    Refuses, Rows, TestStore, assert_closed, assert_looks_up, fact, judgement, receipt,
};
use crate::error::StateError;

/// Commits the facts in order and answers the identity that each was written under, or `-`.
async fn identities(facts: Vec<PendingFact>) -> Vec<String> {
    let one_by_one = {
        let test = TestStore::open().await;
        let mut written = Vec::new();
        for fact in facts.clone() {
            written.push(test.commit(fact).await);
        }
        written
    };
    // The same facts in one transaction must come out the same.
    let together = {
        let test = TestStore::open().await;
        let mut submitted = Vec::new();
        for fact in facts {
            submitted.push(test.unit(fact).submit().await.expect("submits"));
        }
        join_all(submitted)
            .await
            .into_iter()
            .map(|it| it.expect("commits"))
            .collect()
    };
    let names = |all: Vec<Committed>| -> Vec<String> {
        let name = |committed| match committed {
            Committed::Recorded(receipt) => receipt.identity().to_owned(),
            Committed::AlreadyRecorded(_) => "-".to_owned(),
        };
        all.into_iter().map(name).collect()
    };
    let one_by_one = names(one_by_one);
    assert_eq!(one_by_one, names(together));
    one_by_one
}

fn shaped(key: &str, digest: &str, shape: &str) -> PendingFact {
    let mut fact = fact(key, digest);
    fact.identity.shape = shape.to_owned();
    fact
}

fn judged(key: &str, digest: &str, decision: &str) -> PendingFact {
    let mut fact = fact(key, digest);
    fact.repeat = Repeat::SameContentAndJudgement;
    fact.judgement = Some(judgement(decision, None));
    fact
}

#[tokio::test]
async fn a_fact_that_is_told_again_is_not_written_again() {
    let told = vec![
        fact("k", "d1"),
        fact("k", "d1"),
        fact("k", "d2"),
        fact("k", "d2"),
        fact("k", "d1"),
    ];
    assert_eq!(identities(told).await, ["k", "-", "k#d2", "-", "-"]);
    let other_shape = vec![shaped("k", "d1", "hooks"), shaped("k", "d2", "transcript")];
    assert_eq!(identities(other_shape).await, ["k", "-"]);
}

#[tokio::test]
async fn another_judgement_of_the_same_content_is_another_fact_for_those_who_wait_for_it() {
    let told = vec![
        judged("k", "d1", "allowed"),
        judged("k", "d1", "allowed"),
        judged("k", "d1", "denied"),
        judged("k", "d1", "denied"),
        judged("k", "d2", "allowed"),
        judged("k", "d2", "denied"),
        judged("k", "d1", "allowed"),
    ];
    let written = identities(told).await;
    assert_eq!(written[0], "k");
    assert_eq!(written[1], "-");
    assert!(
        written[2].starts_with("k#") && written[2].len() == 66,
        "{written:?}"
    );
    assert_eq!(written[3], "-");
    assert_eq!(written[4], "k#d2");
    assert!(
        written[5].starts_with("k#") && written[5] != written[2],
        "{written:?}"
    );
    assert_eq!(written[6], "-");
}

#[tokio::test]
async fn how_units_are_grouped_changes_nothing() {
    // A small generator of its own (Knuth's constants): the same facts at every run.
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut told = Vec::new();
    for _ in 0..150 {
        let (key, digest) = (format!("k{}", next(5)), format!("d{}", next(3)));
        let mut fact = match next(2) {
            0 => fact(&key, &digest),
            _ => judged(
                &key,
                &digest,
                ["allowed", "denied"][usize::from(next(2) == 0)],
            ),
        };
        if next(8) == 0 {
            fact.identity.shape = "transcript".to_owned();
        }
        told.push(fact);
    }
    let written = identities(told).await;
    let new: Vec<_> = written.iter().filter(|identity| *identity != "-").collect();
    assert_eq!(
        new.len(),
        new.iter().collect::<HashSet<_>>().len(),
        "no identity comes twice"
    );
    assert!((10..75).contains(&new.len()), "{new:?}");
}

#[tokio::test]
async fn what_was_recorded_before_is_told_with_its_decision() {
    let test = TestStore::open().await;
    let first = receipt(test.commit(fact("k", "d")).await);
    let Committed::AlreadyRecorded(recorded) = test.commit(fact("k", "d")).await else {
        panic!("must be on record");
    };
    assert_eq!(recorded.operation, first.operation());
    assert_eq!(recorded.decision.as_deref(), Some("denied"));
    assert_eq!(recorded.rule.as_deref(), Some("rm.root"));
    assert_eq!(recorded.committed_at_us, first.committed_at_us());
}

#[tokio::test]
async fn text_with_a_nul_is_kept_whole() {
    let test = TestStore::open().await;
    let mut told = fact("k", "d");
    told.session = "a\0b".to_owned();
    told.identity.key = "a\0b/1".to_owned();
    let _first = receipt(test.commit(told).await);
    let mut other = fact("k", "d");
    other.identity.key = "a\0b/2".to_owned();
    let _second = receipt(test.commit(other).await);
    let sessions = test.store.sessions(9).await.expect("reads");
    assert!(
        sessions.iter().any(|it| it.session == "a\0b"),
        "{sessions:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sequences_are_dense_in_each_session_whoever_commits() {
    let test = Arc::new(TestStore::open().await);
    let other = test.open_again().await;
    let mut tasks = Vec::new();
    for task in 0..8 {
        let (test, other) = (Arc::clone(&test), other.clone());
        tasks.push(tokio::spawn(async move {
            for number in 0..25 {
                let mut told = fact(&format!("{task}/{number}"), "d");
                told.session = format!("s{}", number % 3);
                let store = if number % 2 == 0 { &test.store } else { &other };
                let mut unit = store.begin(told);
                unit.stage(&Rows::default()).expect("stages");
                let _receipt = receipt(unit.commit().await.expect("commits"));
            }
        }));
    }
    for task in tasks {
        task.await.expect("no panic");
    }
    let sessions = test.store.sessions(9).await.expect("reads");
    assert_eq!(sessions.iter().map(|it| it.signals).sum::<u64>(), 200);
    for session in sessions {
        let page = test
            .store
            .signals(Some(&session.session), 0, 1_000)
            .await
            .expect("reads");
        let sequences: Vec<_> = page.iter().map(|it| it.sequence).collect();
        assert_eq!(sequences, (1..=session.signals).collect::<Vec<_>>());
    }
    other.close().await.expect("closes");
}

#[tokio::test]
async fn units_are_committed_in_the_order_in_which_they_are_submitted() {
    let test = TestStore::open().await;
    let mut submitted = Vec::new();
    for number in 0..500 {
        submitted.push(
            test.unit(fact(&number.to_string(), "d"))
                .submit()
                .await
                .expect("submits"),
        );
    }
    for (number, submitted) in (1_u64..).zip(submitted) {
        let receipt = receipt(submitted.receipt().await.expect("commits"));
        assert_eq!(receipt.signals()[0].sequence, number);
        assert_eq!(receipt.intents()[0].enqueued, Enqueued::New);
    }
}

#[tokio::test]
async fn a_unit_whose_rows_are_refused_does_not_take_others_along() {
    let test = TestStore::open().await;
    let first = fact("first", "d");
    // The public id of an operation is unique in the store.
    let mut same_id = fact("second", "d");
    same_id.operation = first.operation;
    let submitted = [
        test.unit(first).submit().await.expect("submits"),
        test.unit(same_id).submit().await.expect("submits"),
        test.unit(fact("third", "d"))
            .submit()
            .await
            .expect("submits"),
    ];
    let answers = join_all(submitted).await;
    assert!(
        matches!(answers[0], Ok(Committed::Recorded(_))),
        "{answers:?}"
    );
    assert!(
        matches!(answers[1], Err(StateError::Database { .. })),
        "{answers:?}"
    );
    assert!(
        matches!(answers[2], Ok(Committed::Recorded(_))),
        "{answers:?}"
    );
    for table in [
        "operation",
        "audit",
        "signal_log",
        "outbox",
        "outbox_transition",
    ] {
        assert_eq!(test.count(table).await, 2, "{table}");
    }
}

#[tokio::test]
async fn a_participant_that_refuses_makes_the_commit_fail() {
    let test = TestStore::open().await;
    let mut unit = test.unit(fact("k", "d"));
    let refused = unit.stage(&Refuses).expect_err("refuses");
    assert_eq!(
        refused.to_string(),
        "refuses cannot stage its rows: not today"
    );
    let commit = unit.commit().await;
    assert!(matches!(commit, Err(StateError::Stage(_))), "{commit:?}");
    assert_eq!(test.count("operation").await, 0);
}

#[tokio::test]
async fn rows_that_cannot_be_committed_are_refused_when_they_are_staged() {
    let test = TestStore::open_with(|options| options.payload_bytes_max(10)).await;
    let mut unit = test.store.begin(fact("k", "d"));
    let refused = unit.stage(&Rows::default());
    assert!(
        matches!(
            refused,
            Err(StateError::PayloadTooLarge { bytes_max: 10, .. })
        ),
        "{refused:?}"
    );

    let mut staged = Staged::new();
    staged.intent(IntentRow {
        id: Uuid::now_v7(),
        signal: Uuid::now_v7(),
        sink: "sink".to_owned(),
        dedup_key: None,
        expires_at_us: None,
    });
    let refused = check(&staged, 1);
    assert!(
        matches!(refused, Err(StateError::SignalNotStaged { .. })),
        "{refused:?}"
    );
}

/// Stages this many signals, with an intent for each.
struct Many(usize);

impl CommitParticipant for Many {
    fn name(&self) -> &'static str {
        "many"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        for _ in 0..self.0 {
            Rows::default().stage(fact, staged)?;
        }
        Ok(CommitRefs::default())
    }
}

#[tokio::test]
async fn large_units_share_a_transaction_as_far_as_statements_go() {
    let test = TestStore::open().await;
    let mut submitted = Vec::new();
    for (number, rows) in (0..).zip([900, 900, 900, 1, 2_000, 1, 1]) {
        let mut unit = test.store.begin(fact(&number.to_string(), "d"));
        unit.stage(&Many(rows)).expect("stages");
        submitted.push((rows, unit.submit().await.expect("submits")));
    }
    let mut next = 1;
    for (rows, submitted) in submitted {
        let receipt = receipt(submitted.await.expect("commits"));
        let sequences: Vec<_> = receipt.signals().iter().map(|it| it.sequence).collect();
        assert_eq!(sequences, (next..).take(rows).collect::<Vec<_>>());
        next += rows as u64;
    }
    let mut unit = test.store.begin(fact("k", "d"));
    let refused = unit.stage(&Many(2_001));
    assert!(
        matches!(refused, Err(StateError::TooManyRows { rows: 2_001, .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn an_intent_with_a_known_dedup_key_is_not_written_again() {
    let test = TestStore::open().await;
    let rows = Rows {
        dedup_key: Some("once".to_owned()),
        ..Rows::default()
    };
    let mut ids = Vec::new();
    for number in 0..2 {
        let mut unit = test.store.begin(fact(&number.to_string(), "d"));
        unit.stage(&rows).expect("stages");
        ids.push(receipt(unit.commit().await.expect("commits")).intents()[0].clone());
    }
    assert_eq!(ids[0].id, ids[1].id);
    assert_eq!(
        [ids[0].enqueued, ids[1].enqueued],
        [Enqueued::New, Enqueued::Before]
    );
    assert_eq!(test.count("outbox").await, 1);
    assert_eq!(test.count("signal_log").await, 2);
}

#[tokio::test]
async fn the_owners_rows_share_the_transaction() {
    let test = TestStore::open().await;
    let mut raw = test.raw().await;
    sqlx::query("CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT) STRICT")
        .execute(&mut raw)
        .await
        .expect("creates");

    let mut unit = test.unit(fact("kept", "d"));
    let insert = "INSERT INTO job (state) VALUES ('done'), ('done')";
    assert_eq!(unit.execute(sqlx::query(insert)).await.expect("inserts"), 2);
    assert_eq!(
        unit.fetch_all(sqlx::query("SELECT * FROM job"))
            .await
            .expect("reads")
            .len(),
        2
    );
    assert_eq!(test.count("job").await, 0, "nobody else sees it yet");
    let _receipt = receipt(unit.commit().await.expect("commits"));

    let mut dropped = test.unit(fact("dropped", "d"));
    dropped.execute(sqlx::query(insert)).await.expect("inserts");
    drop(dropped);

    // The next unit gets the writer, so the dropped one has given it back.
    let _receipt = receipt(test.commit(fact("after", "d")).await);
    assert_eq!(test.count("job").await, 2);
    assert_eq!(test.count("operation").await, 2);
}

#[tokio::test]
async fn a_statement_that_fails_ends_the_unit() {
    let test = TestStore::open().await;
    let mut unit = test.unit(fact("k", "d"));
    unit.execute(sqlx::query("DELETE FROM session"))
        .await
        .expect("runs");
    let failed = unit
        .execute(sqlx::query("INSERT INTO nowhere VALUES (1)"))
        .await;
    assert!(
        matches!(failed, Err(StateError::Database { .. })),
        "{failed:?}"
    );
    let again = unit.execute(sqlx::query("DELETE FROM session")).await;
    assert!(
        matches!(again, Err(StateError::Database { .. })),
        "{again:?}"
    );
    let commit = unit.commit().await;
    assert!(
        matches!(commit, Err(StateError::Database { .. })),
        "{commit:?}"
    );
    assert_eq!(test.count("operation").await, 0);
}

#[tokio::test]
async fn a_unit_that_is_held_for_too_long_gives_the_writer_back() {
    let held_max = Duration::from_millis(20);
    let test = TestStore::open_with(|options| options.unit_held_max(held_max)).await;
    let mut forgotten = test.unit(fact("forgotten", "d"));
    forgotten
        .execute(sqlx::query("DELETE FROM session"))
        .await
        .expect("runs");
    // Gets the writer only when the other one has expired.
    let _receipt = receipt(test.commit(fact("k", "d")).await);
    let expired = forgotten.commit().await;
    assert!(
        matches!(expired, Err(StateError::UnitExpired { .. })),
        "{expired:?}"
    );
    assert_eq!(test.count("operation").await, 1);
}

#[tokio::test]
async fn staged_rows_go_into_a_transaction_that_its_owner_brings() {
    let test = TestStore::open().await;
    let stage = |fact: &PendingFact| {
        let mut staged = Staged::new();
        Rows::default().stage(fact, &mut staged).expect("stages");
        staged
    };
    let mut raw = test.raw().await;
    let told = fact("k", "d");
    let without = stage(&told).apply_to(&told, &mut raw).await;
    assert!(
        matches!(without, Err(StateError::NoTransaction)),
        "{without:?}"
    );

    let mut transaction = raw.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let applied = stage(&told)
        .apply_to(&told, &mut transaction)
        .await
        .expect("applies");
    assert!(matches!(applied, Applied::Written { ref signals, .. } if signals[0].sequence == 1));
    drop(transaction);
    assert_eq!(test.count("operation").await, 0, "the owner rolled back");

    let mut transaction = raw.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let _applied = stage(&told)
        .apply_to(&told, &mut transaction)
        .await
        .expect("applies");
    let again = stage(&told)
        .apply_to(&told, &mut transaction)
        .await
        .expect("applies");
    assert!(matches!(again, Applied::AlreadyRecorded(_)), "{again:?}");
    transaction.commit().await.expect("commits");
    assert_eq!(test.count("operation").await, 1);
}

#[tokio::test]
async fn closing_commits_what_waits_and_refuses_what_comes_later() {
    let test = TestStore::open().await;
    let mut submitted = Vec::new();
    for number in 0..100 {
        submitted.push(
            test.unit(fact(&number.to_string(), "d"))
                .submit()
                .await
                .expect("submits"),
        );
    }
    let late = test.unit(fact("late", "d"));
    test.store.close().await.expect("closes");
    for submitted in submitted {
        let _receipt = receipt(submitted.await.expect("was committed"));
    }
    assert_closed(&late.commit().await);
    assert_closed(&test.store.stats().await);
    test.store.close().await.expect("closing twice is harmless");
    assert!(
        !test.path.with_extension("db-wal").exists(),
        "the log was emptied and removed"
    );
}

#[tokio::test]
async fn dropping_a_commit_leaves_no_open_transaction() {
    let test = TestStore::open().await;
    for number in 0..50 {
        let commit = test.unit(fact(&number.to_string(), "d")).commit();
        let timed = tokio::time::timeout(Duration::from_micros(number * 20), commit).await;
        drop(timed);
    }
    let _receipt = receipt(test.commit(fact("last", "d")).await);
    // A unit that was dropped on its way is committed whole or not at all.
    let operations = test.count("operation").await;
    for table in ["audit", "signal_log", "outbox", "outbox_transition"] {
        assert_eq!(test.count(table).await, operations, "{table}");
    }
}

#[tokio::test]
async fn what_is_read_before_a_commit_is_looked_up() {
    let test = TestStore::open().await;
    let work = |key| {
        let fact = fact(key, "d");
        let mut staged = Staged::new();
        let rows = Rows {
            dedup_key: Some("once".to_owned()),
            ..Rows::default()
        };
        rows.stage(&fact, &mut staged).expect("stages");
        Work { fact, staged }
    };
    let queries = query(&[work("a").lend(), work("b").lend()]).into_string();
    let queries: Vec<_> = queries.split_terminator(';').collect();
    assert_eq!(queries.len(), 4);
    for sql in queries {
        assert_looks_up(&test, sql).await;
    }
}
