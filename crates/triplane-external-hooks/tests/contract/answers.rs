//! What is said to a harness, whole answers compared.

use serde_json::{Value, json};
use triplane_external_hooks::{
    EVENTS, Harness, HarnessAnswer, HookEvent, Refusal, Ruling, answer, answer_unreadable,
};
use triplane_interception::{Finding, Offence};

use Harness::{Claude, Codex};

const REASON: &str = "it deletes home [rm.home]";

fn event(name: &str) -> HookEvent {
    let text =
        json!({ "hook_event_name": name, "tool_name": "Bash", "tool_input": {"command": "x"} });
    HookEvent::read(text.to_string().as_bytes()).unwrap()
}

fn denied() -> Ruling {
    Ruling::Deny(Finding::new("rm.home", "it deletes home"))
}

fn rewritten(arguments: Value) -> Ruling {
    let reason = "use ci".to_owned();
    Ruling::Rewrite { arguments, reason }
}

fn said(stdout: &Value) -> HarnessAnswer {
    HarnessAnswer {
        stdout: format!("{stdout}\n"),
        ..HarnessAnswer::default()
    }
}

fn exited(exit: u8, stderr: &str) -> HarnessAnswer {
    HarnessAnswer {
        stderr: format!("{stderr}\n"),
        exit,
        ..HarnessAnswer::default()
    }
}

fn check(harness: Harness, name: &str, ruling: &Ruling, wanted: &HarnessAnswer) {
    assert_eq!(
        &answer(harness, &event(name), ruling),
        wanted,
        "{harness} {name}"
    );
}

#[test]
fn allow_is_silence_on_every_known_event() {
    let silence = HarnessAnswer::default();
    for spec in EVENTS {
        for harness in [Claude, Codex] {
            if spec
                .refusal(harness)
                .is_some_and(|form| form != Refusal::Replacement)
            {
                check(harness, spec.name, &Ruling::Allow, &silence);
            }
        }
    }
}

#[test]
fn a_refusal_takes_the_form_of_its_event() {
    let permission = said(&json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": REASON,
    }}));
    let behavior = said(&json!({ "hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": { "behavior": "deny", "message": REASON },
    }}));
    let block = said(&json!({ "decision": "block", "reason": REASON }));
    let stop = said(&json!({ "continue": false, "stopReason": REASON }));
    let exit = exited(2, REASON);

    for harness in [Claude, Codex] {
        check(harness, "PreToolUse", &denied(), &permission);
        check(harness, "PermissionRequest", &denied(), &behavior);
        for name in ["UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop"] {
            check(harness, name, &denied(), &block);
        }
    }
    check(Claude, "PreCompact", &denied(), &block);
    check(Codex, "PreCompact", &denied(), &stop);
    for name in ["UserPromptExpansion", "PostToolBatch", "ConfigChange"] {
        check(Claude, name, &denied(), &block);
    }
    for name in [
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "PreModelSwitch",
        "Elicitation",
        "ElicitationResult",
        "WorktreeCreate",
    ] {
        check(Claude, name, &denied(), &exit);
    }
}

#[test]
fn where_nothing_can_be_refused_the_hook_fails_visibly() {
    for spec in EVENTS {
        for harness in [Claude, Codex] {
            if spec.refusal(harness) == Some(Refusal::Impossible) {
                check(harness, spec.name, &denied(), &exited(1, REASON));
            }
        }
    }
}

#[test]
fn an_agent_is_kept_from_stopping_once_at_most() {
    let text = br#"{"hook_event_name":"Stop","stop_hook_active":true}"#;
    let again = HookEvent::read(text).unwrap();
    for harness in [Claude, Codex] {
        assert_eq!(answer(harness, &again, &denied()), exited(1, REASON));
    }
    let call = br#"{"hook_event_name":"PreToolUse","tool_name":"x","tool_input":{},"stop_hook_active":true}"#;
    let refused = answer(Claude, &HookEvent::read(call).unwrap(), &denied());
    assert!(refused.stdout.contains("deny"));
}

#[test]
fn a_rewrite_stands_beside_an_explicit_allow() {
    let arguments = json!({ "command": "npm ci", "timeout": 5 });
    let wanted = said(&json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": "use ci",
        "updatedInput": arguments,
    }}));
    check(Claude, "PreToolUse", &rewritten(arguments.clone()), &wanted);
    check(Codex, "PreToolUse", &rewritten(arguments), &wanted);
}

