//! The command of a call, in every shape that harnesses send.

use std::borrow::Cow;

use serde_json::Value;
use triplane_interception::{DeclaredTool, ToolKind};

use crate::tool::name::{folded, is_power_shell, is_shell, may_be_shell, runs_nothing};

/// What a call runs in a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandAsked<'c> {
    /// The call runs no command.
    Nothing,
    /// The call runs this text in a shell.
    Shell(Cow<'c, str>),
    /// The call may run this text in a shell, or mean something else by it.
    Perhaps(Cow<'c, str>),
    /// The call runs this text in a shell of another grammar.
    PowerShell(Cow<'c, str>),
    /// The call is one of a shell, and its command cannot be read.
    Unreadable,
}

/// A value where a text was expected.
struct NoText;

/// The fields that hold a command.
const COMMAND_FIELDS: [&str; 10] = [
    "command",
    "cmd",
    "commands",
    "script",
    "argv",
    "shell_command",
    "bash_command",
    "command_line",
    "commandline",
    "input",
];

/// What `tool` would run with these arguments: by what is known of its name, and by what `declared`
/// says of it.
pub(crate) fn command<'c>(
    declared: &[DeclaredTool],
    tool: &str,
    arguments: &'c Value,
) -> CommandAsked<'c> {
    let mut asked = by_name(tool, arguments);
    let shells = declared
        .iter()
        .filter(|it| it.kind == ToolKind::Shell && it.is_of(tool));
    for shell in shells {
        let text = if shell.names_argument() {
            shell.argument(arguments).and_then(text_of)
        } else {
            match arguments {
                Value::Object(_) => field(arguments).and_then(Result::ok),
                other => text_of(other),
            }
        };
        asked = match (asked, text) {
            (_, None) => return CommandAsked::Unreadable,
            (CommandAsked::Unreadable | CommandAsked::Nothing, Some(text)) => {
                CommandAsked::Shell(text)
            }
            (CommandAsked::PowerShell(text), Some(_)) => CommandAsked::PowerShell(text),
            (CommandAsked::Shell(earlier) | CommandAsked::Perhaps(earlier), Some(text)) => {
                // One text under two names is judged once.
                CommandAsked::Shell(if earlier == text {
                    text
                } else {
                    Cow::Owned(format!("{earlier}\n{text}"))
                })
            }
        };
    }
    asked
}

/// What a tool of this name would run.
fn by_name<'c>(tool: &str, arguments: &'c Value) -> CommandAsked<'c> {
    let (name, foreign) = folded(tool);
    // What a server of unknown origin calls its tools says little.
    if !foreign && runs_nothing(&name) {
        return CommandAsked::Nothing;
    }
    let power = is_power_shell(&name);
    let shell = power || is_shell(&name);
    let asked = |text| {
        if power {
            CommandAsked::PowerShell(text)
        } else if shell || may_be_shell(&name) {
            CommandAsked::Shell(text)
        } else {
            CommandAsked::Perhaps(text)
        }
    };
    let reopened;
    let arguments = match arguments {
        // Some harnesses send the arguments as the text of an object.
        Value::String(text) if shell && text.trim_start().starts_with('{') => {
            match serde_json::from_str::<Value>(text) {
                Ok(object @ Value::Object(_)) => {
                    reopened = object;
                    return match field(&reopened) {
                        Some(Ok(text)) => asked(Cow::Owned(text.into_owned())),
                        Some(Err(NoText)) | None => CommandAsked::Unreadable,
                    };
                }
                _ => arguments,
            }
        }
        other => other,
    };
    match arguments {
        Value::String(text) if shell => asked(Cow::Borrowed(text)),
        Value::Array(_) if shell => match text_of(arguments) {
            Some(text) if !text.is_empty() => asked(text),
            Some(_) | None => CommandAsked::Unreadable,
        },
        Value::Object(fields) => match field(arguments) {
            Some(Ok(text)) => asked(text),
            Some(Err(NoText)) | None if shell => CommandAsked::Unreadable,
            Some(Err(NoText)) | None => match fields.get("chars") {
                // What is typed into a shell that runs already.
                Some(Value::String(text)) if may_be_shell(&name) => asked(Cow::Borrowed(text)),
                _ => CommandAsked::Nothing,
            },
        },
        _ if shell => CommandAsked::Unreadable,
        _ => CommandAsked::Nothing,
    }
}

