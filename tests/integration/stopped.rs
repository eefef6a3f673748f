//! `triplane replay` told to stop: what was read is settled, what is left is said.
//!
//! The recording comes through a pipe that stays open, so a run ends only because it was told to.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::program::Place;
use crate::rows::Rows;

/// More than what may wait for its commit, so that rows are shown while the pipe is open.
const EVENTS: usize = 1_000;

fn recording() -> String {
    let mut lines = String::new();
    for n in 0..EVENTS {
        let command = if n % 20 == 0 { "rm -rf /" } else { "ls" };
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/app",
            "tool_name": "Bash", "tool_use_id": format!("t{n}"), "tool_input": {"command": command},
        });
        writeln!(lines, "{event}").expect("a string takes lines");
    }
    lines
}

fn fifo(place: &Place, name: &str) -> PathBuf {
    let path = place.path(name);
    let made = Command::new("mkfifo")
        .arg(&path)
        .status()
        .expect("mkfifo runs");
    assert!(made.success());
    path
}

/// A replay that has shown its first row and waits for more.
struct Running {
    child: Child,
    rows: BufReader<ChildStdout>,
    errors: BufReader<ChildStderr>,
    _pipe: File,
}

impl Running {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let source = fifo(place, "recording.fifo");
        let source = source.to_str().expect("a path");
        let arguments = [
            &["replay", source, "--format", "hooks", "--json"],
            arguments,
        ]
        .concat();
        let mut child = place
            .command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut pipe = OpenOptions::new().write(true).open(source).expect("a pipe");
        pipe.write_all(recording().as_bytes())
            .expect("the program reads");
        let mut rows = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut row = String::new();
        rows.read_line(&mut row).expect("a row");
        assert!(row.contains("would_deny"), "{row}");
        Self {
            errors: BufReader::new(child.stderr.take().expect("a pipe")),
            child,
            rows,
            _pipe: pipe,
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits for the end: the exit code, standard output and standard error.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut rows, mut errors) = (String::new(), String::new());
        self.rows.read_to_string(&mut rows).expect("rows");
        self.errors.read_to_string(&mut errors).expect("errors");
        let status = self.child.wait().expect("the program ends");
        (status.code(), rows, errors)
    }
}

async fn check(signal: &str, code: i32) {
    let place = Place::new();
    let running = Running::start(&place, &[]);
    running.signal(signal);
    let (ended, rows, errors) = running.end();
    let name = format!("SIG{signal}");
    assert_eq!(ended, Some(code), "{errors}");
    assert!(errors.contains(&format!("{name} after line ")), "{errors}");
    assert!(errors.contains("the same command goes on"), "{errors}");
    let summary: Value =
        serde_json::from_str(rows.lines().last().expect("a summary")).expect("JSON");
    assert_eq!(summary["stopped_by"], name, "{summary}");
    let events = summary["events"].as_i64().expect("a number");
    assert!(events > 0);
    settled(&place.store(), events).await;

    let whole = place.file("recording.jsonl", &recording());
    let whole = whole.to_str().expect("a path");
    let rest = place.summary(&["replay", whole, "--json"]);
    assert_eq!(rest["events"], EVENTS);
    assert_eq!(rest["already_recorded"], events);
    assert_eq!(rest["pending"], 0, "{rest}");
    assert!(rest.get("stopped_by").is_none(), "{rest}");
}

/// Every event that was read is on record and none is torn, and the log was emptied.
async fn settled(store: &Path, events: i64) {
    assert!(!store.with_file_name("state.db-wal").exists());
    let mut rows = Rows::open(store).await;
    assert_eq!(rows.count("operation").await, events);
    assert_eq!((rows.torn().await, rows.holes().await), (0, 0));
    assert_eq!(rows.count("outbox WHERE status = 'delivering'").await, 0);
}

#[tokio::test]
async fn a_request_to_stop_is_a_clean_end() {
    check("TERM", 143).await;
    check("INT", 130).await;
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let place = Place::new();
    // A sink that hangs until somebody opens its pipe: the clean end would wait for it.
    let hung = fifo(&place, "hung.fifo");
    let sink = format!("argv:{}", json!(["cat", hung]));
    let mut running = Running::start(&place, &["--sink", &sink]);
    running.signal("TERM");
    let mut line = String::new();
    running.errors.read_line(&mut line).expect("a line");
    assert!(line.contains("SIGTERM: stopping"), "{line}");
    running.signal("INT");
    let (ended, rows, _errors) = running.end();
    assert_eq!(ended, Some(130));
    assert!(!rows.contains("events_per_second"), "{rows}");
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!((rows.torn().await, rows.holes().await), (0, 0));
    // Opened for both ends it waits for nobody, and lets the sink's command go.
    let _release = OpenOptions::new()
        .read(true)
        .write(true)
        .open(hung)
        .expect("a pipe");
}
