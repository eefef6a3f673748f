//! A raw word, piece by piece.

use std::ops::Range;

use brush_parser::ParserOptions;
use brush_parser::word::{
    self, Parameter, ParameterExpr, SpecialParameter, TildeExpr, WordPiece, WordPieceWithSource,
};

use crate::command::braces::{TooManyWords, WORDS_MAX, braces};
use crate::command::expand::escape::ansi_c;
use crate::command::expand::shell::{Purpose, Shell, Unreadable};
use crate::command::shortcut;
use crate::command::word::{Part, Word};

pub(crate) struct Expansion<'a> {
    pub(crate) shell: &'a mut dyn Shell,
    pub(crate) span: Range<usize>,
    pub(crate) purpose: Purpose,
    pub(crate) done: Vec<Word>,
    pub(crate) current: Word,
    /// Whether the current word exists, even if it is empty.
    pub(crate) started: bool,
}

impl Expansion<'_> {
    pub(crate) fn raw(&mut self, raw: &str) -> Result<(), Unreadable> {
        let pieces = match shortcut::pieces(raw) {
            Some(pieces) => pieces,
            None => word::parse(raw, &options()).map_err(|_| Unreadable)?,
        };
        for piece in &pieces {
            self.piece(&piece.piece)?;
        }
        if self.done.len() > WORDS_MAX {
            return Err(Unreadable);
        }
        Ok(())
    }

    pub(crate) fn end_word(&mut self) {
        if self.started {
            let next = Word {
                parts: Vec::new(),
                span: self.span.clone(),
            };
            self.done.push(std::mem::replace(&mut self.current, next));
        }
        self.started = false;
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.current.push_str(text);
        self.started = true;
    }

    pub(crate) fn part(&mut self, part: Part) {
        self.current.push(part);
        self.started = true;
    }

    pub(crate) fn piece(&mut self, piece: &WordPiece) -> Result<(), Unreadable> {
        match piece {
            WordPiece::Text(text) => self.unquoted_text(text),
            WordPiece::SingleQuotedText(text) => self.text(text),
            WordPiece::AnsiCQuotedText(text) => {
                let decoded = ansi_c(text).ok_or(Unreadable)?;
                self.text(&decoded);
            }
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                self.started = true;
                self.quoted(pieces)?;
            }
            WordPiece::TildeExpansion(tilde) => self.tilde(tilde),
            WordPiece::ParameterExpansion(expr) => {
                if let Some(parts) = self.placeholder(expr, false) {
                    self.split(&parts);
                } else {
                    let words = self.parameter(expr)?;
                    self.splice(words);
                }
            }
            WordPiece::CommandSubstitution(script) => {
                let parts = self.shell.substitute(script, &self.span.clone())?;
                self.split(&parts);
            }
            // The scan sees every backquote that the shell sees.
            WordPiece::BackquotedCommandSubstitution(_) => return Err(Unreadable),
            WordPiece::EscapeSequence(escape) => {
                let escaped = escape.strip_prefix('\\').unwrap_or(escape);
                if escaped != "\n" {
                    self.text(escaped);
                }
            }
            WordPiece::ArithmeticExpression(expr) => {
                self.arithmetic(&expr.value)?;
                self.part(Part::Token);
            }
        }
        Ok(())
    }

    /// The pieces within double quotes: nothing splits, nothing is a pattern.
    pub(crate) fn quoted(&mut self, pieces: &[WordPieceWithSource]) -> Result<(), Unreadable> {
        for piece in pieces {
            match &piece.piece {
                WordPiece::Text(text) => self.text(text),
                WordPiece::EscapeSequence(escape) => match escape.strip_prefix('\\') {
                    Some("\n") => {}
                    Some(escaped @ ("$" | "`" | "\"" | "\\")) => self.text(escaped),
                    _ => self.text(escape),
                },
                WordPiece::ParameterExpansion(expr) => {
                    if let Some(parts) = self.placeholder(expr, true) {
                        for part in parts {
                            self.part(part);
                        }
                        self.started = true;
                        continue;
                    }
                    let words = self.parameter(expr)?;
                    let separate = is_separate(expr);
                    for (nth, word) in words.into_iter().enumerate() {
                        if nth > 0 {
                            if separate {
                                self.end_word();
                            } else {
                                self.text(" ");
                            }
                        }
                        for part in word.parts {
                            self.part(part);
                        }
                        self.started = true;
                    }
                }
                WordPiece::CommandSubstitution(script) => {
                    for part in self.shell.substitute(script, &self.span.clone())? {
                        self.part(part);
                    }
                }
                other => self.piece(other)?,
            }
        }
        Ok(())
    }

    pub(crate) fn placeholder(&mut self, expr: &ParameterExpr, quoted: bool) -> Option<Vec<Part>> {
        match expr {
            ParameterExpr::Parameter {
                parameter: Parameter::Named(name),
                indirect: false,
            } => self.shell.placeholder(name, quoted),
            _ => None,
        }
    }

    /// Unquoted text: its patterns are parts of their own.
    pub(crate) fn unquoted_text(&mut self, text: &str) {
        if self.purpose == Purpose::Value || !text.contains(['*', '?', '[', '(']) {
            self.text(text);
            return;
        }
        let mut rest = text;
        // Looked for once: a text of nothing but openers would be searched to its end for each.
        let sets_end = text.rfind(']').map_or(0, |at| at + 1);
        let last_set = |pattern: &str| text.len() - pattern.len() < sets_end;
        while let Some(at) = rest.find(['*', '?', '[', '(']) {
            let (before, pattern) = rest.split_at(at);
            let length = match pattern.as_bytes()[0] {
                b'[' if !last_set(pattern) => 0,
                b'[' => match pattern[1..].find(']') {
                    // A `]` right behind the opener belongs to the set.
                    Some(0) => pattern[2..].find(']').map_or(0, |end| end + 3),
                    Some(end) => end + 2,
                    None => 0,
                },
                b'(' => pattern.rfind(')').map_or(0, |end| end + 1),
                _ => 1,
            };
            if !before.is_empty() {
                self.text(before);
            }
            if length == 0 {
                self.text(&pattern[..1]);
                rest = &pattern[1..];
            } else if pattern.starts_with('(') {
                // An extended pattern, or on other shells a qualifier that runs code.
                self.part(Part::Unknown);
                rest = &pattern[length..];
            } else {
                self.part(Part::Glob(pattern[..length].to_owned()));
                rest = &pattern[length..];
            }
        }
        if !rest.is_empty() {
            self.text(rest);
        }
    }

    /// Unquoted words of a value: each is split, and words do not join.
    pub(crate) fn splice(&mut self, words: Vec<Word>) {
        for (nth, word) in words.into_iter().enumerate() {
            if nth > 0 {
                self.end_word();
            }
            self.split(&word.parts);
        }
    }

    pub(crate) fn split(&mut self, parts: &[Part]) {
        if self.purpose == Purpose::Value {
            for part in parts {
                self.part(part.clone());
            }
            return;
        }
        let separators = match self.shell.variable("IFS") {
            Some(words) => words.first().and_then(Word::literal).map(str::to_owned),
            None => None,
        };
        let separators = separators.as_deref().unwrap_or(" \t\n");
        for part in parts {
            match part {
                Part::Text(text) => {
                    for (nth, field) in text.split(|c| separators.contains(c)).enumerate() {
                        if nth > 0 {
                            self.end_word();
                        }
                        if !field.is_empty() {
                            self.unquoted_text(field);
                        }
                    }
                }
                other => self.part(other.clone()),
            }
        }
    }

    pub(crate) fn tilde(&mut self, tilde: &TildeExpr) {
        match tilde {
            TildeExpr::Home => {
                let home = self.shell.home();
                self.text(&home);
            }
            TildeExpr::UserHome(user) if user == "root" => self.text("/root"),
            TildeExpr::UserHome(user) => {
                let home = format!("/home/{user}");
                self.text(&home);
            }
            TildeExpr::WorkingDir => match self.shell.cwd() {
                Some(cwd) => self.text(&cwd),
                None => self.part(Part::Unknown),
            },
            TildeExpr::OldWorkingDir => match self.shell.cwd_before() {
                Some(cwd) => self.text(&cwd),
                None => self.part(Part::Unknown),
            },
            TildeExpr::NthDirFromTopOfDirStack { .. }
            | TildeExpr::NthDirFromBottomOfDirStack { .. } => self.part(Part::Unknown),
        }
    }

    /// Runs the substitutions in text whose value is not followed.
    pub(crate) fn arithmetic(&mut self, raw: &str) -> Result<(), Unreadable> {
        if !raw.contains(['$', '`']) {
            return Ok(());
        }
        let mut inner = Expansion {
            shell: &mut *self.shell,
            span: self.span.clone(),
            purpose: Purpose::Value,
            done: Vec::new(),
            current: Word::default(),
            started: false,
        };
        inner.raw(raw)
    }

    /// The value of a raw word inside a parameter form.
    pub(crate) fn value(&mut self, raw: &str) -> Result<Word, Unreadable> {
        let mut inner = Expansion {
            shell: &mut *self.shell,
            span: self.span.clone(),
            purpose: Purpose::Value,
            done: Vec::new(),
            current: Word {
                parts: Vec::new(),
                span: self.span.clone(),
            },
            started: false,
        };
        inner.raw(raw)?;
        Ok(inner.current)
    }
}

