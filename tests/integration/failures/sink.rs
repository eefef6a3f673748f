//! Sinks that cannot take a delivery. The record is kept, and the delivery waits.

use std::fs;
use std::process::Command;

use crate::failures::row::{Said, event, session, show, skip};
use crate::program::{Place, text};
use crate::rows::Rows;

/// Replays into `sink`, which puts off both deliveries and says `error`.
async fn check_put_off(what: &str, place: &Place, sink: &str, error: &str) {
    let session = session(place);
    let output = place.run(&["replay", &session, "--sink", sink]);
    let mut rows = Rows::open(&place.store()).await;
    let errors = rows.texts("SELECT DISTINCT last_error FROM outbox").await;
    let said = errors
        .join(" / ")
        .replace(&place.folder().display().to_string(), "PLACE");
    show(what, output.status.code(), &said);
    assert_eq!(said, error, "{what}: {}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{what}");
    assert!(output.stderr.is_empty(), "{what}: {}", text(&output.stderr));
    let shown = text(&output.stdout);
    for line in [
        "2 signals, 2 delivery intents; delivered 0, pending 2",
        "the sink refused some for now; triplane outbox ls shows why",
        "what is pending goes out with: triplane deliver --once",
    ] {
        assert!(shown.contains(line), "{what}: {line}: {shown}");
    }
    let listed = text(&place.run(&["outbox", "ls"]).stdout);
    assert_eq!(
        listed
            .lines()
            .filter(|line| line.contains("pending"))
            .count(),
        2,
        "{what}: {listed}"
    );
    assert_eq!(rows.torn().await, 0, "{what}");
}

#[tokio::test]
async fn a_file_sink_that_cannot_be_written_puts_deliveries_off() {
    let place = Place::new();
    let folder = place.path("folder");
    fs::create_dir(&folder).expect("a folder");
    check_put_off(
        "the sink's folder is missing",
        &Place::new(),
        "file:/nonexistent/deliveries.jsonl",
        "/nonexistent/deliveries.jsonl: its folder does not exist; \
         create the folder or name another file",
    )
    .await;
    check_put_off(
        "the sink is a folder",
        &place,
        "file:folder",
        "folder: this is a folder, not a file; name a regular file",
    )
    .await;
    check_put_off(
        "the sink is a device",
        &Place::new(),
        "file:/dev/full",
        "/dev/full: this is a device, not a file; name a regular file",
    )
    .await;
}

#[tokio::test]
async fn a_pipe_without_a_reader_is_refused_and_not_waited_for() {
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(made.expect("mkfifo runs").success());
    check_put_off(
        "the sink is a pipe without a reader",
        &place,
        "file:pipe",
        "pipe: this is a pipe, not a file; name a regular file",
    )
    .await;
}

#[tokio::test]
async fn a_file_that_cannot_be_changed_puts_deliveries_off() {
    let place = Place::new();
    let sink = place.file("deliveries.jsonl", "");
    let attribute = |sign: &str| Command::new("chattr").arg(sign).arg(&sink).output();
    match attribute("+i") {
        Ok(output) if output.status.success() => {}
        Ok(output) => return skip("an immutable sink", &text(&output.stderr)),
        Err(error) => return skip("an immutable sink", &error.to_string()),
    }
    // The mark is taken back before anything can panic: a folder with such a file cannot be removed.
    let session = session(&place);
    let output = place.run(&["replay", &session, "--sink", "file:deliveries.jsonl"]);
    attribute("-i").expect("the mark can be taken back");
    let mut rows = Rows::open(&place.store()).await;
    let errors = rows.texts("SELECT DISTINCT last_error FROM outbox").await;
    show(
        "an immutable sink",
        output.status.code(),
        &errors.join(" / "),
    );
    assert_eq!(
        errors,
        ["deliveries.jsonl: cannot open: Operation not permitted (os error 1)"]
    );
    assert_eq!(output.status.code(), Some(0));
}

#[tokio::test]
async fn a_command_that_fails_puts_deliveries_off() {
    check_put_off(
        "the sink's command does not exist",
        &Place::new(),
        r#"argv:["/nonexistent/notify"]"#,
        "the command cannot be started: No such file or directory (os error 2)",
    )
    .await;
    check_put_off(
        "the sink's command fails",
        &Place::new(),
        r#"argv:["false"]"#,
        "the command exited with 1",
    )
    .await;
}

#[tokio::test]
async fn a_sink_file_that_is_deleted_in_between_is_made_again() {
    let place = Place::new();
    place.summary(&["replay", &session(&place), "--json"]);
    fs::remove_file(place.path("deliveries.jsonl")).expect("was there");
    let more = place.file("more.jsonl", &(event("ls", 9) + "\n"));
    let summary = place.summary(&["replay", more.to_str().expect("a path"), "--json"]);
    show(
        "the sink's file is deleted in between",
        Some(0),
        &summary["delivered"].to_string(),
    );
    assert_eq!(
        (&summary["delivered"], &summary["pending"]),
        (&1.into(), &0.into())
    );
    let written = fs::read_to_string(place.path("deliveries.jsonl")).expect("a sink file");
    assert_eq!(
        written.lines().count(),
        1,
        "what went out before is not sent again"
    );
}

#[test]
fn a_sink_option_that_makes_no_sense_is_refused_before_the_store_is_touched() {
    let rows = [
        (
            "nonsense",
            r#"--sink nonsense: a sink is file:PATH or argv:["program","argument"]"#,
        ),
        (
            "file:",
            r#"--sink file:: a sink is file:PATH or argv:["program","argument"]"#,
        ),
        ("argv:[]", "--sink argv:[]: a command needs a program"),
        (
            "argv:notify",
            "--sink argv:notify: after argv: a JSON array of strings is wanted, such as \
             argv:[\"notify\",\"--stdin\"]: expected ident at line 1 column 2",
        ),
    ];
    let place = Place::new();
    let session = session(&place);
    for (sink, message) in rows {
        let said = Said::of(
            &place.run(&["replay", &session, "--sink", sink]),
            place.folder(),
        );
        show(&format!("--sink {sink}"), said.exit, &said.stderr);
        assert_eq!(
            (said.exit, said.stderr),
            (Some(2), format!("triplane: {message}\n")),
            "{sink}"
        );
        assert!(!place.store().exists(), "{sink}");
    }
}
