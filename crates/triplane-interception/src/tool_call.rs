//! The proposed call of a tool: what guards and policies judge.

use std::path::PathBuf;

use serde_json::Value;

/// One call of a tool as it is proposed, before anything has happened.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The session that proposes the call, unique among the sessions of one harness.
    pub session: String,
    /// The subagent that proposes it, if not the main agent.
    pub agent: Option<String>,
    /// The name of the tool as the harness spells it, for example `Bash` or `mcp__files__read`.
    pub tool: String,
    /// The arguments, as the harness sends them: usually an object.
    pub arguments: Value,
    /// The harness's id of this call, unique within the session.
    pub call_id: Option<String>,
    /// The folder in which the call would run, if the harness names one.
    pub cwd: Option<PathBuf>,
    /// The place that paths are judged against.
    pub workspace: Workspace,
}

/// The folder that an agent is meant to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The root, absolute. Nothing outside it is the agent's to change.
    pub root: PathBuf,
    /// The home folder that `~` stands for, if it is known.
    pub home: Option<PathBuf>,
    /// Whether the root is a folder of this machine.
    pub presence: Presence,
}

/// Whether paths can be held against the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The root exists here: symbolic links are followed.
    Here,
    /// The root does not exist here, as when another machine's session is replayed: paths are
    /// judged as text, and what is recorded says so.
    Elsewhere,
}
