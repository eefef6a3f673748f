//! What the name of a tool says, whatever its spelling.

use crate::tool::op::PathOp;

/// The last part of a tool's name, lower case, without separators.
pub(crate) fn folded(tool: &str) -> (String, bool) {
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

/// Whether a folded name is one of a shell: a call without a command is unreadable then.
pub(crate) fn is_shell(name: &str) -> bool {
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
            | "bashcommand"
            | "execbash"
            | "execshell"
    )
}

/// Whether a folded name may be one of a shell: it is, if a command comes with it.
pub(crate) fn may_be_shell(name: &str) -> bool {
    matches!(
        name,
        "exec"
            | "run"
            | "execute"
            | "process"
            | "cmd"
            | "startprocess"
            | "createprocess"
            | "runprocess"
            | "sshexec"
            | "writestdin"
            | "spawn"
            | "interactwithprocess"
    )
}

pub(crate) fn is_power_shell(name: &str) -> bool {
    matches!(
        name,
        "powershell" | "pwsh" | "runpowershell" | "executepowershell"
    )
}

/// Tools whose texts are content or questions, whatever their fields are called.
pub(crate) fn runs_nothing(name: &str) -> bool {
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

pub(crate) fn is_patch(name: &str) -> bool {
    matches!(name, "applypatch" | "patch" | "applydiff") || name.ends_with("applypatch")
}

pub(crate) fn is_move(name: &str) -> bool {
    ["move", "rename", "mv"]
        .iter()
        .any(|verb| name.contains(verb))
}

/// The words of a tool's name, lower case: at separators, and where a capital follows a small
/// letter.
pub(crate) fn words(tool: &str) -> Vec<String> {
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
pub(crate) fn op_of(tool: &str) -> Option<PathOp> {
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
