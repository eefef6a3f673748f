use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::join_all;
use uuid::Uuid;

use crate::commit::{CommitParticipant, CommitRefs, IntentRow, PendingFact, StageError, Staged};
use crate::engine::commit::lookup::query;
use crate::engine::commit::work::{Work, check};
use crate::engine::commit::{Committed, Enqueued};
use crate::engine::testing::{
    Refuses, Rows, TestStore, assert_closed, assert_looks_up, fact, receipt,
};
use crate::error::StateError;

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

#[tokio::test(flavor = "multi_thread")]
async fn whoever_wants_the_writer_gets_it_while_units_follow_each_other() {
    let test = Arc::new(TestStore::open().await);
    let enough = Arc::new(AtomicBool::new(false));
    let callers = (0..4).map(|caller| {
        let (test, enough) = (Arc::clone(&test), Arc::clone(&enough));
        tokio::spawn(async move {
            let mut told = 0_usize;
            while !enough.load(Ordering::Relaxed) {
                let unit = test.unit(fact(&format!("{caller}-{told}"), "d"));
                let _receipt = receipt(unit.commit().await.expect("commits"));
                told += 1;
            }
            told
        })
    });
    let callers: Vec<_> = callers.collect();
    for number in 0..20 {
        let mut unit = test.unit(fact(&format!("own-{number}"), "d"));
        let own = sqlx::query("UPDATE operation SET subject = 'own' WHERE id = 1");
        unit.execute(own).await.expect("has the writer");
        let _receipt = receipt(unit.commit().await.expect("commits"));
    }
    enough.store(true, Ordering::Relaxed);
    let mut told = 20;
    for caller in callers {
        told += caller.await.expect("ends");
    }
    assert_eq!(
        test.count("operation").await,
        i64::try_from(told).expect("few")
    );
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
    staged.intent(IntentRow::new(Uuid::now_v7(), Uuid::now_v7(), "sink"));
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
        Work::new(fact, staged)
    };
    let queries = query(&[work("a").lend(), work("b").lend()]).into_string();
    let queries: Vec<_> = queries.split_terminator(';').collect();
    assert_eq!(queries.len(), 6);
    for sql in queries {
        assert_looks_up(&test, sql).await;
    }
}
