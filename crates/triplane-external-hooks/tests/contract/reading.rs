//! What is an event and what is not.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use triplane_external_hooks::{Fault, Harness, HookEvent, Phase, Place};
use triplane_interception::{Presence, Workspace};

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hooks");
    fs::read(folder.join(name)).unwrap()
}

fn workspace() -> Workspace {
    Workspace {
        root: "/w/app".into(),
        home: None,
        presence: Presence::Elsewhere,
    }
}

/// Checks the fault, its place, and the event that the text claims to be.
fn check(text: &str, fault: &Fault, place: &Place, event: Option<&str>) {
    check_bytes(text.as_bytes(), fault, place, event);
}

fn check_bytes(bytes: &[u8], fault: &Fault, place: &Place, event: Option<&str>) {
    let refused = HookEvent::read(bytes).expect_err("must not be read");
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(&refused.fault, fault, "{text}");
    assert_eq!(&refused.place, place, "{text}");
    assert_eq!(refused.event.as_deref(), event, "{text}");
}

fn wrong_type(wanted: &'static str, found: &'static str) -> Fault {
    Fault::WrongType { wanted, found }
}

#[test]
fn a_call_of_the_main_agent_is_read_with_all_its_ids() {
    let event = HookEvent::read(&fixture("stdin-claude-pretooluse-bash.json")).unwrap();
    assert_eq!(event.name(), "PreToolUse");
    assert_eq!(event.phase(), Phase::Before);
    assert!(event.can_block(Harness::Claude));
    let call = event.tool_call(workspace()).unwrap();
    assert_eq!(call.session, "5f0c2a4e-demo");
    assert_eq!(call.agent, None);
    assert_eq!(call.tool, "Bash");
    assert_eq!(call.arguments["command"], "rm -rf /");
    assert_eq!(call.arguments["timeout"], 120_000);
    assert_eq!(call.call_id.as_deref(), Some("toolu_01"));
    assert_eq!(call.cwd.as_deref(), Some(Path::new("/w/app")));
}

#[test]
fn a_call_of_a_subagent_names_it() {
    let event = HookEvent::read(&fixture("stdin-claude-pretooluse-subagent-mcp.json")).unwrap();
    let call = event.tool_call(workspace()).unwrap();
    assert_eq!(call.agent.as_deref(), Some("ag-3"));
    assert_eq!(call.tool, "mcp__files__delete_tree");
}

#[test]
fn a_patch_arrives_whole() {
    let event = HookEvent::read(&fixture("stdin-codex-apply-patch.json")).unwrap();
    assert!(event.can_block(Harness::Codex));
    let call = event.tool_call(workspace()).unwrap();
    let patch = call.arguments["command"].as_str().unwrap();
    assert!(patch.contains("*** Update File: .codex/hooks.json\n@@\n"));
}

#[test]
fn a_prompt_is_text_and_no_call() {
    let event = HookEvent::read(&fixture("stdin-claude-prompt.json")).unwrap();
    let prompt = "Why is `rm -rf /` refused by newer coreutils?";
    assert_eq!(event.prompt().as_deref(), Some(prompt));
    assert_eq!(event.tool_call(workspace()), None);
}

#[test]
fn a_lone_surrogate_is_judged_as_a_replacement_and_stored_as_it_was() {
    let bytes = fixture("stdin-claude-write-unicode.json");
    let event = HookEvent::read(&bytes).unwrap();
    let call = event.tool_call(workspace()).unwrap();
    let content = "a\r\nb\nc\u{2028} 🚀 e\u{301} \u{fffd} \"rm -rf /\" end";
    assert_eq!(call.arguments["content"], content);
    assert_eq!(call.arguments["file_path"], "/w/app/naïve/東京.md");
    let original = str::from_utf8(&bytes).unwrap().trim_ascii_end();
    assert_eq!(event.original().get(), original);
}

#[test]
fn of_the_malformed_bodies_only_the_two_that_guards_can_judge_are_read() {
    let set: Value = serde_json::from_slice(&fixture("stdin-malformed-set.json")).unwrap();
    let bodies = set["bodies"].as_array().unwrap();
    let read: Vec<_> = bodies
        .iter()
        .map(|body| HookEvent::read(body.as_str().unwrap().as_bytes()))
        .collect();
    let readable: Vec<_> = (0..read.len()).filter(|at| read[*at].is_ok()).collect();
    // A byte-order mark before a good question, and arguments that are a bare string.
    assert_eq!(readable, [9, 11]);
    for at in readable {
        let call = read[at].as_ref().unwrap().tool_call(workspace()).unwrap();
        assert!(call.arguments.to_string().contains("rm -rf /"));
    }
}

#[test]
fn what_is_no_event_is_refused_with_its_place() {
    let no_object = |found| Fault::NotAnObject { found };
    check("", &Fault::Empty, &Place::Byte(0), None);
    check(" \r\n", &Fault::Empty, &Place::Byte(0), None);
    check("\u{feff}", &Fault::Empty, &Place::Byte(3), None);
    check("null", &no_object("null"), &Place::Byte(0), None);
    check(" []", &no_object("an array"), &Place::Byte(1), None);
    check("\"x\"", &no_object("a string"), &Place::Byte(0), None);
    check("7", &no_object("a number"), &Place::Byte(0), None);
    check("{", &Fault::Cut, &Place::Byte(1), None);
    check(
        "{}",
        &Fault::Missing,
        &Place::Field("hook_event_name"),
        None,
    );
    check("{}\n{}", &Fault::Trailing, &Place::Byte(3), None);
    check("\u{feff}{} x", &Fault::Trailing, &Place::Byte(6), None);
    check_bytes(b"{\"a\":\"\xff\"}", &Fault::NotUtf8, &Place::Byte(6), None);
    check_bytes(b"\xed\xa0\x80", &Fault::NotUtf8, &Place::Byte(0), None);
    check(
        "\u{feff}\u{feff}{}",
        &Fault::Syntax {
            expected: "a value",
        },
        &Place::Byte(3),
        None,
    );
}

