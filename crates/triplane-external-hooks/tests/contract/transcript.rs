//! From the entries of a transcript to events.

use proptest::prelude::*;
use serde_json::{Value, json};
use triplane_external_hooks::{Entry, Format, HookEvent, Source, content_digest, identity};

/// Everything that a file yields, one text each.
fn found(lines: &[String]) -> Vec<String> {
    let file = lines.join("\n");
    Source::new(file.as_bytes(), Format::ClaudeTranscript, 1 << 20)
        .map(|item| {
            let item = item.unwrap();
            match item.what {
                Entry::Event(event) => format!("{} {}", item.line, told(&event)),
                Entry::WithoutEvent => format!("{} -", item.line),
                Entry::Skipped(skip) => format!("{} skipped: {skip}", item.line),
            }
        })
        .collect()
}

fn told(event: &HookEvent) -> String {
    let input = event.tool_input().map(ToString::to_string);
    let response = event.tool_response().map(|text| format!("={text}"));
    let prompt = event.prompt().map(|text| format!("{text:?}"));
    let error = event.error().map(|text| format!("!{text:?}"));
    let pieces = [
        Some(identity(event, 1)),
        event.agent_id().map(|agent| format!("@{agent}")),
        event.tool_name().map(str::to_owned),
        input,
        response,
        prompt,
        error,
    ];
    pieces.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// An entry of session `s` without an id, so that no session events stand on it.
fn entry(kind: &str, content: &Value) -> String {
    json!({ "type": kind, "sessionId": "s", "cwd": "/srv/shop", "message": { "content": content } })
        .to_string()
}

fn check(lines: &[String], wanted: &[&str]) {
    assert_eq!(found(lines), wanted);
}

#[test]
fn calls_and_results_become_hook_events() {
    check(
        &[
            entry(
                "assistant",
                &json!([
                    { "type": "text", "text": "both" },
                    { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } },
                    { "type": "tool_use", "id": "t2", "name": "Read", "input": { "file_path": "a" } },
                ]),
            ),
            entry(
                "user",
                &json!([
                    { "type": "tool_result", "tool_use_id": "t2", "is_error": true,
                      "content": [{ "type": "text", "text": "no" }, { "type": "text", "text": "file" }] },
                    { "type": "text", "text": "[Request interrupted by user for tool use]" },
                ]),
            ),
            entry(
                "user",
                &json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "x" }]),
            ),
            entry(
                "user",
                &json!([{ "type": "tool_result", "tool_use_id": "t9", "content": [] }]),
            ),
        ],
        &[
            r#"1 s/PreToolUse/call.t1 Bash {"command":"ls"}"#,
            r#"1 s/PreToolUse/call.t2 Read {"file_path":"a"}"#,
            r#"2 s/PostToolUseFailure/call.t2 Read !"no\nfile""#,
            r#"3 s/PostToolUse/call.t1 Bash ="x""#,
            "4 s/PostToolUse/call.t9 =[]",
        ],
    );
}

