//! PowerShell as text: its statements, and the cmdlets that destroy something.

/// Cmdlets and their aliases that delete, format, stop, or run text.
pub(crate) const DESTRUCTIVE: [&str; 22] = [
    "remove-item",
    "ri",
    "rm",
    "del",
    "erase",
    "rd",
    "rmdir",
    "clear-content",
    "clc",
    "clear-item",
    "format-volume",
    "clear-disk",
    "initialize-disk",
    "remove-partition",
    "stop-computer",
    "restart-computer",
    "invoke-expression",
    "iex",
    "remove-itemproperty",
    "clear-recyclebin",
    "remove-volume",
    "reset-computermachinepassword",
];

/// The statements of a command with their offsets: whatever may stand at the start of one.
pub(crate) fn statements(command: &str) -> Vec<(usize, &str)> {
    let mut statements = Vec::new();
    let mut start = 0;
    let mut quote = None;
    for (at, c) in command.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ';' | '|' | '{' | '}' | '(' | ')' | '\n' | '=') => {
                statements.push((start, &command[start..at]));
                start = at + c.len_utf8();
            }
            (Some(_) | None, _) => {}
        }
    }
    statements.push((start, &command[start..]));
    statements
}

/// What a cmdlet comes down to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Delete,
    Empty,
    Format,
    Stop,
    RunText,
}

/// What the cmdlet, alias or command of this name does, if it destroys something.
pub(crate) fn deed(name: &str) -> Option<Deed> {
    match name {
        "remove-item" | "ri" | "rm" | "del" | "erase" | "rd" | "rmdir" => Some(Deed::Delete),
        "clear-content" | "clc" | "clear-item" => Some(Deed::Empty),
        "format-volume" | "clear-disk" | "initialize-disk" | "remove-partition"
        | "remove-volume" | "format" | "diskpart" => Some(Deed::Format),
        "stop-computer" | "restart-computer" => Some(Deed::Stop),
        "invoke-expression" | "iex" => Some(Deed::RunText),
        _ => None,
    }
}
