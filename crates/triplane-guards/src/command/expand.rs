//! From a raw word to the words that a program receives.
//!
//! Brace forms, quotes, parameters, substitutions and field splitting are followed as far as the
//! text tells. What a parameter or a substitution yields is asked from a [`Shell`], so that this
//! module knows neither variables nor commands.

use std::ops::Range;

use brush_parser::ParserOptions;
use brush_parser::ast;
use brush_parser::word::{
    self, Parameter, ParameterExpr, ParameterTestType, ParameterTransformOp, SpecialParameter,
    SubstringMatchKind, TildeExpr, WordPiece, WordPieceWithSource,
};

use crate::command::braces::{TooManyWords, WORDS_MAX, braces};
use crate::command::scope::glob_matches;
use crate::command::word::{Part, Word};

/// A word that cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// What an expansion asks of the shell that it stands in.
pub(crate) trait Shell {
    /// The value of a variable: its words, or `None` when it is not known here.
    fn variable(&mut self, name: &str) -> Option<Vec<Word>>;
    /// Sets a variable, as `${name:=value}` does.
    fn assign(&mut self, name: &str, value: Word);
    /// The positional parameters, if they are known.
    fn positional(&mut self) -> Option<Vec<Word>>;
    /// Runs the substitution that a parameter stands for, if it stands for one, and says what is
    /// known of its output.
    fn placeholder(&mut self, name: &str, quoted: bool) -> Option<Vec<Part>>;
    /// Runs a substitution that the scan has not seen, and says what is known of its output.
    fn substitute(&mut self, script: &str, span: &Range<usize>) -> Result<Vec<Part>, Unreadable>;
    /// The home folder.
    fn home(&mut self) -> String;
    /// The current folder, if it is known.
    fn cwd(&mut self) -> Option<String>;
    /// The folder before the current one, if it is known.
    fn cwd_before(&mut self) -> Option<String>;
}

/// How a word is expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// As an argument: braces, splitting and patterns count.
    Argument,
    /// As a value, a redirection's text or a heredoc: it stays one word.
    Value,
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
            expansion.raw(&member)?;
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

struct Expansion<'a> {
    shell: &'a mut dyn Shell,
    span: Range<usize>,
    purpose: Purpose,
    done: Vec<Word>,
    current: Word,
    /// Whether the current word exists, even if it is empty.
    started: bool,
}