#[test]
fn a_proposed_call_needs_a_tool_and_arguments() {
    let pre = Some("PreToolUse");
    let input = |rest: &str| format!(r#"{{"hook_event_name":"PreToolUse",{rest}}}"#);
    let arguments = "an object, a string or an array";
    let tool_name = || Place::Field("tool_name");
    let tool_input = || Place::Field("tool_input");
    check(
        &input(r#""tool_input":{}"#),
        &Fault::Missing,
        &tool_name(),
        pre,
    );
    check(
        &input(r#""tool_name":"","tool_input":{}"#),
        &Fault::Missing,
        &tool_name(),
        pre,
    );
    check(
        &input(r#""tool_name":7,"tool_input":{}"#),
        &wrong_type("a string", "a number"),
        &tool_name(),
        pre,
    );
    check(
        &input(r#""tool_name":"Bash""#),
        &Fault::Missing,
        &tool_input(),
        pre,
    );
    check(
        &input(r#""tool_name":"Bash","tool_input":null"#),
        &Fault::Missing,
        &tool_input(),
        pre,
    );
    check(
        &input(r#""tool_name":"Bash","tool_input":true"#),
        &wrong_type(arguments, "true or false"),
        &tool_input(),
        pre,
    );
    check(
        &input(r#""tool_name":"Bash","tool_input":{},"session_id":[]"#),
        &wrong_type("a string", "an array"),
        &Place::Field("session_id"),
        pre,
    );
    check(
        r#"{"hook_event_name":"Tomorrow","tool_name":"Bash","tool_input":7}"#,
        &wrong_type(arguments, "a number"),
        &tool_input(),
        Some("Tomorrow"),
    );
    check(
        r#"{"hook_event_name":["PreToolUse"]}"#,
        &wrong_type("a string", "an array"),
        &Place::Field("hook_event_name"),
        None,
    );
}

#[test]
fn a_command_as_an_array_is_for_guards_to_judge() {
    let event = HookEvent::read(
        br#"{"hook_event_name":"PreToolUse","tool_name":"shell","tool_input":["rm","-rf","/"]}"#,
    )
    .unwrap();
    assert_eq!(event.tool_input().unwrap()[2], "/");
    assert_eq!(event.session_id(), "unknown");
}

#[test]
fn a_report_of_a_call_is_no_proposal() {
    let event = HookEvent::read(
        br#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},
             "tool_response":{"n":12345678901234567890123},"timestamp":"2026-11-02T09:00:02.686Z"}"#,
    )
    .unwrap();
    assert_eq!(event.tool_call(workspace()), None);
    assert_eq!(
        event.tool_response(),
        Some(r#"{"n":12345678901234567890123}"#)
    );
    assert_eq!(event.occurred_at_us(), Some(1_793_610_002_686_000));
    assert_eq!(event.phase(), Phase::After);
}

#[test]
fn an_unknown_event_that_carries_a_call_proposes_it() {
    let text = br#"{"hook_event_name":"BeforeTomorrow","tool_name":"Bash","tool_input":{}}"#;
    let event = HookEvent::read(text).unwrap();
    assert!(event.tool_call(workspace()).is_some());
    assert_eq!(event.phase(), Phase::Before);
    assert!(!event.can_block(Harness::Claude));
}

#[test]
fn a_repeated_key_hides_no_command_at_any_level() {
    let refused = |text: &str| {
        let fault = HookEvent::read(text.as_bytes()).unwrap_err().fault;
        assert!(
            matches!(fault, Fault::RepeatedKey { .. }),
            "{text}: {fault}"
        );
    };
    refused(r#"{"hook_event_name":"PreToolUse","hook_event_name":"Stop"}"#);
    refused(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","command":"rm"}}"#,
    );
    refused(r#"{"hook_event_name":"Stop","x":{"y":[{"z":1,"\u007a":2}]}}"#);
}

#[test]
fn nesting_that_would_overflow_a_stack_is_answered() {
    let arrays = |depth| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let event = |inner: String| {
        format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"x":{inner}}}}}"#
        )
    };
    assert!(HookEvent::read(event(arrays(126)).as_bytes()).is_ok());
    for depth in [127, 20_000, 5_000_000] {
        let fault = HookEvent::read(event(arrays(depth)).as_bytes())
            .unwrap_err()
            .fault;
        assert_eq!(fault, Fault::TooDeep { max: 128 });
    }
}

#[test]
fn a_refusal_reads_as_a_sentence() {
    let text = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#;
    let refused = HookEvent::read(text.as_bytes()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the field is missing or empty (field `tool_input`)"
    );
}

proptest! {
    #[test]
    fn no_bytes_panic_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = HookEvent::read(&bytes);
    }

    #[test]
    fn no_cut_or_changed_question_panics_the_reader(
        cut in 0_usize..400,
        changed in 0_usize..400,
        byte in any::<u8>(),
    ) {
        let mut bytes = fixture("stdin-claude-write-unicode.json");
        let len = bytes.len();
        bytes[changed % len] = byte;
        bytes.truncate(cut % (len + 1));
        if let Ok(event) = HookEvent::read(&bytes) {
            prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(event.original().get()).is_ok());
        }
    }
}
