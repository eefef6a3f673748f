//! `triplane replay` on whole files: sums, repetition, growth, and what is refused.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{Place, text, workspace};
use crate::rows::Rows;

fn example(name: &str) -> String {
    let path = workspace().join("examples/sessions").join(name);
    path.to_str().expect("a path").to_owned()
}

fn number(summary: &Value, field: &str) -> i64 {
    summary[field]
        .as_i64()
        .unwrap_or_else(|| panic!("{field} is no integer in {summary}"))
}

/// The summary's numbers against each other and against the tables.
async fn check_sums(summary: &Value, store: &Path) {
    let n = |field| number(summary, field);
    assert_eq!(
        n("events"),
        n("already_recorded") + n("allowed") + n("would_deny") + n("would_rewrite"),
        "{summary}"
    );
    let mut rows = Rows::open(store).await;
    let new = n("events") - n("already_recorded");
    assert_eq!(rows.count("operation").await, new);
    assert_eq!(rows.count("audit").await, new);
    assert_eq!(rows.count("signal_log").await, n("signals"));
    assert_eq!(rows.count("outbox").await, n("intents"));
    assert_eq!(
        rows.count("outbox WHERE status = 'delivered'").await,
        n("delivered")
    );
    assert_eq!(
        rows.count("outbox WHERE status IN ('pending', 'delivering')")
            .await,
        n("pending")
    );
    assert_eq!(
        rows.count("audit WHERE decision = 'denied'").await,
        n("would_deny")
    );
    assert_eq!(
        rows.count("audit WHERE decision = 'rewritten'").await,
        n("would_rewrite")
    );
    assert_eq!((rows.torn().await, rows.holes().await), (0, 0));
}

#[tokio::test]
async fn the_sums_of_both_examples_hold_against_the_tables() {
    for name in ["hooks.jsonl", "claude-transcript.jsonl"] {
        let place = Place::new();
        let policy = example("policy.toml");
        let summary = place.summary(&["replay", &example(name), "--policy", &policy, "--json"]);
        check_sums(&summary, &place.store()).await;
        assert!(number(&summary, "events") >= 50, "{name}: {summary}");
        assert_eq!(number(&summary, "would_rewrite"), 2, "{name}: {summary}");
        assert!(number(&summary, "skipped") >= 1, "{name}: {summary}");
        assert!(number(&summary, "failed_calls") >= 1, "{name}: {summary}");
        let rules = summary["rules"].as_object().expect("rules");
        assert!(
            rules.len() >= 5,
            "{name}: four rules deny, one rewrites at least: {rules:?}"
        );
        let mut rows = Rows::open(&place.store()).await;
        // What was over before it was judged is an observation, never evidence of a permission.
        assert_eq!(
            rows.count("audit WHERE enforcement <> 'after_the_fact'")
                .await,
            0
        );
        assert_eq!(rows.count("audit WHERE emitter <> 'provider'").await, 0);
        assert_eq!(
            rows.count("signal_log WHERE kind <> 'provider.observed'")
                .await,
            0
        );
    }
}

#[tokio::test]
async fn a_second_run_records_and_delivers_nothing() {
    for name in ["hooks.jsonl", "claude-transcript.jsonl"] {
        let place = Place::new();
        let first = place.summary(&["replay", &example(name), "--json"]);
        let second = place.summary(&["replay", &example(name), "--json"]);
        assert_eq!(second["events"], first["events"]);
        assert_eq!(second["already_recorded"], first["events"]);
        for field in [
            "signals",
            "intents",
            "delivered",
            "pending",
            "allowed",
            "would_deny",
        ] {
            assert_eq!(number(&second, field), 0, "{field}: {second}");
        }
        let sink = std::fs::read_to_string(place.path("deliveries.jsonl")).expect("a sink");
        assert_eq!(first["delivered"], sink.lines().count());
    }
}

#[test]
fn a_grown_transcript_records_what_is_new_and_one_further_end() {
    let place = Place::new();
    let whole = std::fs::read_to_string(example("claude-transcript.jsonl")).expect("the example");
    let cut = whole
        .lines()
        .position(|line| line.contains("tool_result"))
        .expect("a result")
        + 1;
    let head: String = whole.split_inclusive('\n').take(cut).collect();
    let file = place.file("t.jsonl", &head);
    let file = file.to_str().expect("a path");
    let first = place.summary(&["replay", file, "--json"]);
    std::fs::write(file, &whole).expect("the file grows");
    let second = place.summary(&["replay", file, "--json"]);
    // All but the end of the session, which is another one now.
    assert_eq!(
        number(&second, "already_recorded"),
        number(&first, "events") - 1
    );
    assert_eq!(number(&second, "pending"), 0);
}

