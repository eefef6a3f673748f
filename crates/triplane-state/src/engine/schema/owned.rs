//! Owners' tables, from their registration to the rows in them.

use sqlx::Connection as _;

use crate::engine::handle::Store;
use crate::engine::schema::OwnerMigrations;
use crate::engine::store::StoreOptions;
use crate::engine::testing::{TestStore, fact, receipt, runtime};
use crate::error::StateError;

const TABLE: &str = "\
    CREATE TABLE jobs_job (id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL) STRICT; \
    CREATE TABLE jobs_tag (name TEXT PRIMARY KEY, job INTEGER UNIQUE REFERENCES jobs_job (id)) STRICT; \
    DROP TABLE jobs_tag";
const INDEX: &str = "CREATE INDEX jobs_state ON jobs_job (state); \
    CREATE VIEW jobs_open AS SELECT * FROM jobs_job WHERE state = 'open'; \
    CREATE TRIGGER jobs_kept BEFORE DELETE ON jobs_job BEGIN SELECT RAISE(ABORT, 'kept'); END";
const MORE: &str = "ALTER TABLE jobs_job ADD COLUMN operation INTEGER REFERENCES operation (id); \
    INSERT INTO jobs_job (state) SELECT 'known' FROM operation; \
    ALTER TABLE jobs_job RENAME COLUMN state TO status";

