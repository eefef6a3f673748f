use std::collections::HashSet;

use crate::engine::commit::{Committed, Enqueued, UnitOfWork};
use crate::engine::handle::Store;
use crate::engine::testing::{Rows, TestStore, fact, receipt};

fn unit(store: &Store, key: &str) -> UnitOfWork {
    let mut unit = store.begin(fact(key, "d"));
    unit.stage(&Rows {
        dedup_key: Some("once".to_owned()),
        ..Rows::default()
    })
    .expect("stages");
    unit
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_enqueue_one_key_at_the_same_time_none_fails_and_all_get_its_intent() {
    for round in 0..20 {
        let test = TestStore::open().await;
        let other = test.open_again().await;
        let tasks: Vec<_> = (0..16)
            .map(|number| {
                let store = if number % 2 == 0 { &test.store } else { &other };
                let unit = unit(store, &format!("{round}/{number}"));
                tokio::spawn(async move { receipt(unit.commit().await.expect("commits")) })
            })
            .collect();
        let (mut ids, mut new) = (HashSet::new(), 0);
        for task in tasks {
            let receipt = task.await.expect("no panic");
            ids.insert(receipt.intents()[0].id);
            new += usize::from(receipt.intents()[0].enqueued == Enqueued::New);
        }
        assert_eq!((ids.len(), new), (1, 1));
        assert_eq!(test.count("outbox").await, 1);
        assert_eq!(
            test.count("operation").await,
            16,
            "the facts are all on record"
        );
        other.close().await.expect("closes");
    }
}

#[tokio::test]
async fn a_winner_that_is_undone_leaves_the_key_to_the_next() {
    let test = TestStore::open().await;
    // It holds the writer, with its rows to be committed, and is dropped.
    let mut winner = unit(&test.store, "winner");
    winner
        .execute(sqlx::query("CREATE TABLE own (x)"))
        .await
        .expect("runs");
    let next = unit(&test.store, "next");
    let next = next.submit().await.expect("waits behind it");
    drop(winner);
    let Committed::Recorded(receipt) = next.await.expect("commits") else {
        panic!("it is new");
    };
    assert_eq!(receipt.intents()[0].enqueued, Enqueued::New);
    assert_eq!(test.count("outbox").await, 1);
    assert_eq!(test.count("operation").await, 1);
}
