//! `triplane hook`: every question gets an answer, and every answer a row.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Place, denial, shell_question, text, workspace};
use crate::rows::Rows;

#[tokio::test]
async fn a_dangerous_command_is_denied_and_on_record() {
    let place = Place::new();
    let output = place.hook(
        &["--harness", "claude"],
        shell_question("rm -rf /").as_bytes(),
    );
    assert!(output.status.success());
    let reason = denial(&output).expect("a denial");
    assert!(!reason.is_empty());
    let mut rows = Rows::open(&place.store()).await;
    let audit = "audit WHERE decision = 'denied' AND enforcement = 'enforced' AND rule IS NOT NULL";
    assert_eq!(rows.count(audit).await, 1);
    assert_eq!(
        rows.count("signal_log WHERE kind = 'operation.denied'")
            .await,
        1
    );
    assert_eq!(rows.count("outbox WHERE status = 'pending'").await, 1);
}

#[tokio::test]
async fn a_harmless_command_is_met_with_silence_and_on_record() {
    for harness in ["claude", "codex"] {
        let place = Place::new();
        let output = place.hook(
            &["--harness", harness],
            shell_question("git status").as_bytes(),
        );
        assert!(output.status.success());
        assert_eq!(
            (text(&output.stdout), text(&output.stderr)),
            (String::new(), String::new())
        );
        let mut rows = Rows::open(&place.store()).await;
        assert_eq!(
            rows.count("signal_log WHERE kind = 'operation.allowed'")
                .await,
            1
        );
    }
}

