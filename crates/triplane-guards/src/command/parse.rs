//! From text to the shell grammar's tree, or to plain words where no grammar is needed.
//!
//! The grammar is shown no command substitution: where one ends is decided by the scan, which
//! knows comments and heredocs inside it, and the grammar reads a parameter in its place. The
//! substitution's own text is parsed when that parameter is expanded. Nor is it shown `select`,
//! which it does not know: to what may run, that loop is a `for`.

use std::borrow::Cow;
use std::ops::Range;

use brush_parser::{Parser, SourceSpan, ast};

use crate::command::expand::options;
use crate::command::scan::{Found, ScanRefusal, look};
use crate::command::shortcut;

/// How the parameters are called that stand for substitutions; no text may use such a name. Short, since
/// the grammar takes its time over each letter of a name.
pub(crate) const PLACEHOLDER: &str = "__3p_";

/// The loop that the grammar does not know, and the one that is shown to it, of the same length so
/// that every place stays where it is.
const SELECT: &str = "select";
const FOR_AS_LONG: &str = "for   ";

/// A script that can be walked.
#[derive(Debug)]
pub(crate) enum Script<'t> {
    /// One command of plain words: nothing in it is quoted, expanded or special.
    Plain(Vec<(&'t str, usize)>),
    /// Anything else.
    Program(ast::Program, Rewritten),
}

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Unparsable {
    /// The scan refused it.
    #[error(transparent)]
    Scan(#[from] ScanRefusal),
    /// The grammar refused it.
    #[error("the command is not valid shell text: {0}")]
    Grammar(String),
    /// It uses a name that the guard keeps for itself.
    #[error("the command uses a name that begins with `{PLACEHOLDER}`")]
    ReservedName,
}

/// Words that the shell reads as its own at the start of a command.
const RESERVED: [&str; 21] = [
    "!", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "select", "then", "time", "until", "while", "[[",
];

/// The longest command of plain words that whoever asks judges on its own thread, in bytes.
const PLAIN_BYTES_MAX: usize = 4096;

/// The words of a command that needs no grammar, with their offsets.
pub(crate) fn plain(text: &str) -> Option<Vec<(&str, usize)>> {
    let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    is_plain(text).then(|| words(text).map(|word| (word, place(word))).collect())
}

/// Whether a command needs neither grammar nor thread: it is one short row of plain words.
pub(crate) fn is_short_and_plain(text: &str) -> bool {
    text.len() <= PLAIN_BYTES_MAX && is_plain(text)
}

/// Whether a command needs no grammar: it is one row of plain words.
fn is_plain(text: &str) -> bool {
    let special = text.bytes().any(|byte| {
        !(byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b' ' | b'\t' | b'_' | b'-' | b'.' | b'/' | b',' | b':' | b'=' | b'@' | b'%' | b'+'
            ))
    });
    !special
        && words(text)
            .next()
            .is_some_and(|first| !first.contains('=') && !RESERVED.contains(&first))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t']).filter(|word| !word.is_empty())
}

/// Parses `text`. `found` is what the scan has found in it, if it has been scanned. Anything but plain
/// words must come from the parser's thread, unless the caller has bounded what it is.
///
/// Each command substitution is given to `register`, with its place in `text`; the number that it
/// answers becomes a part of the parameter's name.
pub(crate) fn parse(
    text: &str,
    found: Option<Found>,
    mut register: impl FnMut(String, Range<usize>) -> usize,
) -> Result<Script<'_>, Unparsable> {
    if let Some(words) = plain(text) {
        return Ok(Script::Plain(words));
    }
    if text.contains(PLACEHOLDER) {
        return Err(Unparsable::ReservedName);
    }
    let mut rewritten = Rewritten::default();
    let mut from = 0;
    let found = match found {
        Some(found) => found,
        None => look(text)?,
    };
    let mut shown = Cow::Borrowed(text);
    for at in found.selects {
        shown
            .to_mut()
            .replace_range(at..at + SELECT.len(), FOR_AS_LONG);
    }
    for found in found.substitutions {
        let Range { start, end } = found.span.clone();
        let script = if found.backquoted {
            unescape_backquoted(&text[start + 1..end - 1])
        } else {
            text[start + 2..end - 1].to_owned()
        };
        let number = register(script, found.span);
        rewritten.text.push_str(&shown[from..start]);
        let at = rewritten.text.len();
        rewritten.text.push_str("${");
        rewritten.text.push_str(PLACEHOLDER);
        rewritten.text.push_str(&number.to_string());
        rewritten.text.push('}');
        rewritten.edits.push(Edit {
            new: at..rewritten.text.len(),
            old: start..end,
        });
        from = end;
    }
    rewritten.text.push_str(&shown[from..]);
    rewritten.index();
    let program = match shortcut::program(&rewritten.text) {
        Some(program) => program,
        None => grammar(&rewritten.text)?,
    };
    Ok(Script::Program(program, rewritten))
}

/// What the grammar reads in `text`.
pub(crate) fn grammar(text: &str) -> Result<ast::Program, Unparsable> {
    // A slice is read as it lies: the tokenizer needs no buffer of its own.
    Parser::new(text.as_bytes(), &options())
        .parse_program()
        .map_err(|error| Unparsable::Grammar(error.to_string()))
}

/// A backquoted script keeps one backslash of each pair.
fn unescape_backquoted(script: &str) -> String {
    let mut text = String::with_capacity(script.len());
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\\' | '$' | '`')) => text.extend(chars.next()),
            _ => text.push(c),
        }
    }
    text
}

/// The text that the grammar was shown, and where it differs from the original.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    text: String,
    edits: Vec<Edit>,
    /// Where each character starts; empty while the text is ASCII, where that is its number.
    starts: Vec<usize>,
}

#[derive(Debug)]
struct Edit {
    new: Range<usize>,
    old: Range<usize>,
}

impl Rewritten {
    /// The place in the original, in bytes, of a place that the grammar names in characters.
    pub(crate) fn original(&self, span: &SourceSpan) -> Range<usize> {
        let start = self.byte(span.start.index);
        let end = self.byte(span.end.index);
        let start = self.unedited(start, |edit| edit.old.start);
        let end = self.unedited(end, |edit| edit.old.end);
        start.min(end)..end
    }

    /// Makes places findable: each of them is asked for, and there are as many as words.
    fn index(&mut self) {
        if !self.text.is_ascii() {
            self.starts = self.text.char_indices().map(|(at, _)| at).collect();
        }
    }

    fn byte(&self, chars: usize) -> usize {
        if self.starts.is_empty() {
            chars.min(self.text.len())
        } else {
            self.starts.get(chars).copied().unwrap_or(self.text.len())
        }
    }

    fn unedited(&self, at: usize, within: impl Fn(&Edit) -> usize) -> usize {
        let before = self.edits.partition_point(|edit| edit.new.start < at);
        match self.edits[..before].last() {
            Some(edit) if at < edit.new.end => within(edit),
            Some(edit) => at - edit.new.end + edit.old.end,
            None => at,
        }
    }
}
