use std::time::Duration;

use sqlx::Connection as _;

use crate::commit::{CommitParticipant as _, PendingFact, Staged};
use crate::engine::commit::Applied;
use crate::engine::testing::{Rows, TestStore, fact, receipt};
use crate::error::StateError;

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
