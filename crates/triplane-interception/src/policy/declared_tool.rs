//! What a policy file says of a tool that guards do not know by its name.

use serde_json::Value;

use crate::policy::argument::ArgumentPath;
use crate::policy::tool_pattern::ToolPattern;

/// What a tool does with its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Runs it in a shell: a text, or a list of words.
    Shell,
    /// Reads the path that it names.
    Read,
    /// Creates or changes the path that it names.
    Write,
    /// Removes the path that it names.
    Delete,
    /// Applies it as a patch: every file that it names is changed.
    Patch,
}

/// A tool that a policy file declares.
///
/// A declaration adds to what guards know of a tool by its name and takes nothing away from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTool {
    pub(crate) tool: ToolPattern,
    /// What the tool does.
    pub kind: ToolKind,
    pub(crate) argument: Option<ArgumentPath>,
}

impl DeclaredTool {
    /// Whether the declaration is about `tool`.
    pub fn is_of(&self, tool: &str) -> bool {
        self.tool.matches(tool)
    }

    /// Whether the declaration names the argument that counts; otherwise the usual names count.
    pub fn names_argument(&self) -> bool {
        self.argument.is_some()
    }

    /// The argument that counts, if it is named and there.
    pub fn argument<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        self.argument.as_ref()?.get(arguments)
    }
}
