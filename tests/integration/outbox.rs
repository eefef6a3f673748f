//! `triplane outbox`: what consumers and operators do to intents.

use serde_json::Value;
use serde_json::value::to_raw_value;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use triplane_state::commit::{
    CommitParticipant, CommitRefs, Confirmation, FactIdentity, IntentRow, PendingFact, Repeat,
    SignalRow, StageError, Staged,
};
use triplane_state::{Store, StoreOptions};
use uuid::Uuid;

use crate::failures::session;
use crate::program::{Place, text};
use crate::rows::Rows;

/// Stages the signal of a fact and an intent that its consumer is to acknowledge.
struct Asking;

impl CommitParticipant for Asking {
    fn name(&self) -> &'static str {
        "asking"
    }

    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError> {
        let [signal, intent] = [Uuid::now_v7(), Uuid::now_v7()];
        staged.signal(SignalRow {
            id: signal,
            session: fact.session.clone(),
            kind: fact.kind,
            emitter: fact.emitter,
            invocation: None,
            occurred_at_us: fact.occurred_at_us,
            payload: fact.payload.clone(),
        });
        let mut row = IntentRow::new(intent, signal, "deliveries");
        row.confirmation = Confirmation::ByConsumer;
        row.deliver_to = Some("seat-1".to_owned());
        staged.intent(row);
        Ok(CommitRefs {
            ids: vec![signal, intent],
        })
    }
}

/// Makes a store with one intent that its consumer is to acknowledge; answers its id.
async fn asking(place: &Place) -> String {
    let store = Store::open(StoreOptions::new(place.store()))
        .await
        .expect("opens");
    let mut unit = store.begin(PendingFact {
        operation: Uuid::now_v7(),
        identity: FactIdentity {
            key: "s1/1".to_owned(),
            shape: "test".to_owned(),
            digest: "1".to_owned(),
        },
        repeat: Repeat::SameContent,
        session: "s1".to_owned(),
        event: "Test".to_owned(),
        subject: None,
        outcome: "succeeded".to_owned(),
        occurred_at_us: 1,
        judgement: None,
        kind: SignalKind::OperationSucceeded,
        emitter: EmitterRole::Owner,
        payload: Payload {
            payload_type: "test".to_owned(),
            version: 1,
            body: to_raw_value("hello").expect("JSON").into(),
        },
    });
    unit.stage(&Asking).expect("stages");
    let _committed = unit.commit().await.expect("commits");
    let id = store.outbox(None, 1).await.expect("reads")[0].id.clone();
    store.close().await.expect("closes");
    id
}

/// Runs a command; answers its exit code with what it printed and complained.
fn run(place: &Place, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = place.run(arguments);
    let code = output.status.code();
    (code, text(&output.stdout), text(&output.stderr))
}

#[tokio::test]
async fn a_consumer_acknowledges_with_the_token_that_it_was_sent() {
    let place = Place::new();
    let id = asking(&place).await;
    let early = run(&place, &["outbox", "ack", &id, "--token", "x"]);
    assert_eq!(early.0, Some(2), "{early:?}");
    assert!(early.2.contains("was not sent yet"), "{early:?}");

    let sink = "file:told.jsonl";
    let told = place.summary(&["deliver", "--once", "--sink", sink, "--json"]);
    assert_eq!(
        (&told["delivered"], &told["pending"]),
        (&1.into(), &1.into())
    );
    let line = std::fs::read_to_string(place.path("told.jsonl")).expect("a file");
    let line: Value = serde_json::from_str(&line).expect("one line");
    assert_eq!(line["deliver_to"], "seat-1");
    let token = line["ack_token"].as_str().expect("a token");

    let wrong = run(
        &place,
        &["outbox", "ack", &id, "--token", "wrong", "--json"],
    );
    assert_eq!(wrong.0, Some(2));
    assert_eq!(
        wrong.1,
        format!("{{\"intent\":\"{id}\",\"result\":\"wrong_token\"}}\n")
    );
    let acked = place.summary(&["outbox", "ack", &id, "--token", token, "--json"]);
    assert_eq!(
        (&acked["result"], &acked["attempt"]),
        (&"acked".into(), &1.into())
    );
    let again = run(&place, &["outbox", "ack", &id, "--token", token]);
    assert_eq!(
        (again.0, again.1.trim()),
        (Some(0), &*format!("{id} was acknowledged before"))
    );
    let shown = run(&place, &["outbox", "show", &id]);
    assert!(shown.1.contains("dispatch.acked.consumer"), "{}", shown.1);
    assert!(shown.1.contains("to        seat-1"), "{}", shown.1);
    let nobody = run(&place, &["outbox", "ack", "nobody", "--token", token]);
    assert_eq!(nobody.0, Some(2));
    let retried = run(&place, &["outbox", "retry", &id]);
    assert_eq!(retried.0, Some(1), "{retried:?}");
}

