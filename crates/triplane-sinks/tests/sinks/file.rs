//! The file sink behind a real store.

use std::fs;
use std::path::Path;

use serde_json::Value;
use triplane_sinks::file::FileSink;
use triplane_state::delivery::{DeliveryResult, DeliverySink as _, Idempotency, SinkDurability};

use crate::store::{Fixture, Witness};

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a file");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("one JSON value"))
        .collect()
}

#[tokio::test]
async fn every_committed_intent_is_one_line_in_the_order_of_the_commits() {
    let fixture = Fixture::new().await;
    let path = fixture.path("deliveries.jsonl");
    for n in 0..70 {
        fixture
            .commit(&format!("s1/{n}"), &format!("{{\"n\":{n}}}"))
            .await;
    }
    let witness = Witness::of(FileSink::new(&path));
    assert_eq!(fixture.deliver(witness.clone()).await.delivered, 70);
    let written = lines(&path);
    assert_eq!(written.len(), 70);
    for ((line, (intent, _)), n) in written.iter().zip(witness.seen()).zip(0..) {
        assert_eq!(line["key"], intent.key());
        assert_eq!(line["identity"], format!("s1/{n}"));
        assert_eq!(line["sequence"], n + 1);
        assert_eq!(line["kind"], intent.kind());
        assert_eq!(line["payload"]["n"], n);
    }
    assert_eq!(fixture.deliver(witness).await.delivered, 0);
    assert_eq!(lines(&path).len(), 70);
}

#[tokio::test]
async fn an_attempt_whose_answer_was_lost_is_recognised_and_not_written_again() {
    let fixture = Fixture::new().await;
    let path = fixture.path("deliveries.jsonl");
    fixture.commit("s1/a", "1").await;
    fixture.commit("s1/b", "2").await;
    let witness = Witness::losing(FileSink::open(&path).expect("a file"), 1);
    let tally = fixture.deliver(witness.clone()).await;
    assert_eq!((tally.delivered, tally.unknown), (2, 1));
    let recognised = DeliveryResult::Delivered(Some("in the file already".to_owned()));
    assert_eq!(witness.answers().last(), Some(&recognised));
    let identities: Vec<_> = lines(&path)
        .iter()
        .map(|line| line["identity"].clone())
        .collect();
    assert_eq!(identities, ["s1/a", "s1/b"]);
}

#[tokio::test]
async fn a_file_that_cannot_be_used_makes_deliveries_wait() {
    let fixture = Fixture::new().await;
    let path = fixture.path("later/deliveries.jsonl");
    fixture.commit("s1/a", "1").await;
    let witness = Witness::of(FileSink::new(&path));
    fixture.deliver(witness.clone()).await;
    let message = format!(
        "{}: its folder does not exist; create the folder or name another file",
        path.display()
    );
    let wanted = DeliveryResult::Retry {
        error: message,
        after: None,
    };
    assert_eq!(witness.answers(), vec![wanted; 3]);
}

#[tokio::test]
async fn the_file_sink_declares_what_it_keeps() {
    let declared = FileSink::new("deliveries.jsonl").declaration();
    assert_eq!(declared.idempotency, Idempotency::None);
    assert_eq!(declared.durability, SinkDurability::Fsynced);
    assert_eq!(declared.payload_bytes_max, None);
}
