//! Languages that are read statement by statement: the names in one say what becomes of its texts.
//!
//! A statement that names a call which runs commands runs its texts, and one that names a call
//! which removes files removes what its texts name. That is a guess about the language and none
//! about the texts: they are judged as they would be elsewhere.

use std::ops::Range;

use crate::command::code::act::CodeAct;
use crate::command::word::{Part, Word};

/// Calls that hand a text, or texts as an argument vector, to the system.
const RUNNERS: [&str; 38] = [
    "!",
    "!!",
    "call-process",
    "call-process-shell-command",
    "callcommand",
    "callprocess",
    "cmd",
    "command",
    "exec",
    "execcmd",
    "execcmdex",
    "execprocess",
    "execshellcmd",
    "execute",
    "open_process_in",
    "os.execute",
    "popen",
    "process",
    "processbuilder",
    "qqx",
    "qx",
    "rawsystem",
    "readprocess",
    "run",
    "run-program",
    "run-shell-command",
    "runcommand",
    "sh",
    "shell",
    "shell-command",
    "shell-command-to-string",
    "shell_cmd",
    "spawn",
    "spawncommand",
    "start-process",
    "system",
    "system*",
    "unix",
];

/// Calls that remove files and folders.
const REMOVERS: [&str; 32] = [
    "confirm_recursive_rmdir",
    "del_dir",
    "del_dir_r",
    "delete",
    "delete!",
    "delete-directory",
    "delete-directory-tree",
    "delete-file",
    "delete-tree",
    "deletedir",
    "deletedirectory",
    "deletefile",
    "deleteifexists",
    "deleterecursive",
    "deleterecursively",
    "ensuredeleted",
    "file-delete",
    "remove",
    "remove_all",
    "removedir",
    "removedirectory",
    "removedirectoryrecursive",
    "removefile",
    "removeitem",
    "removepathforcibly",
    "rm",
    "rm_r",
    "rm_rf",
    "rmdir",
    "rmtree",
    "trash",
    "unlink",
];

/// The names and texts of one statement.
#[derive(Debug, Default)]
struct Statement {
    names: Vec<String>,
    texts: Vec<String>,
}

/// The acts of a program in a language that nothing more is known of.
pub(crate) fn acts(program: &str, span: &Range<usize>) -> Vec<CodeAct> {
    let mut acts = Vec::new();
    for statement in statements(program) {
        let named = |calls: &[&str]| {
            let mut names = statement.names.iter();
            names.any(|name| calls.binary_search(&name.as_str()).is_ok())
        };
        let texts: Vec<Word> = statement
            .texts
            .iter()
            .map(|text| word(text, span))
            .collect();
        if named(&RUNNERS) {
            acts.extend(texts.iter().cloned().map(perhaps));
            if texts.len() > 1 && !statement.texts[0].contains(char::is_whitespace) {
                acts.push(CodeAct::Argv(texts.clone()));
            }
        }
        if named(&REMOVERS) {
            acts.extend(texts.into_iter().map(removal));
        }
    }
    acts
}

/// The acts of a script in Tcl, or for `expect`.
pub(crate) fn tcl(script: &str, span: &Range<usize>) -> Vec<CodeAct> {
    let mut acts = Vec::new();
    // A command may stand in brackets, or be a word in braces of another.
    for command in script.split(['\n', ';', '[', ']', '{', '}']) {
        let (name, rest) = match command.trim().split_once(char::is_whitespace) {
            Some((name, rest)) => (name, rest.trim()),
            None => continue,
        };
        match name {
            "exec" | "spawn" | "system" => {
                acts.push(perhaps(word(rest, span)));
            }
            "send" | "exp_send" => {
                let typed = rest.trim_start_matches("-- ").trim_matches('"');
                let typed = typed.trim_end_matches("\\r").trim_end_matches("\\n");
                acts.push(perhaps(word(typed, span)));
            }
            "file" => {
                let mut words = rest.split_whitespace();
                if words.next() == Some("delete") {
                    let paths = words.filter(|word| !word.starts_with('-'));
                    acts.extend(paths.map(|path| {
                        let path = path.trim_matches('"');
                        removal(if path.contains('$') {
                            Word::unknown(span.clone())
                        } else {
                            word(path, span)
                        })
                    }));
                }
            }
            _ => {}
        }
    }
    acts
}

/// A text that is perhaps a command; what is known of it in part is judged as one.
fn perhaps(text: Word) -> CodeAct {
    match text.literal() {
        Some(_) => CodeAct::Perhaps(text),
        None => CodeAct::Script(text),
    }
}

fn removal(path: Word) -> CodeAct {
    CodeAct::Call {
        name: "rmtree".to_owned(),
        args: vec![path],
    }
}

/// The statements of a program, ended by a line's end or a semicolon.
fn statements(program: &str) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut current = Statement::default();
    let mut name = String::new();
    let mut chars = program.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '!') {
            name.extend(c.to_lowercase());
            before = c;
            continue;
        }
        if !name.is_empty() {
            let called = std::mem::take(&mut name);
            // What something is a part of is not called itself: `System.out`.
            if c != '.' || chars.peek().is_none_or(|next| !next.is_alphanumeric()) {
                current.names.push(called);
            }
        }
        match c {
            '\n' | ';' => statements.push(std::mem::take(&mut current)),
            // A quote behind a letter is a part of the name, and one before a parenthesis none.
            '\'' if before.is_alphanumeric() || chars.peek() == Some(&'(') => {}
            '"' | '\'' | '`' => current.texts.push(text(&mut chars, c)),
            _ => {}
        }
        before = c;
    }
    if !name.is_empty() {
        current.names.push(name);
    }
    statements.push(current);
    statements
}

/// The text up to `quote`.
fn text(chars: &mut impl Iterator<Item = char>, quote: char) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some(escaped) => text.push(escaped),
                None => {}
            },
            _ if c == quote => break,
            _ => text.push(c),
        }
    }
    text
}

/// A text of the program as a word; what is not known of it stays unknown.
fn word(text: &str, span: &Range<usize>) -> Word {
    let mut word = Word {
        parts: Vec::new(),
        span: span.clone(),
    };
    for (nth, known) in text.split('\u{1}').enumerate() {
        if nth > 0 {
            word.push(Part::Unknown);
        }
        if !known.is_empty() || nth == 0 {
            word.push_str(known);
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order() {
        assert!(RUNNERS.is_sorted());
        assert!(REMOVERS.is_sorted());
    }

    #[test]
    fn a_statement_that_runs_nothing_has_no_acts() {
        assert_eq!(acts("(message \"rm -rf /\")", &(0..0)), Vec::new());
        assert_eq!(tcl("puts {rm -rf /}", &(0..0)), Vec::new());
    }
}