/// The options that every word and every script is parsed with.
pub(crate) fn options() -> ParserOptions {
    ParserOptions::default()
}

/// Whether every byte of a raw word stands for itself.
pub(crate) fn is_plain(raw: &str) -> bool {
    raw.bytes().all(|byte| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'_' | b'-' | b'.' | b'/' | b',' | b':' | b'=' | b'@' | b'%' | b'+' | b'^'
            )
            || byte >= 0x80
    })
}

/// The text of a word that is one pair of quotes with nothing special between them.
fn wholly_quoted(raw: &str) -> Option<&str> {
    let single = raw
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .filter(|text| !text.contains('\''));
    single.or_else(|| {
        raw.strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .filter(|text| !text.contains(['"', '$', '`', '\\']))
    })
}

/// The words that `raw` becomes.
pub(crate) fn expand(
    raw: &str,
    span: &Range<usize>,
    purpose: Purpose,
    shell: &mut dyn Shell,
) -> Result<Vec<Word>, Unreadable> {
    if is_plain(raw) {
        return Ok(vec![Word::text(raw, span.clone())]);
    }
    if let Some(quoted) = wholly_quoted(raw) {
        return Ok(vec![Word::text(quoted, span.clone())]);
    }
    let mut expansion = Expansion {
        shell,
        span: span.clone(),
        purpose,
        done: Vec::new(),
        current: Word {
            parts: Vec::new(),
            span: span.clone(),
        },
        started: false,
    };
    if purpose == Purpose::Argument && raw.contains('{') {
        for member in braces(raw).map_err(|TooManyWords| Unreadable)? {
            if is_plain(&member) && !member.is_empty() {
                expansion.text(&member);
            } else {
                expansion.raw(&member)?;
            }
            expansion.end_word();
        }
    } else {
        expansion.raw(raw)?;
        if purpose == Purpose::Value {
            expansion.started = true;
        }
        expansion.end_word();
    }
    Ok(expansion.done)
}

/// The content of an unquoted heredoc.
pub(crate) fn expand_heredoc(
    raw: &str,
    span: &Range<usize>,
    shell: &mut dyn Shell,
) -> Result<Word, Unreadable> {
    if !raw.contains(['$', '`', '\\']) {
        return Ok(Word::text(raw, span.clone()));
    }
    let pieces = word::parse_heredoc(raw, &options()).map_err(|_| Unreadable)?;
    let mut expansion = Expansion {
        shell,
        span: span.clone(),
        purpose: Purpose::Value,
        done: Vec::new(),
        current: Word {
            parts: Vec::new(),
            span: span.clone(),
        },
        started: true,
    };
    expansion.quoted(&pieces)?;
    Ok(expansion.current)
}

/// Whether the words of the form stay separate within double quotes.
pub(crate) fn is_separate(expr: &ParameterExpr) -> bool {
    match expr {
        ParameterExpr::Parameter { parameter, .. } => matches!(
            parameter,
            Parameter::NamedWithAllIndices {
                concatenate: false,
                ..
            } | Parameter::Special(SpecialParameter::AllPositionalParameters {
                concatenate: false
            })
        ),
        _ => false,
    }
}
