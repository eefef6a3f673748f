use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use crate::engine::commit::Committed;
use crate::engine::handle::Store;
use crate::engine::schema::{APPLICATION_ID, SCHEMA_VERSION};
use crate::engine::store::connect::Settings;
use crate::engine::store::{Lifetime, StoreOptions, Synchronous};
use crate::engine::testing::{Rows, TestStore, fact, receipt, runtime};
use crate::error::StateError;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("is there").permissions().mode() & 0o777
}

async fn refused(path: &Path) -> StateError {
    let options = StoreOptions::new(path).busy_timeout(Duration::from_millis(50));
    Store::open(options).await.expect_err("is refused")
}

async fn sqlite(path: &Path, sql: &str) {
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let mut connection = SqliteConnection::connect(&url).await.expect("connects");
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .expect("runs");
    connection.close().await.expect("closes");
}

#[tokio::test]
async fn folder_and_files_are_private_and_ignored_by_git() {
    let outer = tempfile::tempdir().expect("a folder");
    let folder = outer.path().join("a/.triplane");
    let path = folder.join("state.db");
    let store = Store::open(StoreOptions::new(&path)).await.expect("opens");
    let mut unit = store.begin(fact("k", "d"));
    unit.stage(&Rows::default()).expect("stages");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(
        fs::read_to_string(folder.join(".gitignore")).expect("is there"),
        "*\n"
    );
    store.close().await.expect("closes");
    let mut left: Vec<_> = fs::read_dir(&folder)
        .expect("is there")
        .map(|entry| entry.expect("readable").file_name())
        .collect();
    left.sort();
    assert_eq!(left, [".gitignore", "state.db"]);
}

#[tokio::test]
async fn a_folder_that_is_there_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("sets");
    let path = folder.path().join("state.db");
    Store::open(StoreOptions::new(&path))
        .await
        .expect("opens")
        .close()
        .await
        .expect("closes");
    assert_eq!(mode(folder.path()), 0o755);
    assert!(!folder.path().join(".gitignore").exists());
}

#[tokio::test]
async fn a_store_that_others_could_read_is_made_private() {
    let test = TestStore::open().await;
    test.store.close().await.expect("closes");
    fs::set_permissions(&test.path, fs::Permissions::from_mode(0o644)).expect("sets");
    test.open_again().await.close().await.expect("closes");
    assert_eq!(mode(&test.path), 0o600);
}

#[tokio::test]
async fn what_is_no_store_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);

    let error = refused(folder.path()).await;
    assert!(matches!(error, StateError::NotAFile { .. }), "{error:?}");

    for text in ["hello", &"a text, and not a short one. ".repeat(1_000)] {
        fs::write(at("text"), text).expect("writes");
        let error = refused(&at("text")).await;
        assert!(
            matches!(error, StateError::NotADatabase { .. }),
            "{error:?}"
        );
        assert_eq!(fs::read_to_string(at("text")).expect("is there"), text);
    }

    sqlite(
        &at("foreign"),
        "CREATE TABLE t (x); PRAGMA application_id = 77; PRAGMA user_version = 1",
    )
    .await;
    let before = fs::read(at("foreign")).expect("is there");
    let error = refused(&at("foreign")).await;
    assert!(
        matches!(error, StateError::ForeignDatabase { found: 77, .. }),
        "{error:?}"
    );
    assert_eq!(fs::read(at("foreign")).expect("is there"), before);

    std::os::unix::fs::symlink(at("nowhere"), at("link")).expect("links");
    let error = refused(&at("link")).await;
    assert!(matches!(error, StateError::File { .. }), "{error:?}");

    let error = refused(&at("text").join("state.db")).await;
    assert!(matches!(error, StateError::File { .. }), "{error:?}");
}

#[tokio::test]
async fn a_store_that_was_moved_away_takes_no_commit_until_it_is_back() {
    let test = TestStore::open().await;
    let away = test.path.with_extension("away");
    fs::rename(&test.path, &away).expect("moves");
    let refused = test.unit(fact("k", "d")).commit().await;
    assert!(
        matches!(refused, Err(StateError::Moved { .. })),
        "{refused:?}"
    );
    fs::rename(&away, &test.path).expect("moves back");
    let _committed = test.commit(fact("k", "d")).await;
    assert_eq!(test.count("operation").await, 1);
    test.store.close().await.expect("closes");
}