impl Expansion<'_> {
    fn raw(&mut self, raw: &str) -> Result<(), Unreadable> {
        let pieces = word::parse(raw, &options()).map_err(|_| Unreadable)?;
        for piece in &pieces {
            self.piece(&piece.piece)?;
        }
        if self.done.len() > WORDS_MAX {
            return Err(Unreadable);
        }
        Ok(())
    }

    fn end_word(&mut self) {
        if self.started {
            let next = Word {
                parts: Vec::new(),
                span: self.span.clone(),
            };
            self.done.push(std::mem::replace(&mut self.current, next));
        }
        self.started = false;
    }

    fn text(&mut self, text: &str) {
        self.current.push_str(text);
        self.started = true;
    }

    fn part(&mut self, part: Part) {
        self.current.push(part);
        self.started = true;
    }

    fn piece(&mut self, piece: &WordPiece) -> Result<(), Unreadable> {
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
    fn quoted(&mut self, pieces: &[WordPieceWithSource]) -> Result<(), Unreadable> {
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

    fn placeholder(&mut self, expr: &ParameterExpr, quoted: bool) -> Option<Vec<Part>> {
        match expr {
            ParameterExpr::Parameter {
                parameter: Parameter::Named(name),
                indirect: false,
            } => self.shell.placeholder(name, quoted),
            _ => None,
        }
    }

    /// Unquoted text: its patterns are parts of their own.
    fn unquoted_text(&mut self, text: &str) {
        if self.purpose == Purpose::Value || !text.contains(['*', '?', '[', '(']) {
            self.text(text);
            return;
        }
        let mut rest = text;
        while let Some(at) = rest.find(['*', '?', '[', '(']) {
            let (before, pattern) = rest.split_at(at);
            let length = match pattern.as_bytes()[0] {
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
    fn splice(&mut self, words: Vec<Word>) {
        for (nth, word) in words.into_iter().enumerate() {
            if nth > 0 {
                self.end_word();
            }
            self.split(&word.parts);
        }
    }

    fn split(&mut self, parts: &[Part]) {
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

    fn tilde(&mut self, tilde: &TildeExpr) {
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
    fn arithmetic(&mut self, raw: &str) -> Result<(), Unreadable> {
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
    fn value(&mut self, raw: &str) -> Result<Word, Unreadable> {
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

    fn unknown(&self) -> Vec<Word> {
        vec![Word::unknown(self.span.clone())]
    }

    fn token(&self) -> Vec<Word> {
        vec![Word {
            parts: vec![Part::Token],
            span: self.span.clone(),
        }]
    }

    fn lookup(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
    ) -> Result<Option<Vec<Word>>, Unreadable> {
        let value = match parameter {
            Parameter::Named(name) => self.named(name),
            Parameter::NamedWithIndex { name, index } => {
                self.arithmetic(index)?;
                let index = index.parse::<usize>().ok();
                self.shell.variable(name).map(|words| match index {
                    Some(index) => words.into_iter().nth(index).into_iter().collect(),
                    None => vec![Word::unknown(self.span.clone())],
                })
            }
            Parameter::NamedWithAllIndices { name, .. } => self.shell.variable(name),
            Parameter::Positional(nth) => self.shell.positional().map(|words| {
                let nth = usize::try_from(*nth).unwrap_or(usize::MAX);
                words
                    .into_iter()
                    .nth(nth.wrapping_sub(1))
                    .into_iter()
                    .collect()
            }),
            Parameter::Special(special) => match special {
                SpecialParameter::AllPositionalParameters { .. } => self.shell.positional(),
                SpecialParameter::PositionalParameterCount
                | SpecialParameter::LastExitStatus
                | SpecialParameter::ProcessId
                | SpecialParameter::LastBackgroundProcessId
                | SpecialParameter::CurrentOptionFlags => Some(self.token()),
                SpecialParameter::ShellName => None,
            },
        };
        if !indirect {
            return Ok(value);
        }
        let name = value
            .as_ref()
            .and_then(|words| words.first())
            .and_then(Word::literal)
            .map(str::to_owned);
        Ok(name.and_then(|name| self.named(&name)))
    }

    fn named(&mut self, name: &str) -> Option<Vec<Word>> {
        if let Some(words) = self.shell.variable(name) {
            return Some(words);
        }
        let text = match name {
            "HOME" => self.shell.home(),
            "PWD" => self.shell.cwd()?,
            "OLDPWD" => self.shell.cwd_before()?,
            "IFS" => " \t\n".to_owned(),
            "RANDOM" | "UID" | "EUID" | "PPID" | "BASHPID" | "SECONDS" | "LINENO" | "SRANDOM" => {
                return Some(self.token());
            }
            _ => return None,
        };
        Some(vec![Word::text(text, self.span.clone())])
    }

    /// The words of a parameter form. An unset variable may have come from outside: it is unknown.
    fn parameter(&mut self, expr: &ParameterExpr) -> Result<Vec<Word>, Unreadable> {
        match expr {
            ParameterExpr::Parameter {
                parameter,
                indirect,
            } => {
                let Some(mut words) = self.lookup(parameter, *indirect)? else {
                    return Ok(self.unknown());
                };
                // `$name` of an array is its first element.
                if matches!(parameter, Parameter::Named(_)) {
                    words.truncate(1);
                }
                Ok(words)
            }
            ParameterExpr::UseDefaultValues {
                parameter,
                indirect,
                test_type,
                default_value,
            } => {
                let default = self.value(default_value.as_deref().unwrap_or(""))?;
                match self.lookup(parameter, *indirect)? {
                    Some(words) if is_set(&words, test_type) => Ok(words),
                    Some(_) => Ok(vec![default]),
                    None => Ok(self.unknown()),
                }
            }
            ParameterExpr::AssignDefaultValues {
                parameter,
                indirect,
                test_type,
                default_value,
            } => {
                let default = self.value(default_value.as_deref().unwrap_or(""))?;
                match self.lookup(parameter, *indirect)? {
                    Some(words) if is_set(&words, test_type) => Ok(words),
                    known => {
                        if let Parameter::Named(name) = parameter {
                            let value = if known.is_some() {
                                default.clone()
                            } else {
                                Word::unknown(self.span.clone())
                            };
                            self.shell.assign(name, value);
                        }
                        Ok(if known.is_some() {
                            vec![default]
                        } else {
                            self.unknown()
                        })
                    }
                }
            }
            ParameterExpr::IndicateErrorIfNullOrUnset {
                parameter,
                indirect,
                error_message,
                ..
            } => {
                self.value(error_message.as_deref().unwrap_or(""))?;
                Ok(self
                    .lookup(parameter, *indirect)?
                    .unwrap_or_else(|| self.unknown()))
            }
            ParameterExpr::UseAlternativeValue {
                parameter,
                indirect,
                test_type,
                alternative_value,
            } => {
                let alternative = self.value(alternative_value.as_deref().unwrap_or(""))?;
                match self.lookup(parameter, *indirect)? {
                    Some(words) if is_set(&words, test_type) => Ok(vec![alternative]),
                    Some(_) => Ok(Vec::new()),
                    None => Ok(self.unknown()),
                }
            }
            ParameterExpr::ParameterLength { .. } => Ok(self.token()),
            ParameterExpr::RemoveSmallestSuffixPattern {
                parameter,
                indirect,
                pattern,
            } => self.trimmed(parameter, *indirect, pattern.as_deref(), Trim::ShortSuffix),
            ParameterExpr::RemoveLargestSuffixPattern {
                parameter,
                indirect,
                pattern,
            } => self.trimmed(parameter, *indirect, pattern.as_deref(), Trim::LongSuffix),
            ParameterExpr::RemoveSmallestPrefixPattern {
                parameter,
                indirect,
                pattern,
            } => self.trimmed(parameter, *indirect, pattern.as_deref(), Trim::ShortPrefix),
            ParameterExpr::RemoveLargestPrefixPattern {
                parameter,
                indirect,
                pattern,
            } => self.trimmed(parameter, *indirect, pattern.as_deref(), Trim::LongPrefix),
            ParameterExpr::Substring {
                parameter,
                indirect,
                offset,
                length,
            } => self.substring(parameter, *indirect, offset, length.as_ref()),
            ParameterExpr::Transform {
                parameter,
                indirect,
                op,
            } => self.mapped(parameter, *indirect, |text| match op {
                ParameterTransformOp::ToLowerCase => Some(text.to_lowercase()),
                ParameterTransformOp::ToUpperCase => Some(text.to_uppercase()),
                ParameterTransformOp::ExpandEscapeSequences => ansi_c(text),
                ParameterTransformOp::CapitalizeInitial
                | ParameterTransformOp::PossiblyQuoteWithArraysExpanded { .. }
                | ParameterTransformOp::PromptExpand
                | ParameterTransformOp::Quoted
                | ParameterTransformOp::ToAssignmentLogic
                | ParameterTransformOp::ToAttributeFlags => None,
            }),
            ParameterExpr::UppercasePattern {
                parameter,
                indirect,
                pattern: None,
            } => self.mapped(parameter, *indirect, |text| Some(text.to_uppercase())),
            ParameterExpr::LowercasePattern {
                parameter,
                indirect,
                pattern: None,
            } => self.mapped(parameter, *indirect, |text| Some(text.to_lowercase())),
            ParameterExpr::UppercaseFirstChar { pattern, .. }
            | ParameterExpr::UppercasePattern { pattern, .. }
            | ParameterExpr::LowercaseFirstChar { pattern, .. }
            | ParameterExpr::LowercasePattern { pattern, .. } => {
                self.value(pattern.as_deref().unwrap_or(""))?;
                Ok(self.unknown())
            }
            ParameterExpr::ReplaceSubstring {
                parameter,
                indirect,
                pattern,
                replacement,
                match_kind,
            } => {
                let pattern = self.value(pattern)?;
                let replacement = self.value(replacement.as_deref().unwrap_or(""))?;
                let known = match (pattern.literal(), replacement.literal()) {
                    (Some(from), Some(to)) if !from.contains(['*', '?', '[']) => {
                        Some((from.to_owned(), to.to_owned()))
                    }
                    _ => None,
                };
                self.mapped(parameter, *indirect, |text| {
                    let (from, to) = known.as_ref()?;
                    Some(match match_kind {
                        SubstringMatchKind::Prefix => match text.strip_prefix(from.as_str()) {
                            Some(rest) => format!("{to}{rest}"),
                            None => text.to_owned(),
                        },
                        SubstringMatchKind::Suffix => match text.strip_suffix(from.as_str()) {
                            Some(rest) => format!("{rest}{to}"),
                            None => text.to_owned(),
                        },
                        SubstringMatchKind::FirstOccurrence => text.replacen(from, to, 1),
                        SubstringMatchKind::Anywhere => text.replace(from, to),
                    })
                })
            }
            ParameterExpr::VariableNames { .. } | ParameterExpr::MemberKeys { .. } => {
                Ok(self.unknown())
            }
        }
    }

    /// Each known word of a parameter through `map`.
    fn mapped(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
        map: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<Word>, Unreadable> {
        let Some(words) = self.lookup(parameter, indirect)? else {
            return Ok(self.unknown());
        };
        Ok(words
            .iter()
            .map(|word| match word.literal().and_then(&map) {
                Some(text) => Word::text(text, word.span.clone()),
                None => Word::unknown(word.span.clone()),
            })
            .collect())
    }

    fn trimmed(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
        pattern: Option<&str>,
        trim: Trim,
    ) -> Result<Vec<Word>, Unreadable> {
        let pattern = self.value(pattern.unwrap_or(""))?;
        let pattern = pattern.literal().map(str::to_owned);
        self.mapped(parameter, indirect, |text| {
            trim.apply(text, pattern.as_deref()?)
        })
    }

    fn substring(
        &mut self,
        parameter: &Parameter,
        indirect: bool,
        offset: &ast::UnexpandedArithmeticExpr,
        length: Option<&ast::UnexpandedArithmeticExpr>,
    ) -> Result<Vec<Word>, Unreadable> {
        self.arithmetic(&offset.value)?;
        if let Some(length) = length {
            self.arithmetic(&length.value)?;
        }
        let offset = offset.value.trim().parse::<i64>().ok();
        let length = length.map(|length| length.value.trim().parse::<i64>().ok());
        self.mapped(parameter, indirect, |text| {
            let chars: Vec<char> = text.chars().collect();
            let total = i64::try_from(chars.len()).ok()?;
            let offset = offset?;
            let start = if offset < 0 { total + offset } else { offset }.clamp(0, total);
            let end = match length {
                None => total,
                Some(length) => {
                    let length = length?;
                    if length < 0 {
                        total + length
                    } else {
                        start + length
                    }
                    .clamp(start, total)
                }
            };
            let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
            Some(chars[start..end].iter().collect())
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Trim {
    ShortSuffix,
    LongSuffix,
    ShortPrefix,
    LongPrefix,
}

impl Trim {
    fn apply(self, text: &str, pattern: &str) -> Option<String> {
        if text.len() > 256 {
            return None;
        }
        let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        cuts.push(text.len());
        let cut = match self {
            Self::ShortSuffix => cuts
                .iter()
                .rev()
                .find(|&&at| glob_matches(pattern, &text[at..])),
            Self::LongSuffix => cuts.iter().find(|&&at| glob_matches(pattern, &text[at..])),
            Self::ShortPrefix => cuts.iter().find(|&&at| glob_matches(pattern, &text[..at])),
            Self::LongPrefix => cuts
                .iter()
                .rev()
                .find(|&&at| glob_matches(pattern, &text[..at])),
        };
        let kept = match (self, cut) {
            (_, None) => text,
            (Self::ShortSuffix | Self::LongSuffix, Some(&at)) => &text[..at],
            (Self::ShortPrefix | Self::LongPrefix, Some(&at)) => &text[at..],
        };
        Some(kept.to_owned())
    }
}

fn is_set(words: &[Word], test: &ParameterTestType) -> bool {
    match test {
        ParameterTestType::Unset => !words.is_empty(),
        ParameterTestType::UnsetOrNull => words.iter().any(|word| word.literal() != Some("")),
    }
}

/// Whether the words of the form stay separate within double quotes.
fn is_separate(expr: &ParameterExpr) -> bool {
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

/// Decodes the escapes of `$'…'`; `None` when the result is not text.
pub(crate) fn ansi_c(text: &str) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let Some(escape) = chars.next() else {
            bytes.push(b'\\');
            break;
        };
        match escape {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '\\' | '\'' | '"' | '?' => bytes.push(u8::try_from(escape).ok()?),
            'c' => {
                let control = chars.next()?;
                bytes.push(u8::try_from(u32::from(control) & 0x1f).ok()?);
            }
            'x' => match digits(&mut chars, 16, 2) {
                Some(value) => bytes.push(u8::try_from(value & 0xff).ok()?),
                None => bytes.extend_from_slice(b"\\x"),
            },
            'u' | 'U' => {
                let most = if escape == 'u' { 4 } else { 8 };
                match digits(&mut chars, 16, most) {
                    Some(value) => {
                        let c = char::from_u32(value)?;
                        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    None => bytes.extend_from_slice(&[b'\\', u8::try_from(escape).ok()?]),
                }
            }
            '0'..='7' => {
                let first = escape.to_digit(8)?;
                let rest = octal_rest(&mut chars, first);
                bytes.push(u8::try_from(rest & 0xff).ok()?);
            }
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    // The shell ends the text at a NUL.
    if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
        bytes.truncate(end);
    }
    String::from_utf8(bytes).ok()
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn digits(chars: &mut Chars<'_>, radix: u32, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        chars.next();
        value = Some(value.unwrap_or(0) * radix + digit);
    }
    value
}

fn octal_rest(chars: &mut Chars<'_>, first: u32) -> u32 {
    let mut value = first;
    for _ in 0..2 {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else {
            break;
        };
        chars.next();
        value = value * 8 + digit;
    }
    value
}