#[tokio::test]
async fn an_operator_purges_and_sends_again_by_choice() {
    let place = Place::new();
    place.summary(&["replay", &session(&place), "--json"]);
    let mut rows = Rows::open(&place.store()).await;
    let delivered = rows.count("outbox WHERE status = 'delivered'").await;
    assert!(delivered > 1);

    let looked = place.summary(&["outbox", "purge", "--json"]);
    assert_eq!(looked["done"], false);
    assert_eq!(
        looked["intents"].as_array().map(Vec::len),
        usize::try_from(delivered).ok()
    );
    assert_eq!(rows.count("outbox_purge").await, 0);
    let old = place.summary(&["outbox", "purge", "--before", "1d", "--yes", "--json"]);
    assert_eq!((&old["done"], &old["purge"]), (&true.into(), &Value::Null));

    let id = looked["intents"][0].as_str().expect("an id");
    let one = run(
        &place,
        &["outbox", "purge", id, "--yes", "--reason", "seen"],
    );
    assert_eq!(one.0, Some(0), "{one:?}");
    let shown = run(&place, &["outbox", "show", id]);
    assert_eq!(shown.0, Some(2));
    assert!(
        shown.2.contains("was delivered when it was purged"),
        "{shown:?}"
    );
    assert!(shown.2.contains("(seen)"), "{shown:?}");

    let all = place.summary(&[
        "outbox",
        "purge",
        "--status",
        "delivered",
        "--yes",
        "--json",
    ]);
    assert!(all["purge"].is_string(), "{all}");
    assert_eq!(rows.count("outbox").await, 0);
    assert_eq!(rows.count("outbox_tombstone").await, delivered);
    let kept = "outbox_transition WHERE to_status = 'purged'";
    assert_eq!(rows.count(kept).await, delivered);

    let nothing = place.summary(&["outbox", "retry", "--json"]);
    assert_eq!(
        (&nothing["done"], &nothing["intents"]),
        (&false.into(), &Value::Array(vec![]))
    );
    let wrong = run(&place, &["outbox", "purge", "--before", "yesterday"]);
    assert_eq!(wrong.0, Some(2));
    assert!(wrong.2.contains("a moment is wanted"), "{wrong:?}");
    let nobody = run(&place, &["outbox", "retry", "nobody"]);
    assert_eq!(nobody.0, Some(2));
}

#[tokio::test]
async fn what_was_given_up_is_sent_again() {
    let place = Place::new();
    let id = asking(&place).await;
    let refuses = "argv:[\"{payload}\"]";
    let wrong = run(&place, &["deliver", "--once", "--sink", refuses]);
    assert_eq!(wrong.0, Some(2), "{wrong:?}");
    let mut rows = Rows::open(&place.store()).await;
    rows.run("UPDATE outbox SET status = 'expired', expires_at_us = 1")
        .await;
    let looked = place.summary(&["outbox", "retry", "--status", "expired", "--json"]);
    assert_eq!(
        (&looked["done"], &looked["intents"][0]),
        (&false.into(), &id.as_str().into())
    );
    let done = run(&place, &["outbox", "retry", &id, "--reason", "asked for"]);
    assert_eq!(
        (done.0, done.1.lines().last()),
        (Some(0), Some("1 due again"))
    );
    let told = place.summary(&["deliver", "--once", "--json"]);
    assert_eq!(told["delivered"], 1);
}