#[tokio::test]
async fn a_rewrite_stands_beside_an_explicit_allow() {
    let place = Place::new();
    let policy = place.file(
        "p.json",
        &json!({"version": 1, "rewrite": [{"tool": "Bash", "argument": "command",
            "pattern": "^npm install$", "replace": "npm ci"}]})
        .to_string(),
    );
    let policy = policy.to_str().expect("a path");
    let output = place.hook(
        &["--policy", policy],
        shell_question("npm install").as_bytes(),
    );
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let said = &answer["hookSpecificOutput"];
    assert_eq!(said["permissionDecision"], "allow");
    assert_eq!(said["updatedInput"], json!({"command": "npm ci"}));
    let mut rows = Rows::open(&place.store()).await;
    let kept = rows
        .texts("SELECT arguments_before || arguments_after FROM audit")
        .await;
    assert_eq!(kept, [r#"{"command":"npm install"}{"command":"npm ci"}"#]);
}

#[tokio::test]
async fn a_known_id_is_judged_afresh_and_another_answer_is_another_row() {
    let place = Place::new();
    let question = |command: &str| {
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv/app",
            "tool_use_id": "t1", "tool_name": "Bash", "tool_input": {"command": command}})
        .to_string()
    };
    let deny_all = place.file("p.json", r#"{"version":1,"deny":[{"tool":"Bash"}]}"#);
    let deny_all = deny_all.to_str().expect("a path");
    let ask = |arguments: &[&str], command: &str| {
        denial(&place.hook(arguments, question(command).as_bytes())).is_some()
    };
    assert!(!ask(&[], "ls"));
    assert!(!ask(&[], "ls"), "the same question has the same answer");
    assert!(ask(&[], "rm -rf /"), "another command under a known id");
    assert!(
        ask(&["--policy", deny_all], "ls"),
        "the same command under another policy"
    );
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!(rows.count("operation").await, 3);
    assert_eq!(rows.count("audit WHERE decision = 'denied'").await, 2);
}

const RULE: &str = "version = 1\n[[rule]]\nid = \"team.ls\"\ntier = \"dangerous\"\nprograms = [\"ls\"]\n\
                    reason = \"it lists\"\nsafer = \"look elsewhere\"\ndeny = [\"ls\"]\n";

/// A policy that names `files`.
fn policy_of(place: &Place, files: &[&str]) -> String {
    let path = place.file("p.json", &json!({"version": 1, "rules": files}).to_string());
    path.to_str().expect("a path").to_owned()
}

#[tokio::test]
async fn rules_that_are_read_while_the_store_opens_judge_the_call() {
    let place = Place::new();
    place.file("team.toml", RULE);
    let more = RULE
        .replace("team.ls", "team.who")
        .replace("\"ls\"", "\"who\"");
    place.file("more.toml", &more);
    let policy = policy_of(&place, &["team.toml", "more.toml"]);
    for (command, rule) in [("ls", "team.ls"), ("who", "team.who")] {
        let output = place.hook(&["--policy", &policy], shell_question(command).as_bytes());
        let reason = denial(&output).expect("a denial");
        assert!(reason.contains(rule), "{reason}");
    }
    let output = place.hook(&["--policy", &policy], shell_question("pwd").as_bytes());
    assert_eq!(denial(&output), None, "{}", text(&output.stdout));
    let mut rows = Rows::open(&place.store()).await;
    assert_eq!(rows.count("audit WHERE decision = 'denied'").await, 2);
}

#[test]
fn a_rule_file_that_cannot_be_had_denies_and_names_the_place() {
    let place = Place::new();
    place.file("team.toml", RULE);
    place.file("broken.toml", &RULE.replace("tier", "tear"));
    place.file("long.toml", &"#".repeat((1 << 20) + 1));
    std::fs::create_dir(place.path("folder.toml")).expect("a folder");
    let made = std::process::Command::new("mkfifo")
        .arg(place.path("pipe.toml"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    let cases: &[(&[&str], &str)] = &[
        (&["broken.toml"], "broken.toml:4:1: unknown field `tear`"),
        (&["team.toml", "broken.toml"], "broken.toml:4:1: "),
        (
            &["team.toml", "team.toml"],
            "team.toml:3:6: the id `team.ls` is taken",
        ),
        (&["team.toml", "gone.toml"], "gone.toml: No such file"),
        (&["folder.toml"], "folder.toml: it is no regular file"),
        (
            &["long.toml"],
            "long.toml: 1048577 bytes are more than 1048576",
        ),
        (&["pipe.toml"], "pipe.toml: it is no regular file"),
    ];
    for (files, wanted) in cases {
        let policy = policy_of(&place, files);
        let output = place.hook(&["--policy", &policy], shell_question("pwd").as_bytes());
        let reason = denial(&output).expect("a denial");
        let wanted = format!("policy {policy}: {}", place.path(wanted).display());
        assert!(reason.contains(&wanted), "{reason}");
        assert_eq!(
            std::fs::metadata(place.path("state.db-wal")).map_or(0, |log| log.len()),
            0,
            "{files:?} leave a log behind"
        );
    }
}

#[test]
fn a_policy_that_is_a_pipe_denies_at_once() {
    let place = Place::new();
    let pipe = place.path("pipe.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let pipe = pipe.to_str().expect("a path");
    for option in ["--policy", "--redact"] {
        let output = place.hook(&[option, pipe], shell_question("pwd").as_bytes());
        let reason = denial(&output).expect("a denial");
        assert!(
            reason.contains("pipe.toml: it is no regular file"),
            "{reason}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_refused() {
    let place = Place::new();
    let nested = format!(
        "{{\"hook_event_name\":\"PreToolUse\",\"x\":{}",
        "[".repeat(20_000)
    );
    let questions: &[&[u8]] = &[
        b"",
        b"   \n",
        b"null",
        b"[]",
        b"\"text\"",
        b"{",
        b"{\"hook_event_name\":\"PreToolUse\"",
        b"{\"hook_event_name\":\"PreToolUse\"} trailing",
        b"{}\n{}",
        b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\"}",
        b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":7,\"tool_input\":{}}",
        b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"tool_input\":{\"command\":\"rm -rf /\"}}",
        b"\xff\xfe{}",
        nested.as_bytes(),
    ];
    for question in questions {
        let output = place.hook(&[], question);
        let shown = text(&question[..question.len().min(80)]);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(output.stdout.is_empty(), "{shown}");
        assert!(
            !output.stderr.is_empty(),
            "{shown}: a refusal needs a reason"
        );
    }
}

#[test]
fn odd_but_readable_questions_are_judged() {
    let place = Place::new();
    let bom = format!("\u{feff}{}", shell_question("rm -rf /"));
    let questions = [
        bom,
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Bash",
            "tool_input": "rm -rf /"})
        .to_string(),
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "bash",
            "tool_input": {"command": ["rm", "-rf", "/"]}})
        .to_string(),
    ];
    for question in questions {
        assert!(
            denial(&place.hook(&[], question.as_bytes())).is_some(),
            "{question}"
        );
    }
}

#[test]
fn a_store_that_cannot_be_opened_denies() {
    let place = Place::new();
    std::fs::create_dir(place.store()).expect("a folder in the store's place");
    let output = place.hook(&[], shell_question("ls").as_bytes());
    assert!(output.status.success());
    assert!(denial(&output).expect("a denial").contains("is not a file"));
    let codex = place.hook(&["--harness", "codex"], shell_question("ls").as_bytes());
    assert!(denial(&codex).is_some());
}

#[test]
fn a_permission_request_is_refused_in_its_own_form() {
    let place = Place::new();
    let question = shell_question("rm -rf /").replace("PreToolUse", "PermissionRequest");
    let output = place.hook(&[], question.as_bytes());
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["hookSpecificOutput"]["decision"]["behavior"], "deny");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_host_that_never_closes_the_pipe_is_answered() {
    let place = Place::new();
    let question = shell_question("rm -rf /");
    let mut child = place
        .command(&["hook"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut pipe, question.as_bytes()).expect("the question is read");
    let output = child.wait_with_output().expect("an answer");
    assert!(denial(&output).is_some());
    drop(pipe);
}

#[test]
fn a_host_that_says_nothing_is_refused_when_the_time_is_over() {
    let place = Place::new();
    let started = Instant::now();
    let mut child = place
        .command(&["hook", "--timeout", "200ms"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let pipe = child.stdin.take().expect("a pipe");
    let output = child.wait_with_output().expect("an answer");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("in time"));
    assert!(started.elapsed() < Duration::from_secs(10));
    drop(pipe);
}

#[test]
fn what_triplane_creates_is_private() {
    let place = Place::new();
    let output = std::process::Command::new(crate::program::program())
        .args(["hook"])
        .current_dir(place.path(""))
        .stdin(std::fs::File::open(place.file("q", &shell_question("ls"))).expect("a question"))
        .output()
        .expect("the program answers");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mode = |name: &str| {
        std::fs::metadata(place.path(name))
            .expect(name)
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(".triplane"), 0o700);
    assert_eq!(mode(".triplane/state.db"), 0o600);
    let ignored = std::fs::read_to_string(place.path(".triplane/.gitignore")).expect("a file");
    assert_eq!(ignored.trim(), "*");
}

#[test]
fn the_printed_configuration_names_this_program_and_an_absolute_store() {
    let place = Place::new();
    for harness in ["claude", "codex"] {
        let output = place.run(&["hook", "--print-config", harness]);
        let config: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = config.to_string();
        assert!(
            text.contains(place.store().to_str().expect("a path")),
            "{text}"
        );
        assert!(text.contains("PreToolUse"), "{text}");
    }
    assert!(
        !place.store().exists(),
        "printing settings touches no store"
    );
    assert!(workspace().exists());
}

#[tokio::test]
async fn deliver_conveys_what_hooks_left() {
    let place = Place::new();
    for command in ["ls", "rm -rf /", "git status"] {
        let output = place.hook(&[], shell_question(command).as_bytes());
        assert!(output.status.success());
    }
    assert_eq!(
        place.summary(&["deliver", "--once", "--json"])["delivered"],
        3
    );
    assert_eq!(
        place.summary(&["deliver", "--once", "--json"])["delivered"],
        0
    );
    let sink = std::fs::read_to_string(place.path("deliveries.jsonl")).expect("a sink");
    assert_eq!(sink.lines().count(), 3);
}
