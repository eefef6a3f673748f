//! `triplane replay` killed in the middle, again and again: nothing committed is torn or lost.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::Place;
use crate::rows::Rows;

const KILLS: usize = 50;

/// How many kills must fall between the first and the last commit of their run.
const KILLS_INSIDE_MIN: usize = 30;

/// The kills are spread over several recordings, so that no run has to read far before it comes to
/// what is new.
const RECORDINGS: u32 = 10;
const EVENTS: u32 = 1_500;
const ALL_EVENTS: u32 = RECORDINGS * EVENTS;

/// One event in this many is denied, and shown as a row the moment it is committed.
const DENIED_EVERY: u32 = 20;

#[tokio::test]
async fn fifty_kills_tear_nothing_and_lose_nothing() {
    let place = Place::new();
    let recordings: Vec<String> = (0..RECORDINGS)
        .map(|n| {
            let path = place.file(&format!("recording-{n}.jsonl"), &recording(n));
            path.to_str().expect("a path").to_owned()
        })
        .collect();
    let mut recorded = vec![0; recordings.len()];
    let mut inside = 0;
    for kill in 0..KILLS {
        let n = kill % recordings.len();
        kill_after(&place, &recordings[n], kill % 3 + 1);
        let mut rows = Rows::open(&place.store()).await;
        assert_eq!(rows.torn().await, 0, "after kill {kill}");
        assert_eq!(rows.holes().await, 0, "after kill {kill}");
        let now = rows
            .count(&format!("operation WHERE identity LIKE 's{n}/%'"))
            .await;
        inside += usize::from(recorded[n] < now && now < i64::from(EVENTS));
        recorded[n] = now;
    }
    assert!(
        inside >= KILLS_INSIDE_MIN,
        "only {inside} kills fell between two commits"
    );

    for (recording, recorded) in recordings.iter().zip(recorded) {
        let summary = place.summary(&["replay", recording, "--json"]);
        assert_eq!(summary["events"], EVENTS);
        assert_eq!(summary["already_recorded"], recorded);
        assert_eq!(summary["pending"], 0, "{summary}");
    }
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!(rows.count("operation").await, i64::from(ALL_EVENTS));
    assert_eq!(rows.torn().await, 0);
    assert_eq!(rows.holes().await, 0);
    let left = rows
        .texts(
            "SELECT status || ', attempt ' || attempt || ': ' || coalesce(last_error, 'no error')
             FROM outbox WHERE status <> 'delivered'",
        )
        .await;
    assert_eq!(left, Vec::<String>::new());

    let delivered = delivered(&place.path("deliveries.jsonl"));
    for identity in rows.texts("SELECT identity FROM operation").await {
        assert!(
            delivered.contains_key(&identity),
            "{identity} was never delivered"
        );
    }
    assert_eq!(
        delivered.len(),
        ALL_EVENTS as usize,
        "something was delivered that is not on record"
    );
    let repeated: usize = delivered.values().map(|keys| keys.len() - 1).sum();
    assert!(
        repeated <= KILLS,
        "{repeated} repeated deliveries after {KILLS} kills"
    );
    for (identity, keys) in delivered {
        assert!(
            keys.iter().all(|key| *key == keys[0]),
            "{identity} went out under two keys"
        );
    }
}

/// Starts a replay and kills it when it has shown `rows` committed denials.
fn kill_after(place: &Place, recording: &str, rows: usize) {
    let mut child = place
        .command(&["replay", recording, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let shown = BufReader::new(child.stdout.take().expect("a pipe"))
        .lines()
        .take(rows)
        .count();
    child.kill().expect("the program can be killed");
    child.wait().expect("the program ends");
    assert!(shown > 0, "the program ended before it showed anything");
}

fn recording(recording: u32) -> String {
    let mut lines = String::new();
    for n in 0..EVENTS {
        let mut event = json!({
            "session_id": format!("s{recording}"),
            "cwd": "/srv/app",
            "tool_name": "Bash",
            "tool_use_id": format!("toolu_{n:05}"),
            "tool_input": {"command": "cargo check"},
        });
        if n % DENIED_EVERY == 0 {
            event["hook_event_name"] = json!("PreToolUse");
            event["tool_input"]["command"] = json!("rm -rf /");
        } else {
            event["hook_event_name"] = json!("PostToolUse");
            event["tool_response"] = json!({"stdout": "ok", "interrupted": false});
        }
        writeln!(lines, "{event}").expect("a string takes lines");
    }
    lines
}

/// The keys under which each identity was delivered, in order. Every line must be whole.
fn delivered(sink: &Path) -> HashMap<String, Vec<String>> {
    let mut delivered: HashMap<String, Vec<String>> = HashMap::new();
    for line in std::fs::read_to_string(sink).expect("a sink file").lines() {
        let line: Value = serde_json::from_str(line).expect("a whole line");
        let text = |field: &str| line[field].as_str().expect("text").to_owned();
        delivered
            .entry(text("identity"))
            .or_default()
            .push(text("key"));
    }
    delivered
}
