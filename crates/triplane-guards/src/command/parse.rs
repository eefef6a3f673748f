//! From text to the shell grammar's tree, or to plain words where no grammar is needed.

use brush_parser::ast;

use crate::command::expand::options;
use crate::command::scan::{ScanRefusal, scan};

/// A script that can be walked.
#[derive(Debug)]
pub(crate) enum Script<'t> {
    /// One command of plain words: nothing in it is quoted, expanded or special.
    Plain(Vec<(&'t str, usize)>),
    /// Anything else.
    Program(ast::Program),
}

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unparsable {
    /// The scan refused it.
    #[error(transparent)]
    Scan(#[from] ScanRefusal),
    /// The grammar refused it.
    #[error("the command is not valid shell text: {0}")]
    Grammar(String),
}

/// Words that the shell reads as its own at the start of a command.
const RESERVED: [&str; 21] = [
    "!", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "select", "then", "time", "until", "while", "[[",
];

/// The words of a command that needs no grammar, with their offsets.
pub(crate) fn plain(text: &str) -> Option<Vec<(&str, usize)>> {
    let special = text.bytes().any(|byte| {
        !(byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b' ' | b'\t' | b'_' | b'-' | b'.' | b'/' | b',' | b':' | b'=' | b'@' | b'%' | b'+'
            ))
    });
    if special || text.len() > 4096 {
        return None;
    }
    let words: Vec<(&str, usize)> = text
        .split([' ', '\t'])
        .filter(|word| !word.is_empty())
        .map(|word| (word, word.as_ptr() as usize - text.as_ptr() as usize))
        .collect();
    let first = words.first()?.0;
    (!first.contains('=') && !RESERVED.contains(&first)).then_some(words)
}

/// Parses `text`. Anything but plain words must come from the parser's thread.
pub(crate) fn parse(text: &str) -> Result<Script<'_>, Unparsable> {
    if let Some(words) = plain(text) {
        return Ok(Script::Plain(words));
    }
    scan(text)?;
    let options = options();
    let tokens = brush_parser::uncached_tokenize_str(text, &options.tokenizer_options())
        .map_err(|error| Unparsable::Grammar(error.to_string()))?;
    brush_parser::parse_tokens(&tokens, &options)
        .map(Script::Program)
        .map_err(|error| Unparsable::Grammar(error.to_string()))
}