#[test]
fn a_rewrite_that_cannot_be_expressed_is_a_refusal_that_says_what_to_do() {
    let arguments = json!({ "command": "npm ci" });
    let reason = r#"use ci Call the tool with {"command":"npm ci"} instead."#;
    let wanted = said(&json!({ "hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": { "behavior": "deny", "message": reason },
    }}));
    check(
        Claude,
        "PermissionRequest",
        &rewritten(arguments.clone()),
        &wanted,
    );
    check(
        Codex,
        "PermissionRequest",
        &rewritten(arguments.clone()),
        &wanted,
    );
    check(
        Claude,
        "Tomorrow",
        &rewritten(arguments),
        &exited(2, reason),
    );

    let text_only = answer(Claude, &event("PreToolUse"), &rewritten(json!("npm ci")));
    assert!(text_only.stdout.contains(r#""permissionDecision":"deny""#));
}

#[test]
fn an_unknown_event_is_answered_loudly_and_refused_by_exit_code() {
    for (harness, name) in [
        (Claude, "Tomorrow"),
        (Codex, "Tomorrow"),
        (Codex, "Elicitation"),
    ] {
        let allowed = answer(harness, &event(name), &Ruling::Allow);
        let stdout: Value = serde_json::from_str(&allowed.stdout).unwrap();
        let message = stdout["systemMessage"].as_str().unwrap();
        assert!(
            message.contains(name) && message.contains(harness.as_str()),
            "{message}"
        );
        assert_eq!(stdout.as_object().unwrap().len(), 1);
        assert_eq!((allowed.stderr.trim_end(), allowed.exit), (message, 0));
        check(harness, name, &denied(), &exited(2, REASON));
    }
}

#[test]
fn a_hook_that_replaces_the_harness_s_work_never_stays_silent() {
    let allowed = answer(Claude, &event("WorktreeCreate"), &Ruling::Allow);
    assert_eq!((allowed.exit, allowed.stdout.as_str()), (2, ""));
    assert!(allowed.stderr.contains("WorktreeCreate"));
}

#[test]
fn a_question_that_cannot_be_read_is_refused_with_a_reason() {
    let check = |text: &[u8], wanted: &HarnessAnswer| {
        let unreadable = HookEvent::read(text).unwrap_err();
        for harness in [Claude, Codex] {
            assert_eq!(&answer_unreadable(harness, &unreadable), wanted);
        }
    };
    let because = |why| format!("triplane cannot read this event and refuses it: {why}.");
    check(b"", &exited(2, &because("the text is empty (byte 0)")));
    check(
        br#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#,
        &exited(
            2,
            &because("the field is missing or empty (field `tool_input`)"),
        ),
    );
    check(
        br#"{"hook_event_name":"PermissionRequest","tool_name":"Bash"}"#,
        &said(&json!({ "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {
                "behavior": "deny",
                "message": because("the field is missing or empty (field `tool_input`)"),
            },
        }})),
    );
}

#[test]
fn a_reason_is_never_empty_never_endless_and_never_moves_the_cursor() {
    let told = |rule: &str, reason: &str| {
        answer(
            Claude,
            &event("TaskCreated"),
            &Ruling::Deny(Finding::new(rule, reason)),
        )
        .stderr
    };
    assert_eq!(told("r", ""), "[r]\n");
    assert_eq!(told("r", "a\u{1b}[2J\nb"), "a [2J b [r]\n");
    assert!(told("r", &"é".repeat(100_000)).chars().count() < 8_010);

    let mut finding = Finding::new("rm.home", "it deletes home");
    finding.safer = Some("name the folder".to_owned());
    finding.offence = Some(Offence {
        text: "~".to_owned(),
        span: Some(7..8),
    });
    let told = answer(Claude, &event("TaskCreated"), &Ruling::Deny(finding)).stderr;
    assert_eq!(
        told,
        "it deletes home [rm.home] At 7..8: `~`. Safer: name the folder\n"
    );
}

#[test]
fn no_answer_to_codex_holds_a_field_beyond_its_schema() {
    let top = [
        "continue",
        "stopReason",
        "systemMessage",
        "decision",
        "reason",
        "hookSpecificOutput",
    ];
    let nested = [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "decision",
    ];
    let rulings = [
        Ruling::Allow,
        denied(),
        rewritten(json!({ "command": "y" })),
    ];
    for name in EVENTS.iter().map(|spec| spec.name).chain(["Tomorrow"]) {
        for ruling in &rulings {
            let answer = answer(Codex, &event(name), ruling);
            if answer.stdout.is_empty() {
                continue;
            }
            let stdout: Value = serde_json::from_str(&answer.stdout).unwrap();
            let keys = |value: &Value| -> Vec<String> {
                value
                    .as_object()
                    .map(|map| map.keys().cloned().collect())
                    .unwrap_or_default()
            };
            assert!(
                keys(&stdout).iter().all(|key| top.contains(&key.as_str())),
                "{stdout}"
            );
            let inner = keys(&stdout["hookSpecificOutput"]);
            assert!(
                inner.iter().all(|key| nested.contains(&key.as_str())),
                "{stdout}"
            );
        }
    }
}
