//! Readers that go away: `| head -1`.

use std::process::Stdio;

use crate::failures::row::{event, show};
use crate::program::{Place, shell_question, text};
use crate::rows::Rows;

/// Runs a command whose reader is gone before it says the first word.
fn unheard(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let mut child = place
        .command(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    show(
        &format!("standard output closed: {}", arguments[0]),
        output.status.code(),
        &text(&output.stderr),
    );
    (output.status.code(), text(&output.stderr))
}

#[tokio::test]
async fn a_closed_standard_output_stops_no_work_and_causes_no_panic() {
    let place = Place::new();
    let recording: String = (0..500).map(|n| event("rm -rf /", n) + "\n").collect();
    let recording = place.file("recording.jsonl", &recording);
    let recording = recording.to_str().expect("a path");
    for arguments in [
        &["replay", recording][..],
        &["replay", recording, "--json"],
        &["deliver", "--once"],
        &["signals", "ls", "--limit", "500"],
        &["outbox", "ls", "--limit", "500", "--json"],
    ] {
        assert_eq!(
            unheard(&place, arguments),
            (Some(0), String::new()),
            "{arguments:?}"
        );
    }
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!(rows.count("operation").await, 500);
    assert_eq!(rows.count("outbox WHERE status = 'delivered'").await, 500);
}

#[test]
fn a_hook_whose_reader_is_gone_still_ends_with_the_code_of_its_answer() {
    let place = Place::new();
    for (question, exit) in [(shell_question("rm -rf /"), 0), ("{".to_owned(), 2)] {
        let mut asked = place.ask(&[], question.as_bytes());
        drop(asked.stdout.take());
        drop(asked.stderr.take());
        let status = asked.wait().expect("it ends");
        show("nobody hears a hook", status.code(), "");
        assert_eq!(status.code(), Some(exit));
    }
}
