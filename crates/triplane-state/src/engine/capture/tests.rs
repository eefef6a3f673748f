use std::time::Duration;

use sqlx::Connection as _;

use crate::engine::capture::{GapCause, note_uncaptured};
use crate::engine::handle::Store;
use crate::engine::store::{Lifetime, StoreOptions};
use crate::engine::testing::{MINUTE, Rows, START_US, TestStore, fact, receipt};
use crate::error::StateError;

async fn impatient() -> TestStore {
    TestStore::open_with(|options| options.busy_timeout(Duration::from_millis(30))).await
}

#[tokio::test]
async fn a_commit_that_was_refused_is_recorded_when_the_store_works_again() {
    let test = impatient().await;
    let mut raw = test.raw().await;
    let held = raw.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    for key in ["1", "2"] {
        let refused = test.unit(fact(key, "d")).commit().await;
        assert!(
            matches!(refused, Err(StateError::Busy { .. })),
            "{refused:?}"
        );
        test.clock.advance(MINUTE);
    }
    held.rollback().await.expect("lets go");
    let _receipt = receipt(test.commit(fact("3", "d")).await);
    test.store.close().await.expect("closes");
    let store = test.open_again().await;
    let report = store.capture().await.expect("reads");
    assert_eq!(report.known_missing, 2);
    let gap = &report.gaps[0];
    assert_eq!((gap.cause, gap.facts), (GapCause::StoreLocked, 2));
    assert_eq!(
        (gap.first_at_us, gap.last_at_us),
        (START_US, START_US + 60_000_000)
    );
    assert_eq!(gap.recorded_at_us, START_US + 120_000_000);
    assert!(
        gap.detail
            .as_ref()
            .is_some_and(|detail| detail.contains("was locked"))
    );
}

#[tokio::test]
async fn a_gap_outlives_the_process_that_could_not_record_it() {
    let test = impatient().await;
    let mut raw = test.raw().await;
    let held = raw.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let refused = test.unit(fact("1", "d")).commit().await;
    assert!(
        matches!(refused, Err(StateError::Busy { .. })),
        "{refused:?}"
    );
    test.store.close().await.expect("closes");
    drop(held);
    drop(raw);
    let waits = test.path.with_file_name("state.db.gaps");
    assert!(waits.exists());

    let store = test.open_again().await;
    let mut unit = store.begin(fact("2", "d"));
    unit.stage(&Rows::default()).expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    store.close().await.expect("closes");
    assert!(!waits.exists(), "recorded once, and then gone");
    assert_eq!(test.count("capture_gap").await, 1);
}

#[tokio::test]
async fn a_store_that_could_not_be_opened_is_a_gap_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    std::fs::write(&path, "no store").expect("writes");
    let error = Store::open(StoreOptions::new(&path))
        .await
        .expect_err("is refused");
    assert!(note_uncaptured(&path, 1, &error));
    assert!(note_uncaptured(&path, 2, &error));
    std::fs::remove_file(&path).expect("removes");

    let store = Store::open(StoreOptions::new(&path)).await.expect("opens");
    let report = store.capture().await.expect("reads");
    assert_eq!(report.known_missing, 3);
    assert!(
        report
            .gaps
            .iter()
            .all(|gap| gap.cause == GapCause::StoreAbsent)
    );
    let again = store.capture().await.expect("reads");
    assert_eq!(again.gaps, report.gaps, "recorded once");
    store.close().await.expect("closes");
    let nowhere = folder.path().join("no/state.db");
    assert!(!note_uncaptured(&nowhere, 1, &error), "no place for a note");
}

#[tokio::test]
async fn what_cannot_be_staged_is_a_gap_too() {
    let test = TestStore::open_with(|options| options.payload_bytes_max(40)).await;
    let mut unit = test.store.begin(fact("long", &"d".repeat(100)));
    let refused = unit.stage(&Rows::default());
    assert!(
        matches!(refused, Err(StateError::PayloadTooLarge { .. })),
        "{refused:?}"
    );
    assert!(unit.commit().await.is_err());
    let _receipt = receipt(test.commit(fact("k", "d")).await);
    test.store.close().await.expect("closes");
    let cause = "capture_gap WHERE cause = 'append_refused' AND facts = 1";
    assert_eq!(test.count(cause).await, 1);
}

#[tokio::test]
async fn markers_tell_when_somebody_was_there() {
    let test = TestStore::open().await;
    test.clock.advance(MINUTE);
    let _receipt = receipt(test.commit(fact("1", "d")).await);
    test.clock.advance(MINUTE);
    test.store.close().await.expect("closes");
    test.clock.advance(MINUTE);

    // A visit leaves no marker.
    let short = StoreOptions::new(&test.path)
        .lifetime(Lifetime::Short)
        .clock(test.clock.clone());
    let store = Store::open(short).await.expect("opens");
    let mut unit = store.begin(fact("2", "d"));
    unit.stage(&Rows::default()).expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    store.close().await.expect("closes");

    let store = test.open_again().await;
    let report = store.capture().await.expect("reads");
    assert_eq!((report.known_missing, report.bindings.len()), (0, 1));
    let unknown: Vec<_> = report
        .unknown
        .iter()
        .map(|it| (it.from_us, it.until_us))
        .collect();
    let minute = 60_000_000;
    assert_eq!(unknown, [(START_US + 2 * minute, START_US + 3 * minute)]);
}
