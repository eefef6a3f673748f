//! Which tools there are: what a call asks the guards to judge, whatever its harness calls it.
//!
//! Names are folded: case, separators and an MCP prefix do not count. A tool of unknown name whose
//! arguments carry a command or a path is judged, not waved through.

use std::borrow::Cow;

use serde_json::Value;

/// What an operation does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathOp {
    /// Reads or lists it.
    Read,
    /// Creates or changes it.
    Write,
    /// Removes it.
    Delete,
}

/// What a call runs in a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandAsked<'c> {
    /// The call runs no command.
    Nothing,
    /// The call runs this text in a shell.
    Shell(Cow<'c, str>),
    /// The call runs this text in a shell of another grammar.
    PowerShell(Cow<'c, str>),
    /// The call is one of a shell, and its command cannot be read.
    Unreadable,
}

/// The last part of a tool's name, lower case, without separators.
fn folded(tool: &str) -> (String, bool) {
    let lower = tool.to_lowercase();
    let mcp = lower.starts_with("mcp_") || lower.starts_with("mcp-") || lower.contains("__");
    let last = if mcp {
        lower.rsplit("__").next().unwrap_or(&lower)
    } else {
        lower.rsplit(['.', '/', ':']).next().unwrap_or(&lower)
    };
    let name = last
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .collect();
    (name, mcp)
}

/// Whether a folded name is one of a shell.
fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "bash"
            | "shell"
            | "sh"
            | "zsh"
            | "execcommand"
            | "runshellcommand"
            | "localshell"
            | "localshellcall"
            | "shellcommand"
            | "runcommand"
            | "executecommand"
            | "terminal"
            | "runinterminal"
            | "runterminalcmd"
            | "runterminalcommand"
            | "exec"
            | "command"
            | "containerexec"
            | "unifiedexec"
            | "executebash"
            | "runbash"
            | "bashtool"
            | "shelltool"
            | "executeshell"
            | "shellexec"
            | "runshell"
            | "executeshellcommand"
            | "startprocess"
            | "createprocess"
            | "runprocess"
            | "writestdin"
            | "execute"
            | "run"
            | "bashcommand"
            | "process"
            | "cmd"
            | "sshexec"
            | "execbash"
            | "execshell"
    )
}

fn is_power_shell(name: &str) -> bool {
    matches!(
        name,
        "powershell" | "pwsh" | "runpowershell" | "executepowershell"
    )
}

