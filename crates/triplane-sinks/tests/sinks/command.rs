//! The command sink behind a real store.

use std::fs;
use std::time::Duration;

use triplane_sinks::argv::ArgvSink;
use triplane_state::delivery::DeliveryResult;

use crate::store::{Fixture, Witness};

fn script(text: &str, arguments: &[&str]) -> ArgvSink {
    let words = ["sh", "-c", text, "sh"]
        .into_iter()
        .chain(arguments.iter().copied());
    ArgvSink::new(words).expect("a command")
}

/// The answers to one intent with this payload, attempt by attempt.
async fn answers(sink: ArgvSink, payload: &str) -> Vec<DeliveryResult> {
    let fixture = Fixture::new().await;
    fixture.commit("s1/a", payload).await;
    let witness = Witness::of(sink);
    fixture.deliver(witness.clone()).await;
    witness.answers()
}

#[tokio::test]
async fn a_command_finds_the_payload_on_its_input_and_the_rest_in_its_environment() {
    let fixture = Fixture::new().await;
    fixture.commit("s1/ä b", "{\"command\": \"$(x); y\"}").await;
    let (payload, variables) = (fixture.path("payload"), fixture.path("variables"));
    let text = "cat >\"$1\"; env | grep ^TRIPLANE_ | sort >\"$2\"";
    let paths = [
        payload.to_str().expect("text"),
        variables.to_str().expect("text"),
    ];
    let witness = Witness::of(script(text, &paths).cleared_environment());
    assert_eq!(fixture.deliver(witness.clone()).await.delivered, 1);
    let read = |path| fs::read_to_string(path).expect("a file");
    assert_eq!(read(payload), "{\"command\": \"$(x); y\"}");
    let (intent, answer) = witness.seen().remove(0);
    assert_eq!(answer, DeliveryResult::Delivered(None));
    let wanted = format!(
        "TRIPLANE_DISPATCH_ATTEMPT=1\nTRIPLANE_DISPATCH_IDENTITY=s1/ä b\n\
         TRIPLANE_DISPATCH_INTENT={}\nTRIPLANE_DISPATCH_KEY={}\nTRIPLANE_DISPATCH_KIND={}\n\
         TRIPLANE_DISPATCH_SEQUENCE=1\nTRIPLANE_DISPATCH_SESSION=s1\n",
        intent.id(),
        intent.key(),
        intent.kind()
    );
    assert_eq!(read(variables), wanted);
}

#[tokio::test]
async fn a_whole_argument_is_the_payload_and_no_shell_reads_it() {
    let fixture = Fixture::new().await;
    fixture.commit("s1/a", "\"$(touch x) `y`\"").await;
    let path = fixture.path("payload");
    let text = "printf '%s' \"$1\" >\"$2\"; cat >>\"$2\"";
    let witness = Witness::of(script(text, &["{payload}", path.to_str().expect("text")]));
    fixture.deliver(witness.clone()).await;
    assert_eq!(
        fs::read_to_string(path).expect("a file"),
        "\"$(touch x) `y`\""
    );
}

#[tokio::test]
async fn a_failed_command_is_run_again_and_what_it_said_is_kept_printable() {
    let sink = script("printf 'no\\0 \\033[31mdisk\\377' >&2; exit 3", &[]);
    let error = "the command exited with 3: no\u{fffd} \u{fffd}[31mdisk\u{fffd}".to_owned();
    let retry = DeliveryResult::Retry { error, after: None };
    assert_eq!(answers(sink, "1").await, vec![retry; 3]);
}

#[tokio::test]
async fn a_command_that_says_too_much_is_cut_short() {
    let sink = script("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1", &[]);
    let DeliveryResult::Retry { error, .. } = answers(sink, "1").await.remove(0) else {
        panic!("a retry");
    };
    assert_eq!(error.chars().count(), 2000);
}

#[tokio::test]
async fn a_command_that_was_cut_off_leaves_the_outcome_unknown() {
    let check = async |sink: ArgvSink, wanted: &str| {
        let DeliveryResult::Unknown { error } = answers(sink, "1").await.remove(0) else {
            panic!("unknown");
        };
        assert_eq!(error, wanted);
    };
    let endless = script("tail -f /dev/null", &[]).time_limit(Duration::from_millis(50));
    check(endless, "the command was killed when its time was up").await;
    check(script("kill -9 $$", &[]), "signal 9 ended the command").await;
}

#[tokio::test]
async fn a_program_that_is_missing_is_looked_for_again() {
    let missing = ArgvSink::new(["/no/such/program"]).expect("a command");
    let answers = answers(missing, "1").await;
    assert_eq!(answers.len(), 3);
    let DeliveryResult::Retry { error, .. } = &answers[0] else {
        panic!("a retry")
    };
    assert!(
        error.starts_with("the command cannot be started: "),
        "{error}"
    );
}

#[tokio::test]
async fn a_delivery_that_the_command_cannot_take_is_rejected_at_once() {
    let reject = |answers: Vec<DeliveryResult>| match &answers[..] {
        [DeliveryResult::Reject { reason }] => reason.clone(),
        other => panic!("{other:?}"),
    };
    let payload = format!("\"{}\"", "x".repeat(200_000));
    let by_argument = reject(answers(script("exit 0", &["{payload}"]), &payload).await);
    let wanted = "the command cannot take this delivery: word 4 of the command has 200002 bytes, \
                  more than 131071";
    assert_eq!(by_argument, wanted);
    let by_input = answers(script("cat >/dev/null", &[]), &payload).await;
    assert_eq!(by_input, [DeliveryResult::Delivered(None)]);

    let fixture = Fixture::new().await;
    fixture.commit(&"i".repeat(200_000), "1").await;
    let witness = Witness::of(script("exit 0", &[]));
    fixture.deliver(witness.clone()).await;
    let by_variable = reject(witness.answers());
    assert!(
        by_variable.starts_with("the command cannot take this delivery: "),
        "{by_variable}"
    );
}
