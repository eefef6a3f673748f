//! Stores that older programs have made.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use tempfile::TempDir;
use uuid::Uuid;

use crate::engine::handle::Store;
use crate::engine::schema::migrate::{APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION, migrate};
use crate::engine::store::StoreOptions;
use crate::engine::testing::{Recorder, Rows, fact, receipt, runtime};
use crate::error::StateError;

/// The rows of a store in use, in columns that every version has: intents in each state that an old
/// program could leave, one of them in the middle of a delivery by a process that is gone.
const IN_USE: &str = "
    INSERT INTO session VALUES (1, 's1', 5);
    INSERT INTO operation (id, public_id, session_id, identity, shape, digest, event, subject,
                           outcome, occurred_at_us, committed_at_us) VALUES
        (1, '01900000-0000-7000-8000-000000000001', 1, 'k1', 'hooks', 'd', 'e', NULL, 'denied', 1, 5),
        (2, '01900000-0000-7000-8000-000000000002', 1, 'k2', 'hooks', 'd', 'e', NULL, 'denied', 2, 5),
        (3, '01900000-0000-7000-8000-000000000003', 1, 'k3', 'hooks', 'd', 'e', NULL, 'denied', 3, 5);
    INSERT INTO signal_log VALUES
        (1, '01900000-0000-7000-8000-000000000011', 1, 1, 1, 'operation.denied', 'owner', NULL, 1, 't', 1, '1'),
        (2, '01900000-0000-7000-8000-000000000012', 1, 2, 2, 'operation.denied', 'owner', NULL, 2, 't', 1, '2'),
        (3, '01900000-0000-7000-8000-000000000013', 1, 3, 3, 'operation.denied', 'owner', NULL, 3, 't', 1, '3');
    INSERT INTO outbox (id, public_id, signal_id, sink, status, attempt, interrupted,
                        next_attempt_at_us, lease_holder, created_at_us, updated_at_us) VALUES
        (1, '01900000-0000-7000-8000-000000000021', 1, 'sink', 'pending', 0, 0, 5, NULL, 5, 5),
        (2, '01900000-0000-7000-8000-000000000022', 2, 'sink', 'delivering', 1, 0, 6, 'gone', 5, 5),
        (3, '01900000-0000-7000-8000-000000000023', 3, 'sink', 'delivered', 1, 0, 5, NULL, 5, 5);
    INSERT INTO outbox_transition VALUES
        (1, 1, NULL, 'pending', 0, 'dispatch.pending.enqueued', NULL, 5),
        (2, 1, NULL, 'pending', 0, 'dispatch.pending.enqueued', NULL, 5),
        (2, 2, 'pending', 'delivering', 1, 'dispatch.delivering.attempt', NULL, 5),
        (3, 1, NULL, 'pending', 0, 'dispatch.pending.enqueued', NULL, 5),
        (3, 2, 'pending', 'delivering', 1, 'dispatch.delivering.attempt', NULL, 5),
        (3, 3, 'delivering', 'delivered', 1, 'dispatch.delivered.transport_ok', NULL, 5);
";

/// What a program of version 6 and later says besides: where the rows of each operation stand.
const RUNS: &str = "
    UPDATE operation SET first_signal = id, signals = 1, first_intent = id, intents = 1;
";

/// A store as the program of schema `version` made and left it.
async fn left_by(version: i64) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.db");
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let mut connection = SqliteConnection::connect(&url).await.expect("connects");
    let steps = MIGRATIONS.iter().filter(|step| step.version <= version);
    let mut script = String::from("PRAGMA journal_mode = WAL;");
    script.extend(steps.map(|step| step.sql));
    let (id, epoch) = (Uuid::now_v7(), Uuid::now_v7());
    let mark = format!(
        "INSERT INTO meta VALUES (1, '{id}', '{epoch}', 5); \
         PRAGMA application_id = {APPLICATION_ID};"
    );
    script.push_str(&mark);
    script.push_str(IN_USE);
    if version >= 6 {
        script.push_str(RUNS);
    }
    run(&mut connection, &script).await;
    connection.close().await.expect("closes");
    (folder, path)
}

async fn run(connection: &mut SqliteConnection, script: &str) {
    sqlx::raw_sql(AssertSqlSafe(script))
        .execute(connection)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
}

async fn version_of(path: &Path) -> i64 {
    let url = format!("sqlite://{}", path.display());
    let mut connection = SqliteConnection::connect(&url).await.expect("connects");
    let version = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut connection)
        .await
        .expect("reads");
    connection.close().await.expect("closes");
    version
}