/// Tools whose texts are content or questions, whatever their fields are called.
fn runs_nothing(name: &str) -> bool {
    matches!(
        name,
        "read"
            | "write"
            | "edit"
            | "multiedit"
            | "notebookedit"
            | "glob"
            | "grep"
            | "ls"
            | "webfetch"
            | "websearch"
            | "task"
            | "agent"
            | "todowrite"
            | "exitplanmode"
            | "slashcommand"
            | "skill"
            | "applypatch"
            | "viewimage"
            | "updateplan"
            | "askuserquestion"
            | "bashoutput"
            | "killshell"
            | "killbash"
            | "taskoutput"
            | "readfile"
            | "writefile"
            | "editfile"
            | "listdir"
            | "listdirectory"
            | "toolsearch"
    )
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

/// What `tool` would run with these arguments.
pub(crate) fn command<'c>(tool: &str, arguments: &'c Value) -> CommandAsked<'c> {
    let (name, _) = folded(tool);
    if runs_nothing(&name) {
        return CommandAsked::Nothing;
    }
    let power = is_power_shell(&name);
    let shell = power || is_shell(&name);
    let asked = |text| {
        if power {
            CommandAsked::PowerShell(text)
        } else {
            CommandAsked::Shell(text)
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
            Some(Err(NoText)) if shell => CommandAsked::Unreadable,
            Some(Err(NoText)) | None if !shell => CommandAsked::Nothing,
            _ if name == "writestdin" || fields.is_empty() && name == "process" => {
                match fields.get("chars").or_else(|| fields.get("data")) {
                    Some(Value::String(text)) => asked(Cow::Borrowed(text)),
                    Some(_) => CommandAsked::Unreadable,
                    None => CommandAsked::Nothing,
                }
            }
            _ => CommandAsked::Unreadable,
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

/// The paths that `tool` would touch, with what it would do to them.
pub(crate) fn paths(tool: &str, arguments: &Value) -> Vec<(PathOp, String)> {
    let (name, mcp) = folded(tool);
    let mut asked = Vec::new();
    if is_shell(&name) || is_power_shell(&name) {
        // A patch may come as the text of a shell tool's command.
        if let Some(text) = arguments.get("command").and_then(Value::as_str)
            && text.trim_start().starts_with("*** Begin Patch")
        {
            patch(text, &mut asked);
        }
        return asked;
    }
    if is_patch(&name) {
        let text = [
            "command",
            "input",
            "patch",
            "patch_text",
            "patchText",
            "diff",
        ]
        .iter()
        .find_map(|field| arguments.get(*field))
        .or(Some(arguments));
        for text in texts(text) {
            patch(text, &mut asked);
        }
    }
    let Some(fields) = arguments.as_object() else {
        return asked;
    };
    let op = op_of(tool);
    for (field, value) in fields {
        let lower: String = field
            .to_lowercase()
            .chars()
            .filter(|c| !matches!(c, '_' | '-'))
            .collect();
        let field_op = match lower.as_str() {
            "filepath"
            | "path"
            | "filename"
            | "notebookpath"
            | "absolutepath"
            | "relativepath"
            | "targetfile"
            | "relativeworkspacepath"
            | "directory"
            | "dir"
            | "dirpath"
            | "folder"
            | "paths"
            | "files"
            | "filepaths"
            | "absolutefilepath" => op,
            "file" | "target" | "uri" if op.is_some() || mcp => op,
            "source" | "src" | "from" | "oldpath" | "sourcepath" if is_move(&name) => {
                Some(PathOp::Delete)
            }
            "destination" | "dest" | "dst" | "to" | "newpath" | "destinationpath"
            | "outputpath" | "output" | "outfile"
                if is_move(&name) || name.contains("copy") || lower.ends_with("path") =>
            {
                Some(PathOp::Write)
            }
            "pattern" if name == "glob" => match value.as_str() {
                // A pattern is judged by the folder that it starts in.
                Some(pattern) if pattern.starts_with(['/', '~']) || pattern.contains("..") => {
                    let fixed = pattern
                        .find(['*', '?', '[', '{'])
                        .map_or(pattern, |at| &pattern[..at]);
                    let folder = fixed.rfind('/').map_or(fixed, |at| &fixed[..=at]);
                    asked.push((PathOp::Read, folder.to_owned()));
                    continue;
                }
                _ => continue,
            },
            _ => continue,
        };
        // An unknown tool with a path may do anything to it.
        let field_op = field_op.unwrap_or(PathOp::Write);
        for text in texts(Some(value)) {
            asked.push((field_op, text.to_owned()));
        }
    }
    if let Some(Value::Array(edits)) = fields.get("edits") {
        for edit in edits {
            for field in ["file_path", "path"] {
                if let Some(path) = edit.get(field).and_then(Value::as_str) {
                    asked.push((PathOp::Write, path.to_owned()));
                }
            }
        }
    }
    asked
}

fn is_patch(name: &str) -> bool {
    matches!(name, "applypatch" | "patch" | "applydiff") || name.ends_with("applypatch")
}

fn is_move(name: &str) -> bool {
    ["move", "rename", "mv"]
        .iter()
        .any(|verb| name.contains(verb))
}

/// The words of a tool's name, lower case: at separators, and where a capital follows a small
/// letter.
fn words(tool: &str) -> Vec<String> {
    let last = tool.rsplit("__").next().unwrap_or(tool);
    let mut words = vec![String::new()];
    let mut small = false;
    for c in last.chars() {
        if !c.is_alphanumeric() || (small && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What the tool does to its path, if its name says so.
fn op_of(tool: &str) -> Option<PathOp> {
    let words = words(tool);
    let holds = |verbs: &[&str]| {
        words.iter().any(|word| {
            verbs.iter().any(|verb| {
                word == verb || word.strip_suffix("file").is_some_and(|stem| stem == *verb)
            })
        })
    };
    if holds(&["delete", "remove", "unlink", "rmdir"]) {
        Some(PathOp::Delete)
    } else if holds(&[
        "write",
        "edit",
        "editor",
        "multiedit",
        "create",
        "replace",
        "insert",
        "append",
        "patch",
        "save",
        "update",
        "rename",
        "move",
        "mkdir",
        "upload",
        "copy",
        "applypatch",
    ]) {
        Some(PathOp::Write)
    } else if holds(&[
        "read",
        "view",
        "list",
        "ls",
        "glob",
        "grep",
        "search",
        "find",
        "open",
        "cat",
        "get",
        "stat",
        "tree",
        "load",
        "show",
        "info",
        "lsp",
        "diff",
        "outline",
        "directory",
    ]) {
        Some(PathOp::Read)
    } else {
        None
    }
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The files that a patch names, in its own form or as a unified diff.
fn patch(text: &str, asked: &mut Vec<(PathOp, String)>) {
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        let named = [
            ("*** Add File: ", PathOp::Write),
            ("*** Update File: ", PathOp::Write),
            ("*** Delete File: ", PathOp::Delete),
            ("*** Move to: ", PathOp::Write),
            ("rename from ", PathOp::Delete),
            ("rename to ", PathOp::Write),
        ];
        let plain = named
            .iter()
            .find_map(|(mark, op)| Some((*op, line.strip_prefix(mark)?)));
        if let Some((op, path)) = plain {
            asked.push((op, path.to_owned()));
            continue;
        }
        let side = line
            .strip_prefix("+++ ")
            .or_else(|| line.strip_prefix("--- "));
        if let Some(path) = side {
            let path = path.split('\t').next().unwrap_or(path);
            let path = path
                .strip_prefix("a/")
                .or_else(|| path.strip_prefix("b/"))
                .unwrap_or(path);
            if path != "/dev/null" && !path.is_empty() {
                asked.push((PathOp::Write, path.to_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asks(tool: &str, arguments: &Value, wanted: Option<&str>) {
        let got = match command(tool, arguments) {
            CommandAsked::Nothing => None,
            CommandAsked::Shell(text) | CommandAsked::PowerShell(text) => Some(text.into_owned()),
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

    fn touches(tool: &str, arguments: &Value, wanted: &[(PathOp, &str)]) {
        let got = paths(tool, arguments);
        let got: Vec<(PathOp, &str)> = got.iter().map(|(op, path)| (*op, path.as_str())).collect();
        assert_eq!(got, wanted, "{tool} {arguments}");
    }

    #[test]
    fn paths_are_found_with_what_happens_to_them() {
        touches("Read", &json!({"file_path": "a"}), &[(PathOp::Read, "a")]);
        touches("Write", &json!({"file_path": "a"}), &[(PathOp::Write, "a")]);
        touches(
            "NotebookEdit",
            &json!({"notebook_path": "a"}),
            &[(PathOp::Write, "a")],
        );
        touches(
            "mcp__fs__delete_file",
            &json!({"path": "a"}),
            &[(PathOp::Delete, "a")],
        );
        touches(
            "mcp__fs__frobnicate",
            &json!({"path": "a"}),
            &[(PathOp::Write, "a")],
        );
        touches("Bash", &json!({"command": "cat /etc/passwd"}), &[]);
        touches(
            "apply_patch",
            &json!({"command": "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch"}),
            &[(PathOp::Write, "a"), (PathOp::Delete, "b")],
        );
    }
}