#[tokio::test]
async fn a_store_of_a_newer_program_is_refused() {
    let test = TestStore::open().await;
    test.store.close().await.expect("closes");
    sqlite(
        &test.path,
        &format!("PRAGMA user_version = {}", SCHEMA_VERSION + 1),
    )
    .await;
    let error = refused(&test.path).await;
    assert!(
        matches!(error, StateError::NewerSchema { found, known: SCHEMA_VERSION, .. } if found == SCHEMA_VERSION + 1),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_store_that_left_the_write_ahead_log_is_refused() {
    let test = TestStore::open().await;
    test.store.close().await.expect("closes");
    sqlite(&test.path, "PRAGMA journal_mode = DELETE").await;
    let error = refused(&test.path).await;
    assert!(
        matches!(
            error,
            StateError::SettingRefused {
                setting: "journal_mode",
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    fs::write(&path, "").expect("writes");
    Store::open(StoreOptions::new(&path))
        .await
        .expect("opens")
        .close()
        .await
        .expect("closes");
    assert_eq!(mode(&path), 0o600);
}

#[tokio::test]
async fn what_a_killed_maker_left_is_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    for leftover in ["state.db.new", "state.db.new-wal", "state.db.new-shm"] {
        fs::write(folder.path().join(leftover), "half made").expect("writes");
    }
    Store::open(StoreOptions::new(&path))
        .await
        .expect("opens")
        .close()
        .await
        .expect("closes");
    let files = fs::read_dir(folder.path()).expect("is there").count();
    assert_eq!(files, 1);
}

#[tokio::test]
async fn every_connection_runs_with_the_declared_settings() {
    for synchronous in [Synchronous::Full, Synchronous::Normal] {
        let test = TestStore::open_with(|options| options.synchronous(synchronous)).await;
        let connections = &test.store.connections;
        let mut reader = connections.readers.lend().await.expect("lends");
        let read = Settings::read(&mut reader).await.expect("reads");
        read.check(&test.path, synchronous).expect("as declared");
        let written = sqlx::query("DELETE FROM session")
            .execute(&mut *reader)
            .await;
        assert!(written.is_err(), "a reader must not write");
        let path = test.path.clone();
        connections
            .writer
            .transaction(|connection| {
                Box::pin(async move {
                    let read = Settings::read(connection).await?;
                    read.check(&path, synchronous).expect("as declared");
                    Ok(())
                })
            })
            .await
            .expect("runs");
    }
}

#[tokio::test]
async fn a_store_locked_by_others_is_busy_after_the_declared_time() {
    let test =
        TestStore::open_with(|options| options.busy_timeout(Duration::from_millis(400))).await;
    let mut raw = test.raw().await;
    let held = raw.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let busy = test.unit(fact("k", "d")).commit().await;
    assert!(
        matches!(busy, Err(StateError::Busy { waited, .. }) if waited >= Duration::from_millis(400)),
        "{busy:?}"
    );
    let waiting: Vec<_> = {
        let mut all = Vec::new();
        for number in 0..256 {
            let unit = test.unit(fact(&number.to_string(), "d"));
            all.push(unit.submit().await.expect("submits"));
        }
        all
    };
    let since = std::time::Instant::now();
    test.store.close().await.expect("closes all the same");
    assert!(
        since.elapsed() < Duration::from_millis(1_500),
        "not once for each group"
    );
    for waiting in waiting {
        let answer = waiting.await;
        assert!(matches!(answer, Err(StateError::Busy { .. })), "{answer:?}");
    }
    drop(held);
}

/// Opens, commits one unit and closes, from `threads` threads at the same moment, each with a
/// runtime of its own.
fn storm(path: &Path, threads: usize) {
    let barrier = std::sync::Barrier::new(threads);
    std::thread::scope(|scope| {
        for number in 0..threads {
            let barrier = &barrier;
            scope.spawn(move || {
                let runtime = runtime();
                barrier.wait();
                runtime.block_on(async {
                    let store = Store::open(StoreOptions::new(path)).await.expect("opens");
                    let mut unit = store.begin(fact(&format!("{number}"), "d"));
                    unit.stage(&Rows::default()).expect("stages");
                    let committed = unit.commit().await.expect("commits");
                    assert!(matches!(committed, Committed::Recorded(_)));
                    store.close().await.expect("closes");
                });
            });
        }
    });
}

#[test]
fn any_number_of_openers_make_one_store_together() {
    for _round in 0..3 {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/state.db");
        storm(&path, 64);
        let runtime = runtime();
        runtime.block_on(async {
            let store = Store::open(StoreOptions::new(&path)).await.expect("opens");
            let stats = store.stats().await.expect("counts");
            assert_eq!(
                (stats.operations, stats.signals, stats.intents.pending),
                (64, 64, 64)
            );
            let page = store.signals(Some("s1"), 0, 100).await.expect("reads");
            let sequences: Vec<_> = page.iter().map(|it| it.sequence).collect();
            assert_eq!(sequences, (1..=64).collect::<Vec<_>>());
            store.close().await.expect("closes");
        });
    }
}

#[tokio::test]
async fn the_log_stays_small_and_is_gone_when_the_store_is_closed() {
    let test = TestStore::open_with(|options| options.synchronous(Synchronous::Normal)).await;
    let mut submitted = Vec::new();
    for number in 0..9_000 {
        submitted.push(
            test.unit(fact(&format!("{number}"), "d"))
                .submit()
                .await
                .expect("submits"),
        );
    }
    for submitted in submitted {
        let _receipt = receipt(submitted.await.expect("commits"));
    }
    let log = test.path.with_extension("db-wal");
    let bytes = fs::metadata(&log).expect("is there").len();
    assert!(bytes <= 20 << 20, "{bytes} bytes");
    test.store.close().await.expect("closes");
    assert!(!log.exists());
}

#[tokio::test]
async fn a_short_visit_leaves_a_short_log_and_loses_nothing() {
    let test = TestStore::open().await;
    test.store.close().await.expect("closes");
    let log = test.path.with_extension("db-wal");
    let mut kept = 0;
    for number in 0..200 {
        let short = StoreOptions::new(&test.path).lifetime(Lifetime::Short);
        let store = Store::open(short).await.expect("opens");
        let mut unit = store.begin(fact(&format!("{number}"), "d"));
        unit.stage(&Rows::default()).expect("stages");
        let _receipt = receipt(unit.commit().await.expect("commits"));
        store.close().await.expect("closes");
        if let Ok(log) = fs::metadata(&log) {
            kept += 1;
            assert!(log.len() < 1 << 20, "{} bytes", log.len());
        }
    }
    assert!((150..200).contains(&kept), "kept {kept} times of 200");
    assert_eq!(test.count("operation").await, 200);

    test.open_again().await.close().await.expect("closes");
    assert!(!log.exists(), "a long visit empties it");
    assert_eq!(test.count("operation").await, 200);
}

#[test]
fn the_mark_reads_as_text() {
    assert_eq!(&APPLICATION_ID.to_be_bytes(), b"tpln");
}

#[tokio::test]
async fn a_transaction_that_sqlite_undid_by_itself_is_not_the_last_one() {
    let test = TestStore::open_with(|options| options.lifetime(Lifetime::Short)).await;
    let _receipt = receipt(test.commit(fact("before", "d")).await);
    let writer = &test.store.connections.writer;
    writer
        .transaction(|connection| {
            Box::pin(async move {
                let pages: i64 = sqlx::query_scalar("PRAGMA page_count")
                    .fetch_one(&mut *connection)
                    .await?;
                let limit = format!("PRAGMA max_page_count = {pages}");
                sqlx::query(AssertSqlSafe(limit))
                    .execute(connection)
                    .await?;
                Ok(())
            })
        })
        .await
        .expect("limits the file");
    let long = fact("long", &"d".repeat(1 << 20));
    let refused = test.unit(long).commit().await;
    assert!(
        matches!(refused, Err(StateError::DiskFull { .. })),
        "{refused:?}"
    );
    let _receipt = receipt(test.commit(fact("after", "d")).await);
}