#[tokio::test]
async fn a_store_of_every_version_is_upgraded_and_goes_on() {
    for version in 1..=SCHEMA_VERSION {
        let (_folder, path) = left_by(version).await;
        let store = Store::open(StoreOptions::new(&path)).await.expect("opens");
        assert_eq!(version_of(&path).await, SCHEMA_VERSION);
        assert_eq!(
            store.check().await.expect("looks"),
            [],
            "from version {version}"
        );
        let mut unit = store.begin(fact("k4", "d"));
        unit.stage(&Rows::default()).expect("stages");
        let receipt = receipt(unit.commit().await.expect("commits"));
        assert_eq!(receipt.signals()[0].sequence, 4);
        let sink = Recorder::delivering();
        let worker = store.delivery().sink("sink", sink.clone());
        assert_eq!(worker.deliver_due().await.expect("delivers").delivered, 3);
        let mut seen = sink.seen();
        seen.sort();
        let wanted =
            [("k1", 1), ("k2", 2), ("k4", 1)].map(|(key, attempt)| (key.to_owned(), attempt));
        assert_eq!(seen, wanted, "from version {version}");
        assert_eq!(
            store.check().await.expect("looks"),
            [],
            "from version {version}"
        );
        store.close().await.expect("closes");
    }
}

/// How many tokens and how many rows of an owner there are.
async fn rows_of_others(connection: &mut SqliteConnection) -> Vec<i64> {
    sqlx::query_scalar("SELECT count(*) FROM outbox_ack UNION ALL SELECT count(*) FROM jobs_job")
        .fetch_all(connection)
        .await
        .expect("reads")
}

#[tokio::test]
async fn what_belongs_to_a_table_that_is_made_anew_stays() {
    let (_folder, path) = left_by(7).await;
    let url = format!("sqlite://{}", path.display());
    let mut connection = SqliteConnection::connect(&url).await.expect("connects");
    let token = "b".repeat(64);
    let of_others = format!(
        "INSERT INTO outbox_ack VALUES (2, 1, '{token}');
         CREATE TABLE jobs_job (intent INTEGER REFERENCES outbox (id) ON DELETE CASCADE,
                                fact INTEGER REFERENCES operation (id) ON DELETE CASCADE) STRICT;
         INSERT INTO jobs_job VALUES (1, 1), (2, 2), (3, 3);"
    );
    run(&mut connection, &of_others).await;
    let store = Store::open(StoreOptions::new(&path)).await.expect("opens");
    assert_eq!(store.check().await.expect("looks"), []);
    store.close().await.expect("closes");
    assert_eq!(rows_of_others(&mut connection).await, [1, 3]);
    // They belong to the new table, as they did to the old one.
    run(&mut connection, "DELETE FROM outbox WHERE id = 2").await;
    assert_eq!(rows_of_others(&mut connection).await, [0, 2]);
    connection.close().await.expect("closes");
}

#[tokio::test]
async fn a_step_that_fails_leaves_the_store_as_it_was() {
    for version in 1..SCHEMA_VERSION {
        let (_folder, path) = left_by(version).await;
        let url = format!("sqlite://{}", path.display());
        let mut connection = SqliteConnection::connect(&url).await.expect("connects");
        // The last step makes this table: all steps before it are undone with it.
        run(&mut connection, "CREATE TABLE tombstone (x)").await;
        let dump = "SELECT group_concat(sql, ';') FROM sqlite_schema";
        let before: String = sqlx::query_scalar(dump)
            .fetch_one(&mut connection)
            .await
            .expect("reads");
        let refused = Store::open(StoreOptions::new(&path)).await;
        assert!(
            matches!(refused, Err(StateError::Database { .. })),
            "{refused:?}"
        );
        let after: String = sqlx::query_scalar(dump)
            .fetch_one(&mut connection)
            .await
            .expect("reads");
        assert_eq!((version_of(&path).await, after), (version, before));
        run(&mut connection, "DROP TABLE tombstone").await;
        connection.close().await.expect("closes");
        let store = Store::open(StoreOptions::new(&path)).await.expect("opens");
        store.close().await.expect("closes");
    }
}

#[test]
fn any_number_of_openers_upgrade_a_store_together() {
    for version in 1..SCHEMA_VERSION {
        let (_folder, path) = runtime().block_on(left_by(version));
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    runtime().block_on(async {
                        // A step that ran twice would fail: its columns would be there.
                        let store = Store::open(StoreOptions::new(&path)).await.expect("opens");
                        store.close().await.expect("closes");
                    });
                });
            }
        });
        assert_eq!(runtime().block_on(version_of(&path)), SCHEMA_VERSION);
    }
}

#[tokio::test]
async fn a_version_that_has_become_newer_is_refused_under_the_lock() {
    let (_folder, path) = left_by(1).await;
    let url = format!("sqlite://{}", path.display());
    let mut connection = SqliteConnection::connect(&url).await.expect("connects");
    // As if a newer program had been faster between the look and the lock.
    run(
        &mut connection,
        &format!("PRAGMA user_version = {}", SCHEMA_VERSION + 1),
    )
    .await;
    let found = migrate(&mut connection, 7).await.expect("changes nothing");
    assert_eq!(found, SCHEMA_VERSION + 1);
    let refused = Store::open(StoreOptions::new(&path).busy_timeout(Duration::from_secs(1))).await;
    assert!(
        matches!(
            refused,
            Err(StateError::NewerSchema {
                known: SCHEMA_VERSION,
                ..
            })
        ),
        "{refused:?}"
    );
}
