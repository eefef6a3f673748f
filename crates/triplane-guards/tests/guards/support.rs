//! What the tests share: the imagined place, corpus rows, and a verdict for a command.

use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use triplane_guards::Place;
use triplane_guards::command::explain::{Explanation, explain};
use triplane_interception::{Presence, ToolCall, Workspace};

/// The corpora's place: workspace `/srv/app`, home `/home/dev`.
pub(crate) fn place() -> Place {
    Place::new("/srv/app", Some(Path::new("/home/dev")))
}

/// The rows of a corpus file.
pub(crate) fn rows<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/corpus")
        .join(file);
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What the guard finds in `command`, however busy the machine is.
pub(crate) fn explained(command: &str) -> Explanation {
    explain(command, &place()).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The rule that refuses `command`, or none.
pub(crate) fn refused_by(command: &str) -> Option<String> {
    let explanation = explained(command);
    match explanation.refusal {
        Some(refusal) => Some(refusal.to_string()),
        None => explanation
            .severest()
            .map(|objection| objection.rule.id.to_string()),
    }
}

/// A call of `tool` in the imagined place.
pub(crate) fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall {
        session: "s1".to_owned(),
        agent: None,
        tool: tool.to_owned(),
        arguments,
        call_id: None,
        cwd: Some(PathBuf::from("/srv/app")),
        workspace: Workspace {
            root: PathBuf::from("/srv/app"),
            home: Some(PathBuf::from("/home/dev")),
            presence: Presence::Elsewhere,
        },
    }
}

/// A call of the shell tool.
pub(crate) fn bash(command: &str) -> ToolCall {
    call("Bash", json!({ "command": command }))
}
