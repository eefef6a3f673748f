//! The paths of a call, with what would happen to them.

use serde_json::Value;

use crate::tool::name::{folded, is_move, is_patch, is_power_shell, is_shell, op_of};
use crate::tool::op::PathOp;
use crate::tool::patch::patch;

/// The paths that `tool` would touch, with what it would do to them.
pub(crate) fn paths(tool: &str, arguments: &Value) -> Vec<(PathOp, String)> {
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
