//! The call of a tool that an input is judged as.

use std::path::PathBuf;

use serde_json::{Value, json};
use triplane_interception::{Presence, ToolCall, Workspace};

use crate::place::Place;
use crate::tool::PathOp;

/// The call of a shell that would run `command` in `place`, whose folders are only imagined.
pub fn shell_call(command: &str, place: &Place) -> ToolCall {
    let arguments = json!({ "command": command });
    call("Bash", arguments, place, Presence::Elsewhere)
}

/// The call of a tool that would do `op` to `path` in `place`.
pub fn path_call(op: PathOp, path: &str, place: &Place, presence: Presence) -> ToolCall {
    let (tool, argument) = match op {
        PathOp::Read => ("Read", "file_path"),
        PathOp::Write => ("Write", "file_path"),
        PathOp::Delete => ("delete_file", "path"),
    };
    call(tool, json!({ argument: path }), place, presence)
}

fn call(tool: &str, arguments: Value, place: &Place, presence: Presence) -> ToolCall {
    ToolCall {
        session: "corpus".to_owned(),
        agent: None,
        tool: tool.to_owned(),
        arguments,
        call_id: None,
        cwd: Some(PathBuf::from(&place.cwd)),
        workspace: Workspace {
            root: PathBuf::from(&place.root),
            home: Some(PathBuf::from(&place.home)),
            presence,
        },
    }
}