/// The command field of an object, if it has one: its text, or that it cannot be read.
fn field(arguments: &Value) -> Option<Result<Cow<'_, str>, NoText>> {
    let fields = arguments.as_object()?;
    let mut found = None;
    for (name, value) in fields {
        let folded = name.to_lowercase();
        if !COMMAND_FIELDS.contains(&folded.as_str()) {
            continue;
        }
        if folded == "input" && !value.is_string() {
            continue;
        }
        match text_of(value) {
            Some(text) => match &mut found {
                // More than one field: all of them are judged.
                Some(Ok(earlier)) => {
                    let joined: String = format!("{earlier}\n{text}");
                    *earlier = Cow::Owned(joined);
                }
                _ => found = Some(Ok(text)),
            },
            None => return Some(Err(NoText)),
        }
    }
    // `args` beside a command are its arguments.
    if let (Some(Ok(text)), Some(args @ Value::Array(_))) = (&mut found, fields.get("args"))
        && let Some(more) = text_of(args)
        && !more.is_empty()
    {
        *text = Cow::Owned(format!("{text} {more}"));
    }
    found
}

/// A command as text: an array is an argument vector, its words quoted.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(items) => {
            let words: Option<Vec<String>> = items
                .iter()
                .map(|item| match item {
                    Value::String(word) => Some(quoted(word)),
                    Value::Number(number) => Some(number.to_string()),
                    Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
                })
                .collect();
            // A list of whole command lines is no vector: no program has a blank in its name.
            if let Some(Value::String(first)) = items.first()
                && first.contains(' ')
            {
                let lines: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                return Some(Cow::Owned(lines.join("\n")));
            }
            words.map(|words| Cow::Owned(words.join(" ")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-./,:=@%+".contains(&byte));
    if plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asks(tool: &str, arguments: &Value, wanted: Option<&str>) {
        let got = match by_name(tool, arguments) {
            CommandAsked::Nothing => None,
            CommandAsked::Shell(text)
            | CommandAsked::PowerShell(text)
            | CommandAsked::Perhaps(text) => Some(text.into_owned()),
            CommandAsked::Unreadable => Some("unreadable".to_owned()),
        };
        assert_eq!(got.as_deref(), wanted, "{tool} {arguments}");
    }

    #[test]
    fn a_command_is_found_under_every_name_and_shape() {
        asks("Bash", &json!({"command": "ls"}), Some("ls"));
        asks("bash", &json!("ls"), Some("ls"));
        asks("exec_command", &json!({"cmd": "ls"}), Some("ls"));
        asks(
            "local_shell",
            &json!({"command": ["bash", "-lc", "rm -rf /"]}),
            Some("bash -lc 'rm -rf /'"),
        );
        asks("mcp__box__run_shell", &json!({"command": "ls"}), Some("ls"));
        asks(
            "mcp__box__frobnicate",
            &json!({"command": "ls"}),
            Some("ls"),
        );
        asks("mcp__db__execute", &json!({"sql": "SELECT 1"}), None);
        asks("write_stdin", &json!({"chars": "ls"}), Some("ls"));
        asks("Bash", &json!({}), Some("unreadable"));
        asks("Bash", &json!(null), Some("unreadable"));
        asks("Bash", &json!({"command": 7}), Some("unreadable"));
        asks("Read", &json!({"file_path": "x"}), None);
        asks(
            "Write",
            &json!({"file_path": "x", "content": "rm -rf /"}),
            None,
        );
        asks("Task", &json!({"prompt": "rm -rf /"}), None);
    }
}
