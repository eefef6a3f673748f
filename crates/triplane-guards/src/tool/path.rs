//! The paths of a call, with what would happen to them.

use serde_json::Value;
use triplane_interception::{DeclaredTool, ToolKind};

use crate::tool::asked_path::AskedPath;
use crate::tool::name::{folded, is_move, is_patch, is_power_shell, is_shell, op_of};
use crate::tool::op::PathOp;
use crate::tool::patch::patch;

/// The paths that `tool` would touch, with what it would do to them: by what is known of its name,
/// and by what `declared` says of it.
pub(crate) fn paths(declared: &[DeclaredTool], tool: &str, arguments: &Value) -> Vec<AskedPath> {
    let mut asked = Vec::new();
    let mut unnamed = None;
    for it in declared.iter().filter(|it| it.is_of(tool)) {
        let op = match it.kind {
            ToolKind::Shell => continue,
            ToolKind::Read => PathOp::Read,
            ToolKind::Write | ToolKind::Patch => PathOp::Write,
            ToolKind::Delete => PathOp::Delete,
        };
        if !it.names_argument() && it.kind == ToolKind::Patch {
            for text in patch_texts(arguments) {
                patch(text, &mut asked);
            }
        } else if !it.names_argument() {
            unnamed = unnamed.max(Some(op));
        }
        for text in texts(it.argument(arguments)) {
            if it.kind == ToolKind::Patch {
                patch(text, &mut asked);
            } else {
                asked.push(AskedPath::whole(op, text));
            }
        }
    }
    asked.extend(by_name(tool, arguments, unnamed));
    asked
}

/// The paths that a tool of this name would touch. `declared` is what is said of a tool whose name
/// says nothing.
fn by_name(tool: &str, arguments: &Value, declared: Option<PathOp>) -> Vec<AskedPath> {
    let (name, mcp) = folded(tool);
    let mut asked = Vec::new();
    if is_shell(&name) || is_power_shell(&name) {
        // A patch may come through a shell, as its command or as a word of it.
        for field in ["command", "cmd", "input", "argv"] {
            for text in texts(arguments.get(field)) {
                if text.contains("*** Begin Patch") {
                    patch(text, &mut asked);
                }
            }
        }
        return asked;
    }
    if is_patch(&name) {
        for text in patch_texts(arguments) {
            patch(text, &mut asked);
        }
    }
    let Some(fields) = arguments.as_object() else {
        return asked;
    };
    let op = op_of(tool).or(declared);
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
                    asked.push(AskedPath::whole(PathOp::Read, folder));
                    continue;
                }
                _ => continue,
            },
            _ => continue,
        };
        // An unknown tool with a path may do anything to it.
        let field_op = field_op.unwrap_or(PathOp::Write);
        for text in texts(Some(value)) {
            asked.push(AskedPath::whole(field_op, text));
        }
    }
    if let Some(Value::Array(edits)) = fields.get("edits") {
        for edit in edits {
            for field in ["file_path", "path"] {
                if let Some(path) = edit.get(field).and_then(Value::as_str) {
                    asked.push(AskedPath::whole(PathOp::Write, path));
                }
            }
        }
    }
    asked
}

/// The texts of a patch: its argument by one of the usual names, or all there is.
fn patch_texts(arguments: &Value) -> Vec<&str> {
    let named = [
        "command",
        "input",
        "patch",
        "patch_text",
        "patchText",
        "diff",
    ]
    .iter()
    .find_map(|field| arguments.get(*field));
    texts(named.or(Some(arguments)))
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn touches(tool: &str, arguments: &Value, wanted: &[(PathOp, &str)]) {
        let got = paths(&[], tool, arguments);
        let got: Vec<(PathOp, &str)> = got.iter().map(|it| (it.op, it.path.as_str())).collect();
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
