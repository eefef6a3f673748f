//! The settings that plug the program into a harness.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::catalog::Harness;

/// The events that are worth a process each, with the seconds the harness waits for it.
///
/// Left out of Claude Code's: `WorktreeCreate` (a hook there replaces git's work),
/// `MessageDisplay` (sent for every piece of shown text), `FileChanged` and the other notices about
/// the surroundings of a session.
const CLAUDE_EVENTS: &[(&str, u32)] = &[
    ("SessionStart", 10),
    ("UserPromptSubmit", 10),
    ("PreToolUse", 10),
    ("PermissionRequest", 10),
    ("PermissionDenied", 10),
    ("PostToolUse", 10),
    ("PostToolUseFailure", 10),
    ("SubagentStart", 10),
    ("SubagentStop", 10),
    ("PreCompact", 10),
    ("ConfigChange", 10),
    ("Stop", 10),
    ("SessionEnd", 5),
];

/// Codex gives `SessionEnd` three seconds at most.
const CODEX_EVENTS: &[(&str, u32)] = &[
    ("SessionStart", 10),
    ("UserPromptSubmit", 10),
    ("PreToolUse", 10),
    ("PermissionRequest", 10),
    ("PostToolUse", 10),
    ("SubagentStart", 10),
    ("SubagentStop", 10),
    ("PreCompact", 10),
    ("Stop", 10),
    ("Interrupt", 10),
    ("SessionEnd", 3),
];

/// A program that cannot be written into settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramUnusable {
    /// The path is relative: a hook would be looked for in whatever folder the session is in.
    #[error("the path {0:?} is not absolute")]
    NotAbsolute(PathBuf),
    /// Settings are JSON, and this path is not text.
    #[error("the path {0:?} is not UTF-8")]
    NotText(PathBuf),
}

/// The settings snippet, formatted JSON and a line break, that makes `harness` run
/// `program arguments…` on every event that is worth it: for Claude Code the `hooks` of a
/// `settings.json`, for Codex a `hooks.json`.
///
/// Claude Code gets the program and its arguments apart (no shell sees them); Codex takes only one
/// shell text, so every word that needs it is quoted.
///
/// # Errors
///
/// [`ProgramUnusable`] when `program` is not an absolute path or not UTF-8.
pub fn print_config(
    harness: Harness,
    program: &Path,
    arguments: &[&str],
) -> Result<String, ProgramUnusable> {
    if !program.is_absolute() {
        return Err(ProgramUnusable::NotAbsolute(program.to_owned()));
    }
    let Some(program) = program.to_str() else {
        return Err(ProgramUnusable::NotText(program.to_owned()));
    };
    let events = match harness {
        Harness::Claude => CLAUDE_EVENTS,
        Harness::Codex => CODEX_EVENTS,
    };
    let mut hooks = Map::new();
    for (event, timeout) in events {
        let handler = match harness {
            Harness::Claude => json!({
                "type": "command", "command": program, "args": arguments, "timeout": timeout,
            }),
            Harness::Codex => json!({
                "type": "command", "command": shell_text(program, arguments), "timeout": timeout,
            }),
        };
        hooks.insert((*event).to_owned(), json!([{ "hooks": [handler] }]));
    }
    Ok(format!(
        "{:#}\n",
        Value::from(Map::from_iter([("hooks".to_owned(), hooks.into())]))
    ))
}

fn shell_text(program: &str, arguments: &[&str]) -> String {
    let words = std::iter::once(&program).chain(arguments);
    words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// `word` as a POSIX shell reads it back unchanged.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{EVENTS, EventSpec, Refusal};

    fn handler(harness: Harness, program: &str, event: &str) -> Value {
        let text = print_config(harness, Path::new(program), &["hook", "--harness", "x"]).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        settings["hooks"][event][0]["hooks"][0].clone()
    }

    #[test]
    fn claude_gets_the_words_apart() {
        assert_eq!(
            handler(Harness::Claude, "/opt/tri plane/bin/triplane", "PreToolUse"),
            json!({
                "type": "command", "command": "/opt/tri plane/bin/triplane",
                "args": ["hook", "--harness", "x"], "timeout": 10,
            })
        );
    }

    #[test]
    fn codex_gets_a_quoted_shell_text() {
        let check = |program, wanted| {
            let handler = handler(Harness::Codex, program, "SessionEnd");
            let wanted = format!("{wanted} hook --harness x");
            assert_eq!(
                handler,
                json!({ "type": "command", "command": wanted, "timeout": 3 })
            );
        };
        check("/opt/triplane", "/opt/triplane");
        check("/opt/tri plane", "'/opt/tri plane'");
        check("/opt/o'$(x)\\", r"'/opt/o'\''$(x)\'");
        check("/opt/ü", "'/opt/ü'");
    }

    #[test]
    fn a_relative_program_is_refused() {
        let refused = print_config(Harness::Claude, Path::new("bin/triplane"), &[]);
        assert_eq!(
            refused,
            Err(ProgramUnusable::NotAbsolute("bin/triplane".into()))
        );
    }

    #[test]
    fn every_hooked_event_exists_and_none_is_a_replacement() {
        for (harness, events) in [
            (Harness::Claude, CLAUDE_EVENTS),
            (Harness::Codex, CODEX_EVENTS),
        ] {
            for (event, _) in events {
                let form = EventSpec::find(event).and_then(|spec| spec.refusal(harness));
                assert!(
                    form.is_some_and(|form| form != Refusal::Replacement),
                    "{event}"
                );
            }
        }
        for spec in EVENTS
            .iter()
            .filter(|spec| spec.call == crate::catalog::CallRole::Proposes)
        {
            assert!(
                CLAUDE_EVENTS.iter().any(|(event, _)| *event == spec.name),
                "{}",
                spec.name
            );
        }
    }
}