fn jobs(steps: &[&'static str]) -> OwnerMigrations {
    let jobs = OwnerMigrations::new("jobs").expect("a namespace");
    steps.iter().fold(jobs, |jobs, step| jobs.step(*step))
}

async fn open(test: &TestStore, owners: &[OwnerMigrations]) -> Result<Store, StateError> {
    let options = StoreOptions::new(test.store.connections.options.path());
    let options = owners.iter().cloned().fold(options, StoreOptions::owner);
    Store::open(options).await
}

async fn steps(test: &TestStore) -> Vec<(String, i64)> {
    let mut raw = test.raw().await;
    let found = sqlx::query_as("SELECT namespace, step FROM owner_migration ORDER BY 1, 2")
        .fetch_all(&mut raw)
        .await
        .expect("reads");
    raw.close().await.expect("closes");
    found
}

fn refused(opened: Result<Store, StateError>) -> (u32, String) {
    match opened {
        Err(StateError::OwnerStepRefused {
            namespace,
            step,
            says,
        }) => {
            assert_eq!(namespace, "jobs");
            (step, says)
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn each_step_is_taken_once_and_the_owners_rows_share_the_transaction() {
    let test = TestStore::open().await;
    let _receipt = receipt(test.commit(fact("before", "d")).await);
    for known in [1, 2, 2, 3] {
        let known = jobs(&[TABLE, INDEX, MORE][..known]);
        let store = open(&test, &[known]).await.expect("opens");
        store.close().await.expect("closes");
    }
    let wanted = [1, 2, 3].map(|step| ("jobs".to_owned(), step));
    assert_eq!(steps(&test).await, wanted);
    assert_eq!(test.count("jobs_job").await, 1);

    let store = open(&test, &[jobs(&[TABLE, INDEX, MORE])])
        .await
        .expect("opens");
    let mut unit = store.begin(fact("own", "d"));
    let insert = sqlx::query("INSERT INTO jobs_job (status) VALUES ('open')");
    assert_eq!(unit.execute(insert).await.expect("inserts"), 1);
    drop(unit);
    let mut unit = store.begin(fact("own", "d"));
    let insert = sqlx::query("INSERT INTO jobs_job (status) VALUES ('open')");
    unit.execute(insert).await.expect("inserts");
    let _receipt = receipt(unit.commit().await.expect("commits"));
    assert_eq!(test.count("jobs_open").await, 1);
    assert_eq!(store.check().await.expect("looks"), []);
}

#[tokio::test]
async fn a_step_may_touch_nothing_outside_of_its_namespace() {
    for step in [
        "CREATE TABLE job (id)",
        "CREATE TABLE jobsjob (id)",
        "CREATE TEMP TABLE jobs_job (id)",
        "CREATE INDEX jobs_x ON outbox (status)",
        "CREATE TRIGGER jobs_x AFTER INSERT ON outbox BEGIN DELETE FROM outbox; END",
        "DROP INDEX outbox_due",
        "DROP TABLE jobs_job; DROP TABLE outbox_ack",
        "ALTER TABLE operation ADD COLUMN x",
        "ALTER TABLE jobs_job RENAME TO other_job",
        "DELETE FROM outbox",
        "UPDATE operation SET outcome = 'allowed'",
        "INSERT INTO owner_migration VALUES ('other', 1, hex(zeroblob(32)), 1)",
        "PRAGMA foreign_keys = OFF",
        "PRAGMA writable_schema = ON",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT x",
        "ATTACH ':memory:' AS x",
        "VACUUM",
    ] {
        let test = TestStore::open().await;
        let (number, says) = refused(open(&test, &[jobs(&[TABLE, step])]).await);
        assert_eq!(number, 2, "{step}");
        assert!(
            says.contains("`jobs_`") || says.contains("within a transaction"),
            "{step}: {says}"
        );
        // All or none: the step before it is undone, and the store goes on.
        assert_eq!(steps(&test).await, []);
        assert_eq!(test.store.check().await.expect("looks"), [], "{step}");
        let _receipt = receipt(test.commit(fact("after", "d")).await);
        let store = open(&test, &[jobs(&[TABLE])]).await.expect("opens");
        store.close().await.expect("closes");
    }
}

#[tokio::test]
async fn a_step_that_was_taken_is_never_another_one() {
    let test = TestStore::open().await;
    let store = open(&test, &[jobs(&[TABLE, INDEX])]).await.expect("opens");
    store.close().await.expect("closes");
    let (step, says) = refused(open(&test, &[jobs(&[INDEX, TABLE])]).await);
    assert!(
        step == 1 && says.contains("other statements"),
        "{step}: {says}"
    );
    let (step, says) = refused(open(&test, &[jobs(&[TABLE])]).await);
    assert!(
        step == 2 && says.contains("newer program"),
        "{step}: {says}"
    );
    // A program that brings no owner opens it all the same.
    let store = open(&test, &[]).await.expect("opens");
    store.close().await.expect("closes");
}

#[tokio::test]
async fn statements_that_fail_are_named_and_undone_with_those_of_other_owners() {
    let test = TestStore::open().await;
    let other = OwnerMigrations::new("other").expect("a namespace");
    let other = other.step("CREATE TABLE other_x (id INTEGER PRIMARY KEY)");
    let wrong = jobs(&[TABLE, "CREATE TABLE jobs_job (id)"]);
    let (step, says) = refused(open(&test, &[other.clone(), wrong]).await);
    assert!(
        step == 2 && says.contains("already exists"),
        "{step}: {says}"
    );
    assert_eq!(steps(&test).await, []);
    // One owner has no business with another's tables.
    let curious = jobs(&[TABLE, "DELETE FROM other_x"]);
    let (step, _says) = refused(open(&test, &[other, curious]).await);
    assert_eq!(step, 2);
}

#[test]
fn a_namespace_is_a_plain_word_that_is_not_the_stores() {
    for name in ["jobs", "j", "a1"] {
        assert_eq!(
            OwnerMigrations::new(name).expect("allowed").namespace(),
            name
        );
    }
    let long = "a".repeat(33);
    for name in [
        "", "Jobs", "1a", "a_b", "a-b", "é", "outbox", "sqlite", &long,
    ] {
        let refused = OwnerMigrations::new(name);
        assert!(
            matches!(&refused, Err(StateError::NamespaceRefused { namespace, .. }) if namespace == name),
            "{name}: {refused:?}"
        );
    }
}

#[test]
fn any_number_of_openers_take_the_steps_together() {
    let test = runtime().block_on(TestStore::open());
    let barrier = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                runtime().block_on(async {
                    let known = [jobs(&[TABLE, INDEX, MORE])];
                    let store = open(&test, &known).await.expect("opens");
                    store.close().await.expect("closes");
                });
            });
        }
    });
    assert_eq!(runtime().block_on(steps(&test)).len(), 3);
}