#[test]
fn only_what_was_typed_is_a_prompt() {
    let meta = |mark: &str| {
        json!({ "type": "user", "sessionId": "s", mark: true, "message": { "content": "x" } })
            .to_string()
    };
    let prompt = |n: u64, text: &str| {
        json!({ "type": "user", "sessionId": "s", "uuid": format!("u{n}"), "cwd": "/srv/shop",
                "message": { "content": text } })
        .to_string()
    };
    let lines = [
        prompt(1, "fix it"),
        entry("user", &json!("<command-name>/clear</command-name>")),
        entry(
            "user",
            &json!("<local-command-stdout>done</local-command-stdout>"),
        ),
        entry(
            "user",
            &json!([{ "type": "text", "text": "[Request interrupted by user]" }]),
        ),
        meta("isMeta"),
        meta("isCompactSummary"),
        entry("user", &json!([])),
        entry("assistant", &json!("text only")),
    ];
    check(
        &lines,
        &[
            "1 s/SessionStart/entry.u1",
            r#"1 s/UserPromptSubmit/entry.u1 "fix it""#,
            "2 -",
            "3 -",
            "4 -",
            "5 -",
            "6 -",
            "7 -",
            "8 -",
            "1 s/SessionEnd/entry.u1",
        ],
    );
    let picture = json!({ "type": "user", "sessionId": "s", "message": { "content": [
        { "type": "text", "text": "what is" }, { "type": "image" }, { "type": "text", "text": "this?" },
    ]}});
    let asked = found(&[picture.to_string()]);
    assert!(asked[0].ends_with(r#""what is\nthis?""#), "{asked:?}");
}

#[test]
fn a_subagent_s_entries_name_it() {
    let side = |agent: Value, call: &str| {
        let mut entry = json!({ "type": "assistant", "sessionId": "s", "isSidechain": true,
            "message": { "content": [{ "type": "tool_use", "id": call, "name": "Read", "input": {} }] } });
        entry["agentId"] = agent;
        entry.to_string()
    };
    check(
        &[
            side(json!("a7"), "t1"),
            side(Value::Null, "t2").replace(r#""agentId":null,"#, ""),
            side(json!("a7"), "t3").replace(r#""isSidechain":true"#, r#""isSidechain":false"#),
        ],
        &[
            "1 s/PreToolUse/call.t1 @a7 Read {}",
            "2 s/PreToolUse/call.t2 @sidechain Read {}",
            "3 s/PreToolUse/call.t3 Read {}",
        ],
    );
}

#[test]
fn what_cannot_be_read_and_what_is_not_known_is_skipped() {
    check(
        &[
            r#"{"type":"user","message":{"role":"user","content":"cut off in the mid"#.to_owned(),
            json!({ "type": "tomorrow", "sessionId": "s" }).to_string(),
            json!({ "type": "summary", "summary": "x" }).to_string(),
            json!({ "type": "attachment" }).to_string(),
            json!({ "type": "queue-operation" }).to_string(),
            json!({ "sessionId": "s" }).to_string(),
            json!({ "type": "user" }).to_string(),
            entry("assistant", &json!(7)),
            entry(
                "assistant",
                &json!([
                    { "type": "tool_use", "id": "t1", "name": 7, "input": {} },
                    { "type": "tool_use", "id": "t2", "name": "Bash", "input": {} },
                    { "type": "tool_use", "name": "Bash", "input": {} },
                ]),
            ),
            r#"{"type":"assistant","type":"user"}"#.to_owned(),
        ],
        &[
            "1 skipped: the text is cut off (byte 69)",
            r#"2 skipped: entries of type "tomorrow" are not known"#,
            "3 -",
            "4 -",
            "5 -",
            "6 skipped: the field is missing or empty (field `type`)",
            "7 skipped: the field is missing or empty (field `message.content`)",
            "8 skipped: expected a string or an array, found a number (field `message.content`)",
            "9 skipped: expected a string, found a number (field `tool_name`)",
            "9 s/PreToolUse/call.t2 Bash {}",
            "9 skipped: the field is missing or empty (field `id`)",
            r#"10 skipped: the key "type" stands twice in one object (byte 20)"#,
        ],
    );
}

fn standing(session: &str, uuid: &str) -> String {
    json!({ "type": "system", "sessionId": session, "uuid": uuid, "cwd": "/srv/shop" }).to_string()
}

#[test]
fn a_session_starts_with_its_first_entry_and_ends_with_its_last() {
    let lines = [
        standing("a", "1"),
        standing("b", "2"),
        standing("a", "3"),
        json!({ "type": "tomorrow", "sessionId": "a", "uuid": "4" }).to_string(),
    ];
    check(
        &lines,
        &[
            "1 a/SessionStart/entry.1",
            "1 -",
            "2 b/SessionStart/entry.2",
            "2 -",
            "3 -",
            r#"4 skipped: entries of type "tomorrow" are not known"#,
            "2 b/SessionEnd/entry.2",
            "3 a/SessionEnd/entry.3",
        ],
    );
}

#[test]
fn a_file_that_has_grown_yields_the_same_events_and_one_further_end() {
    let before = [standing("a", "1"), standing("a", "2")];
    let after = [standing("a", "1"), standing("a", "2"), standing("a", "3")];
    let events = |lines: &[String]| -> Vec<String> {
        let all = found(lines)
            .into_iter()
            .filter_map(|f| Some(f.split_once(' ')?.1.to_owned()));
        all.filter(|event| event != "-").collect()
    };
    let before = events(&before);
    let new: Vec<_> = events(&after)
        .into_iter()
        .filter(|event| !before.contains(event))
        .collect();
    assert_eq!(new, ["a/SessionEnd/entry.3"]);
}

fn first_event(line: &str) -> Box<HookEvent> {
    let mut source = Source::new(line.as_bytes(), Format::ClaudeTranscript, 1 << 20);
    match source.next().unwrap().unwrap().what {
        Entry::Event(event) => event,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_stored_event_keeps_the_very_text_of_the_entry() {
    let line = r#"{"type":"assistant","sessionId":"s\u0031","timestamp":"2026-11-02T09:00:02Z","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo \ud800","n":123456789012345678901234567890,"f":1.0}}]}}"#;
    let event = first_event(line);
    assert_eq!(
        event.original().get(),
        r#"{"hook_event_name":"PreToolUse","session_id":"s\u0031","timestamp":"2026-11-02T09:00:02Z","tool_name":"Bash","tool_input":{"command":"echo \ud800","n":123456789012345678901234567890,"f":1.0},"tool_use_id":"t"}"#
    );
    assert_eq!(event.session_id(), "s1");
    assert_eq!(
        event.occurred_at_us(),
        Some(1_793_610_000_000_000 + 2_000_000)
    );
}

#[test]
fn words_are_stored_as_they_were_written() {
    let line = r#"{"type":"user","sessionId":"s","message":{"content":[{"type":"text","text":"a \ud800 \u00e9"}]}}"#;
    let prompt = first_event(line);
    assert_eq!(prompt.prompt().as_deref(), Some("a \u{fffd} é"));
    assert!(
        prompt
            .original()
            .get()
            .ends_with(r#""prompt":"a \ud800 \u00e9"}"#)
    );
}

#[test]
fn a_call_seen_live_and_found_again_in_a_transcript_is_the_same_call() {
    let live = HookEvent::read(
        br#"{"hook_event_name":"PreToolUse","session_id":"s","tool_use_id":"t","tool_name":"Bash",
             "tool_input":{"timeout":5,"command":"ls"},"permission_mode":"default"}"#,
    )
    .unwrap();
    let written = entry(
        "assistant",
        &json!([
            { "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "ls", "timeout": 5 } },
        ]),
    );
    let again = first_event(&written);
    assert_eq!(identity(&live, 1), identity(&again, 1));
    assert_eq!(content_digest(&live), content_digest(&again));
}

#[test]
fn the_digest_of_a_result_covers_its_whole_entry() {
    let result = |ms: u64| {
        json!({ "type": "user", "sessionId": "s", "durationMs": ms,
                "message": { "content": [{ "type": "tool_result", "tool_use_id": "t" }] } })
        .to_string()
    };
    let one = content_digest(&first_event(&result(1)));
    assert_eq!(one.shape.as_str(), "claude-transcript");
    assert_eq!(
        one,
        content_digest(&first_event(&format!(" {}\r", result(1))))
    );
    assert_ne!(one, content_digest(&first_event(&result(2))));
}

#[test]
fn more_sessions_than_are_followed_are_ended_early_and_in_order() {
    let lines: Vec<_> = (0..10_000)
        .map(|n| standing(&format!("s{n}"), "u"))
        .collect();
    let found = found(&lines);
    let of = |name: &str| found.iter().filter(|f| f.contains(name)).count();
    assert_eq!((of("/SessionStart/"), of("/SessionEnd/")), (10_000, 10_000));
    let ends: Vec<u64> = found
        .iter()
        .filter(|f| f.contains("/SessionEnd/"))
        .map(|f| f.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(ends.is_sorted());
}

proptest! {
    #[test]
    fn no_damage_to_a_line_panics_the_source_or_loses_another_line(
        cut in any::<prop::sample::Index>(),
        byte in any::<u8>().prop_filter("a line break makes two lines", |byte| *byte != b'\n'),
    ) {
        let line = entry("assistant", &json!([
            { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls é" } },
        ]));
        let mut file = line.into_bytes();
        let at = cut.index(file.len());
        file[at] = byte;
        file.extend_from_slice(format!("\n{}", standing("z", "9")).as_bytes());
        let last = Source::new(file.as_slice(), Format::ClaudeTranscript, 1 << 20).last();
        match last.unwrap().unwrap().what {
            Entry::Event(event) => prop_assert_eq!(identity(&event, 1), "z/SessionEnd/entry.9"),
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