#[test]
fn repeated_lines_without_an_id_are_events_of_their_own() {
    let place = Place::new();
    let line = r#"{"hook_event_name":"Notification","session_id":"s","message":"hm"}"#;
    let file = place.file("n.jsonl", &format!("{line}\n{line}\n{line}\n"));
    let file = file.to_str().expect("a path");
    assert_eq!(place.summary(&["replay", file, "--json"])["signals"], 3);
    std::fs::write(file, format!("{line}\n").repeat(5)).expect("the file grows");
    let grown = place.summary(&["replay", file, "--json"]);
    assert_eq!(
        (
            number(&grown, "already_recorded"),
            number(&grown, "signals")
        ),
        (3, 2)
    );
}

#[test]
fn another_content_under_a_known_id_is_put_on_record_too() {
    let place = Place::new();
    let event = |command: &str| {
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/app", "tool_use_id": "t",
            "tool_name": "Bash", "tool_input": {"command": command}})
    };
    let content = format!("{}\n{}\n{}\n", event("ls"), event("rm -rf /"), event("ls"));
    let file = place.file("e.jsonl", &content);
    let summary = place.summary(&["replay", file.to_str().expect("a path"), "--json"]);
    assert_eq!(
        (
            number(&summary, "signals"),
            number(&summary, "already_recorded")
        ),
        (2, 1)
    );
    assert_eq!(number(&summary, "would_deny"), 1);
}

#[test]
fn a_line_that_cannot_be_read_is_named_counted_and_read_past() {
    let place = Place::new();
    let good = r#"{"hook_event_name":"Stop","session_id":"s"}"#;
    let mut content = format!("{good}\n{{\"hook_event_name\":\"St\n").into_bytes();
    content.extend_from_slice(b"\xff\xfe\n");
    write!(
        LineWriter(&mut content),
        "{{\"hook_event_name\":\"{}\"}}\n{good}\n",
        "x".repeat(5000)
    )
    .expect("bytes");
    let file = place.path("bad.jsonl");
    std::fs::write(&file, &content).expect("a file");
    let file = file.to_str().expect("a path");
    let output = place.run(&["replay", file, "--max-line", "4K", "--json"]);
    let errors = text(&output.stderr);
    for line in ["line 2: ", "line 3: ", "line 4: "] {
        assert!(errors.contains(line), "{errors}");
    }
    assert!(output.status.success());
    let last = text(&output.stdout);
    let summary: Value = serde_json::from_str(last.lines().last().expect("a line")).expect("JSON");
    assert_eq!(
        (number(&summary, "events"), number(&summary, "skipped")),
        (2, 3)
    );

    let strict = Place::new();
    let output = strict.run(&["replay", file, "--strict", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let last = text(&output.stdout);
    let summary: Value = serde_json::from_str(last.lines().last().expect("a line")).expect("JSON");
    assert_eq!(
        (number(&summary, "events"), number(&summary, "skipped")),
        (1, 1)
    );
    assert_eq!(number(&summary, "signals"), 1, "what was committed stays");
}

struct LineWriter<'a>(&'a mut Vec<u8>);

impl std::fmt::Write for LineWriter<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

#[test]
fn a_file_without_an_event_is_refused_and_the_store_stays_untouched() {
    let place = Place::new();
    let folder = place.path("folder");
    std::fs::create_dir(&folder).expect("a folder");
    let files = [
        (place.path("missing.jsonl"), "cannot read"),
        (folder, "is a folder"),
        (place.file("empty.jsonl", ""), "is empty"),
        (place.file("text.jsonl", "no JSON here\n"), "no line is"),
        (
            place.file(
                "summary.jsonl",
                "{\"type\":\"summary\",\"summary\":\"x\"}\n",
            ),
            "not one event",
        ),
    ];
    for (file, wanted) in files {
        let output = place.run(&["replay", file.to_str().expect("a path")]);
        let errors = text(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{}: {errors}",
            file.display()
        );
        assert!(errors.contains(wanted), "{}: {errors}", file.display());
        assert!(
            !place.store().exists(),
            "{}: the store was touched",
            file.display()
        );
    }
}

#[test]
fn a_wrong_policy_is_refused_with_its_place() {
    let place = Place::new();
    let policy = place.file(
        "p.toml",
        "version = 1\n[[deny]]\ntool = \"Bash\"\nglob = \"x\"\n",
    );
    let policy = policy.to_str().expect("a path");
    let output = place.run(&["replay", &example("hooks.jsonl"), "--policy", policy]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains("p.toml") && errors.contains("glob"),
        "{errors}"
    );
    assert!(!place.store().exists());
}
