//! `triplane session`: each call once, in order, with all that is known of it.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use serde_json::{Value, json};
use triplane::{Runtime, guards};

use crate::program::{Place, shell_question, text, workspace};
use crate::rows::Rows;

fn lines(text: &str) -> Vec<Value> {
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}

/// The calls of a session, as `--json` prints them.
fn calls(place: &Place, session: &str) -> Vec<Value> {
    let output = place.run(&["session", "show", session, "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    lines(&text(&output.stdout))
}

/// A place with a session that was recorded from `events`.
fn recorded(events: &[Value]) -> Place {
    let place = Place::new();
    let mut content = String::new();
    for event in events {
        writeln!(content, "{event}").expect("a string takes lines");
    }
    let file = place.file("events.jsonl", &content);
    place.summary(&["replay", file.to_str().expect("a path"), "--json"]);
    place
}

fn event(name: &str, session: &str, call: &str, command: &str) -> Value {
    json!({"hook_event_name": name, "session_id": session, "cwd": "/srv/app",
        "tool_use_id": call, "tool_name": "Bash", "tool_input": {"command": command}})
}

#[tokio::test]
async fn the_example_is_shown_whole_and_the_sums_hold_against_the_tables() {
    let place = Place::new();
    let folder = workspace().join("examples/sessions");
    let (file, policy) = (folder.join("hooks.jsonl"), folder.join("policy.toml"));
    let [file, policy] = [&file, &policy].map(|path| path.to_str().expect("a path"));
    place.summary(&["replay", file, "--policy", policy, "--json"]);
    let calls = calls(&place, "f8ba");
    let mut rows = Rows::open(&place.store()).await;
    let counted = |wanted: &dyn Fn(&Value) -> bool| {
        i64::try_from(calls.iter().filter(|call| wanted(call)).count()).expect("a count")
    };
    assert_eq!(
        counted(&|call| call["decision"] != Value::Null),
        rows.count("audit WHERE decision IS NOT NULL").await
    );
    for decision in ["allowed", "denied", "rewritten"] {
        assert_eq!(
            counted(&|call| call["decision"] == decision),
            rows.count(&format!("audit WHERE decision = '{decision}'"))
                .await,
            "{decision}"
        );
    }
    for (state, event) in [
        ("succeeded", "PostToolUse"),
        ("failed", "PostToolUseFailure"),
    ] {
        assert_eq!(
            counted(&|call| call["result"]["state"] == state),
            rows.count(&format!("operation WHERE event = '{event}'"))
                .await,
            "{state}"
        );
    }
    let rewritten = calls.iter().find(|call| call["decision"] == "rewritten");
    let rewritten = rewritten.expect("a rewrite");
    assert_eq!(rewritten["arguments"]["command"], "npm install");
    assert_eq!(rewritten["arguments_after"]["command"], "npm ci");
    let sequences: Vec<_> = calls.iter().map(|call| call["sequence"].as_u64()).collect();
    assert!(sequences.is_sorted());
    assert!(
        calls
            .iter()
            .all(|call| call["deliveries"][0]["status"] == "delivered")
    );

    let shown = place.run(&["session", "show", "f8ba"]);
    let shown = text(&shown.stdout);
    for wanted in [
        "would deny",
        "before: npm install",
        "after: npm ci",
        "failed",
        "27 calls: ",
    ] {
        assert!(shown.contains(wanted), "{wanted}:\n{shown}");
    }
    assert!(
        !shown.contains('\u{1b}'),
        "colours only where they are asked for"
    );
    let painted = place.run(&["session", "show", "f8ba", "--color", "always"]);
    assert!(text(&painted.stdout).contains("\u{1b}[31mwould deny"));
}

#[test]
fn a_call_and_its_end_are_one_however_far_apart() {
    let mut events = vec![
        event("PreToolUse", "s", "early", "sleep 9"),
        event("PreToolUse", "s", "denied", "rm -rf /"),
        event("PostToolUse", "s", "alone", "ls"),
    ];
    events.extend((0..300).map(|n| event("PreToolUse", "s", &format!("t{n}"), "ls")));
    let mut failure = event("PostToolUseFailure", "s", "early", "sleep 9");
    failure["error"] = json!("it took too long");
    events.push(failure);
    let place = recorded(&events);
    let calls = calls(&place, "s");
    assert_eq!(calls.len(), 303);
    let told: Vec<_> = calls[..3]
        .iter()
        .map(|call| {
            let word = |value: &Value| value.as_str().unwrap_or("nothing").to_owned();
            (
                word(&call["tool_use_id"]),
                word(&call["decision"]),
                word(&call["result"]["state"]),
                word(&call["result"]["error"]),
            )
        })
        .collect();
    let wanted = [
        ("early", "allowed", "failed", "it took too long"),
        ("denied", "denied", "no_result", "nothing"),
        ("alone", "nothing", "succeeded", "nothing"),
    ]
    .map(|(a, b, c, d)| (a.to_owned(), b.to_owned(), c.to_owned(), d.to_owned()));
    assert_eq!(told, wanted);
    assert_eq!(calls[0]["result"]["sequence"], 304);
    assert_eq!(calls[0]["result"]["deliveries"][0]["status"], "delivered");
}

#[tokio::test]
async fn a_call_that_a_runtime_has_performed_tells_its_own_end() {
    let place = Place::new();
    let runtime = Runtime::durable(place.store())
        .guard(guards::commands())
        .open()
        .await
        .expect("opens");
    let run = |arguments: Value, _cx| async move {
        let fails = arguments["command"] == "false";
        if fails {
            Err("exit code 1")
        } else {
            Ok(arguments)
        }
    };
    let action = runtime.action("Bash", run).expect("an action");
    for command in ["true", "false", "rm -rf /"] {
        let called = runtime.call(&action, json!({"command": command})).await;
        let _outcome = called.expect("on record");
    }
    let _left = runtime
        .shutdown(Duration::from_secs(5))
        .await
        .expect("closes");
    let calls = calls(&place, "");
    let ends: Vec<_> = calls
        .iter()
        .map(|call| call["result"]["state"].as_str())
        .collect();
    assert_eq!(ends, ["succeeded", "failed", "no_result"].map(Some));
    let decisions: Vec<_> = calls.iter().map(|call| call["decision"].as_str()).collect();
    assert_eq!(decisions, ["allowed", "allowed", "denied"].map(Some));
    let error = calls[1]["result"]["error"].as_str().expect("a reason");
    assert!(error.contains("exit code 1"), "{error}");
    assert_eq!(calls[2]["arguments"]["command"], "rm -rf /");
}

#[test]
fn what_a_hook_has_denied_is_shown_as_denied_and_pending() {
    let place = Place::new();
    place.hook(&[], shell_question("rm -rf /").as_bytes());
    let shown = text(&place.run(&["session", "show", "s1"]).stdout);
    assert!(
        shown.contains("  denied  ") && shown.contains("  pending"),
        "{shown}"
    );
    assert_eq!(calls(&place, "s1")[0]["enforcement"], "enforced");
}

#[test]
fn a_beginning_is_enough_if_only_one_session_has_it() {
    let sessions = ["ab", "ab-1", "ab-2", "cd"];
    let events = sessions.map(|session| event("PreToolUse", session, "t", "ls"));
    let place = recorded(&events);
    for (beginning, session) in [("c", "cd"), ("ab-1", "ab-1"), ("ab", "ab")] {
        assert_eq!(calls(&place, beginning)[0]["session"], session);
    }
    let output = place.run(&["session", "show", "a"]);
    let errors = text(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(errors.contains("\n  ab\n  ab-1\n  ab-2"), "{errors}");
    let output = place.run(&["session", "show", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("triplane session ls"));

    let listed = place.run(&["session", "ls", "--json"]);
    let listed = lines(&text(&listed.stdout));
    let names: Vec<_> = listed.iter().map(|it| it["session"].as_str()).collect();
    assert_eq!(names, ["cd", "ab-2", "ab-1", "ab"].map(Some));
    let two = place.run(&["session", "ls", "--limit", "2"]);
    assert!(text(&two.stdout).contains("--limit is 2"));
}

#[test]
fn an_export_is_whole_private_and_replaces_what_was_there() {
    let place = recorded(&[event("PreToolUse", "s", "t", "ls")]);
    let path = place.file("export.jsonl", "older");
    let file = path.to_str().expect("a path");
    let output = place.run(&["session", "show", "s", "--export", file]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("1 calls of s in "));
    let content = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(lines(&content), calls(&place, "s"));
    let mode = std::fs::metadata(&path)
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    let quiet = place.run(&["session", "show", "s", "--export", file, "--quiet"]);
    assert_eq!(text(&quiet.stdout), "");
    for (target, wanted) in [(".", "this is a folder"), ("missing/x", "cannot write")] {
        let output = place.run(&["session", "show", "s", "--export", target]);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(
            errors.contains("--export") && errors.contains(wanted),
            "{errors}"
        );
    }
    let files = std::fs::read_dir(place.path("")).expect("a folder");
    let drafts = files.filter(|file| {
        let name = file.as_ref().expect("a file").file_name();
        name.to_string_lossy().starts_with(".triplane-export-")
    });
    assert_eq!(drafts.count(), 0);
}
