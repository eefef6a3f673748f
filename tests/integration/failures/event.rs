//! Events at the edge of what JSON allows, and beyond it.
//!
//! What can be read is stored as it was written, byte for byte; what cannot is refused, with the
//! place of the fault.

use std::fmt::Write as _;

use crate::failures::row::{masked, show};
use crate::program::{Place, denial, text};
use crate::rows::Rows;

/// What a hook does with a question.
enum Wanted {
    /// Silence, and the original text in the store.
    Kept,
    /// A denial with this reason, and the original text in the store.
    Denied(&'static str),
    /// Exit code 2, this sentence, and nothing in the store.
    Refused(&'static str),
}
use Wanted::{Denied, Kept, Refused};

/// An event whose `tool_input` is `input`.
fn with_input(input: &str) -> String {
    format!(
        "{{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s1\",\"cwd\":\"/srv/app\",\
         \"tool_name\":\"Bash\",\"tool_input\":{input}}}"
    )
}

/// A harmless call with one more argument.
fn with_argument(argument: &str) -> String {
    with_input(&format!("{{\"command\":\"ls\",\"more\":{argument}}}"))
}

fn rows() -> Vec<(&'static str, String, Wanted)> {
    let plain = with_input("{\"command\":\"ls\"}");
    vec![
        (
            "unknown fields",
            plain.replacen('{', "{\"x_new\":{\"a\":[1,null]},", 1),
            Kept,
        ),
        (
            "odd white space",
            plain.replace(',', " ,\t").replace(':', " : "),
            Kept,
        ),
        (
            "no session",
            plain.replace("\"session_id\":\"s1\",", ""),
            Kept,
        ),
        (
            "no tool_input",
            plain.replace("\"tool_input\":{\"command\":\"ls\"}", "\"x\":1"),
            Refused("the field is missing or empty (field `tool_input`)"),
        ),
        (
            "no event name",
            plain.replace("\"hook_event_name\":\"PreToolUse\",", ""),
            Refused("the field is missing or empty (field `hook_event_name`)"),
        ),
        (
            "a number for the arguments",
            with_input("7"),
            Refused(
                "expected an object, a string or an array, found a number (field `tool_input`)",
            ),
        ),
        (
            "a number for the session",
            plain.replace("\"s1\"", "7"),
            Refused("expected a string, found a number (field `session_id`)"),
        ),
        (
            "a number for the command",
            with_input("{\"command\":7}"),
            Denied("the call of a shell holds no command that can be read [command.unreadable]"),
        ),
        (
            "a key twice",
            with_input("{\"command\":\"ls\",\"command\":\"rm -rf /\"}"),
            Refused("the key \"command\" stands twice in one object (byte 115)"),
        ),
        (
            "a key twice, once by its escape",
            with_input("{\"command\":\"ls\",\"\\u0063ommand\":\"rm -rf /\"}"),
            Refused("the key \"command\" stands twice in one object (byte 115)"),
        ),
        (
            "a lone surrogate",
            with_argument("\"\\ud800 and \\udfff\""),
            Kept,
        ),
        (
            "a lone surrogate in the session",
            plain.replace("\"s1\"", "\"s\\ud800\""),
            Kept,
        ),
        ("2^53 + 1", with_argument("9007199254740993"), Kept),
        (
            "2^64 and more",
            with_argument("18446744073709551616000"),
            Kept,
        ),
        (
            "minus nought and an exponent",
            with_argument("[-0.0,1E+2]"),
            Kept,
        ),
        (
            "a number beyond a float",
            with_argument("1e400"),
            Refused("a number is out of range (byte 122)"),
        ),
        (
            "64 levels",
            with_argument(&format!("{}{}", "[".repeat(62), "]".repeat(62))),
            Kept,
        ),
        (
            "129 levels",
            with_argument(&format!("{}{}", "[".repeat(127), "]".repeat(127))),
            Refused("values are nested more than 128 deep (byte 248)"),
        ),
        ("NUL in an argument", with_argument("\"a\\u0000b\""), Kept),
        (
            "NUL in the session",
            plain.replace("\"s1\"", "\"s\\u0000\""),
            Kept,
        ),
        (
            "NUL in a dangerous command",
            with_input("{\"command\":\"rm -rf / \\u0000\"}"),
            Denied(""),
        ),
        (
            "a raw control character",
            with_argument("\"a\u{1}b\""),
            Refused("the text is not JSON: expected no control character in a string (byte 124)"),
        ),
    ]
}

async fn check(what: &str, question: &str, wanted: Wanted) {
    let place = Place::new();
    let output = place.hook(&[], question.as_bytes());
    let reason = denial(&output);
    let stderr = masked(&text(&output.stderr), place.folder());
    show(
        what,
        output.status.code(),
        reason.as_deref().unwrap_or(&stderr),
    );
    let silent = output.stdout.is_empty() && stderr.is_empty();
    match wanted {
        Kept => assert_eq!(
            (output.status.code(), silent),
            (Some(0), true),
            "{what}: {stderr}"
        ),
        Denied(with) => {
            let reason = reason.unwrap_or_else(|| panic!("{what}: not denied"));
            assert!(reason.contains(with), "{what}: {reason}");
        }
        Refused(sentence) => {
            assert_eq!(
                stderr,
                format!("triplane cannot read this event and refuses it: {sentence}.\n"),
                "{what}"
            );
            assert_eq!(
                (output.status.code(), output.stdout.len()),
                (Some(2), 0),
                "{what}"
            );
            assert!(!place.store().exists(), "{what}: a store was made");
            return;
        }
    }
    let mut rows = Rows::open(&place.store()).await;
    let stored = rows
        .texts("SELECT substr(payload, 1, 9) || substr(payload, 10) FROM signal_log")
        .await;
    let [stored] = &stored[..] else {
        panic!("{what}: {} rows", stored.len());
    };
    assert!(
        stored.starts_with(&format!("{{\"event\":{question}")),
        "{what}: stored as {stored}"
    );
}

#[tokio::test]
async fn every_odd_event_has_its_answer_and_its_original_in_the_store() {
    for (what, question, wanted) in rows() {
        check(what, &question, wanted).await;
    }
}

#[tokio::test]
async fn a_replay_keeps_the_same_originals_and_names_the_lines_that_it_cannot_read() {
    let place = Place::new();
    let rows = rows();
    let recording: String = rows
        .iter()
        .flat_map(|(_, line, _)| [line.as_str(), "\n"])
        .collect();
    let recording = place.file("odd.jsonl", &recording);
    let output = place.run(&["replay", recording.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut refusals = String::new();
    let mut kept = Vec::new();
    for (n, (_, question, wanted)) in rows.into_iter().enumerate() {
        match wanted {
            Refused(sentence) => {
                writeln!(refusals, "triplane: line {}: {sentence}", n + 1).expect("a string");
            }
            Kept | Denied(_) => kept.push(question),
        }
    }
    assert_eq!(text(&output.stderr), refusals);
    let mut rows = Rows::open(&place.store()).await;
    let mut stored = rows
        .texts("SELECT payload FROM signal_log ORDER BY id")
        .await;
    assert_eq!(stored.len(), kept.len());
    for question in kept {
        let start = format!("{{\"event\":{question}");
        let found = stored.iter().position(|body| body.starts_with(&start));
        stored.swap_remove(found.unwrap_or_else(|| panic!("not stored: {question}")));
    }
}
