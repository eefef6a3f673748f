use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::tool_call::{Presence, Workspace};

fn policy(file: Value) -> Result<PermissionPolicy, String> {
    serde_json::from_value(file).map_err(|error| error.to_string())
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        session: "s".into(),
        agent: None,
        tool: tool.into(),
        arguments,
        call_id: None,
        cwd: None,
        workspace: Workspace {
            root: PathBuf::from("/w"),
            home: None,
            presence: Presence::Elsewhere,
        },
    }
}

#[test]
fn a_wrong_file_is_refused_with_its_place() {
    let check = |file: Value, wanted: &str| {
        let error = policy(file).expect_err("refused");
        assert!(
            error.contains(wanted),
            "{error:?} should contain {wanted:?}"
        );
    };
    check(json!({"version": 2}), "version: 2 is not 1");
    check(json!({}), "missing field `version`");
    check(json!({"version": 1, "denny": []}), "unknown field `denny`");
    check(
        json!({"version": 1, "deny": [{"tool": "Bash", "glob": "x"}]}),
        "unknown field `glob`",
    );
    check(
        json!({"version": 1, "deny": [{"tool": ""}]}),
        "deny[0].tool: must not be empty",
    );
    check(
        json!({"version": 1, "deny": [{"tool": "a"}, {"tool": "a", "pattern": "x"}]}),
        "deny[1]: `argument` and `pattern` go together",
    );
    check(
        json!({"version": 1, "allow": [{"tool": "a", "argument": "c", "pattern": "("}]}),
        "allow[0].pattern: regex parse error",
    );
    check(
        json!({"version": 1, "allow": [{"tool": "a", "argument": "c..d", "pattern": "x"}]}),
        "allow[0].argument: \"c..d\" is not a dotted path",
    );
    check(
        json!({"version": 1, "allow": [{"id": "x", "tool": "a"}], "deny": [{"id": "x", "tool": "b"}]}),
        "deny[0].id: the id \"x\" is taken",
    );
}

#[test]
fn deny_speaks_before_allow_and_allow_narrows() {
    let policy = policy(json!({
        "version": 1,
        "allow": [{"tool": "Bash", "argument": "command", "pattern": "^git "}],
        "deny": [{"id": "no-push", "tool": "Bash", "argument": "command", "pattern": r"\bpush\b", "reason": "ask first"}],
    }))
    .expect("a policy");
    let check = |tool: &str, command: Value, wanted: Result<(), &str>| {
        let got = policy.permit(&call(tool, json!({"command": command.clone()})));
        assert_eq!(
            got.map_err(|finding| finding.rule),
            wanted.map_err(str::to_owned),
            "{command}"
        );
    };
    check("Bash", json!("git status"), Ok(()));
    check("Bash", json!("git push"), Err("no-push"));
    check("bash", json!(["git", "push"]), Err("no-push"));
    check("Bash", json!("ls"), Err("policy.not-allowed"));
    check("Read", json!("anything"), Ok(()));
}

#[test]
fn a_denial_points_at_the_offending_part() {
    let policy = policy(json!({
        "version": 1,
        "deny": [{"tool": "*", "argument": "command", "pattern": "curl"}],
    }))
    .expect("a policy");
    let finding = policy
        .permit(&call("Bash", json!({"command": "x; curl y"})))
        .expect_err("denied");
    assert_eq!(finding.rule, "policy.deny[0]");
    assert_eq!(
        finding.offence,
        Some(Offence {
            text: "curl".into(),
            span: Some(3..7)
        })
    );
}

#[test]
fn a_pattern_too_large_to_compile_refuses_what_it_might_match() {
    let policy = policy(json!({
        "version": 1,
        "deny": [{"id": "huge", "tool": "Bash", "argument": "command", "pattern": r"(\w{900}){900}"}],
    }))
    .expect("a policy");
    assert!(
        policy
            .permit(&call("Bash", json!({"command": "ls"})))
            .is_err()
    );
    assert!(
        policy
            .permit(&call("Read", json!({"command": "ls"})))
            .is_ok()
    );
}

#[test]
fn rewrites_compose_in_order() {
    let policy = policy(json!({
        "version": 1,
        "rewrite": [
            {"id": "ci", "tool": "Bash", "argument": "command", "pattern": "npm install", "replace": "npm ci"},
            {"id": "quiet", "tool": "Bash", "argument": "command", "pattern": "npm (ci)", "replace": "npm -s $1"},
        ],
    }))
    .expect("a policy");
    let made = policy
        .rewrite(&call(
            "Bash",
            json!({"command": "npm install", "timeout": 5}),
        ))
        .expect("no refusal")
        .expect("rewritten");
    assert_eq!(
        made.arguments,
        json!({"command": "npm -s ci", "timeout": 5})
    );
    assert_eq!(made.rule, "ci,quiet");
    assert_eq!(
        policy
            .rewrite(&call("Bash", json!({"command": "ls"})))
            .expect("no refusal"),
        None
    );
}
