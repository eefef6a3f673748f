//! Arguments and expressions of one-line programs, as far as their values are known.

use crate::command::code::act::Language;
use crate::command::code::paths::ends;
use crate::command::code::read::Reader;
use crate::command::code::token::Token;
use crate::command::word::{Part, Word};

/// The longest text that is followed through names, in bytes; a longer one is not known.
const CONSTANT_BYTES_MAX: usize = 16 * 1024;

impl Reader {
    /// The arguments of the call that this one is a method of: `Path('x').unlink()`.
    pub(crate) fn receiver(&self) -> Vec<Vec<Word>> {
        // Before the name stand the dot and the parenthesis that ends the other call.
        let Some(mut at) = self.at.checked_sub(3) else {
            return Vec::new();
        };
        if self.tokens[at + 1] != Token::Sign('.') {
            return Vec::new();
        }
        if let Token::Name(name) = &self.tokens[at]
            && let Some(words) = self.constants.get(name)
        {
            return vec![words.clone()];
        }
        if self.tokens[at] != Token::Sign(')') {
            return Vec::new();
        }
        let mut depth = 0usize;
        loop {
            match self.tokens[at] {
                Token::Sign(')') => depth += 1,
                Token::Sign('(') => {
                    depth -= 1;
                    if depth == 0 {
                        self.read.set(self.read.get() + self.at - at);
                        return self.arguments(at + 1);
                    }
                }
                _ => {}
            }
            let Some(before) = at.checked_sub(1) else {
                self.read.set(self.read.get() + self.at);
                return Vec::new();
            };
            at = before;
        }
    }

    /// The arguments that start at `at`, each with its words: one for a text, more for a list.
    pub(crate) fn arguments(&self, start: usize) -> Vec<Vec<Word>> {
        let mut args = Vec::new();
        let mut at = start;
        for _ in 0..32 {
            // Of the arguments by name, those count that say what is run or removed.
            let (start, counts) = match self.tokens.get(at..at + 2) {
                Some([Token::Name(name), Token::Sign('=')]) => (
                    at + 2,
                    matches!(
                        name.as_str(),
                        "args" | "cmd" | "command" | "path" | "file" | "code" | "source" | "sql"
                    ),
                ),
                _ => (at, true),
            };
            let (words, end) = self.expression(start);
            if counts && end > start {
                args.push(words);
            }
            at = end;
            if self.tokens.get(at) != Some(&Token::Sign(',')) {
                break;
            }
            at += 1;
        }
        args
    }

    /// The words of the expression at `start`, and where it ends.
    pub(crate) fn expression(&self, start: usize) -> (Vec<Word>, usize) {
        if self.is_too_much() {
            return (vec![Word::unknown(self.span.clone())], start);
        }
        if let Some((word, end)) = self.path_call(start)
            && self.tokens.get(end).is_none_or(ends)
        {
            return (vec![word], end);
        }
        let mut at = start;
        let mut value: Option<Word> = None;
        let mut list: Option<Vec<Word>> = None;
        let mut known = true;
        let mut depth = 0usize;
        let mut joined = true;
        while let Some(token) = self.tokens.get(at) {
            match token {
                Token::LineEnd | Token::Sign(',' | ';' | ')' | ']' | '}') if depth == 0 => break,
                Token::LineEnd => {}
                Token::Sign('[')
                    if depth == 0 && value.is_none() && list.is_none() && at == start =>
                {
                    let (words, end) = self.list(at + 1);
                    list = Some(words);
                    at = end;
                    continue;
                }
                Token::Sign('(' | '[' | '{') => {
                    depth += 1;
                    known = false;
                }
                Token::Sign(')' | ']' | '}') => depth -= 1,
                Token::Name(word)
                    if depth == 0
                        && matches!(
                            word.as_str(),
                            "if" | "unless" | "or" | "and" | "for" | "while"
                        )
                        && at > start =>
                {
                    break;
                }
                Token::Text(text) if depth == 0 => {
                    if !joined
                        && value.is_some()
                        && self.language != Language::Python
                        && self.language != Language::Awk
                    {
                        known = false;
                    }
                    let value = value.get_or_insert_with(|| Word {
                        parts: Vec::new(),
                        span: self.span.clone(),
                    });
                    for part in &text.parts {
                        add(value, part.clone());
                    }
                    if text.parts.is_empty() {
                        value.push_str("");
                    }
                    joined = false;
                }
                Token::Sign('+' | '.') if depth == 0 => joined = true,
                Token::Sign('$' | '@') if depth == 0 => {}
                Token::Name(name) if depth == 0 => match self.constants.get(name) {
                    Some(words)
                        if words.len() == 1 && value.is_none()
                            || joined
                                && self
                                    .constants
                                    .get(name)
                                    .is_some_and(|words| words.len() == 1) =>
                    {
                        let words = &self.constants[name];
                        let value = value.get_or_insert_with(|| Word {
                            parts: Vec::new(),
                            span: self.span.clone(),
                        });
                        self.read.set(self.read.get() + value.parts.len());
                        // A text that is joined to itself again and again doubles each time.
                        if value.bytes() + words[0].bytes() > CONSTANT_BYTES_MAX {
                            known = false;
                        } else {
                            for part in &words[0].parts {
                                add(value, part.clone());
                            }
                        }
                        joined = false;
                    }
                    Some(words) if at == start => list = Some(words.clone()),
                    _ if matches!(name.as_str(), "executable" | "execPath") => {
                        value = Some(Word::text(
                            if self.language == Language::Python {
                                "python3"
                            } else {
                                "node"
                            },
                            self.span.clone(),
                        ));
                        known = true;
                    }
                    _ if self.language == Language::Awk => {
                        let value = value.get_or_insert_with(Word::default);
                        add(value, Part::Unknown);
                    }
                    _ => known = false,
                },
                Token::Sign('-') if at == start && value.is_none() => match self.tokens.get(at + 1)
                {
                    Some(Token::Number(number)) => {
                        value = Some(Word::text(format!("-{number}"), self.span.clone()));
                        at += 1;
                    }
                    _ => known = false,
                },
                Token::Number(number) if depth == 0 && value.is_none() => {
                    value = Some(Word::text(number.clone(), self.span.clone()));
                }
                _ if depth == 0 => {
                    if let Some(value) = &mut value {
                        add(value, Part::Unknown);
                    } else {
                        known = false;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.read.set(self.read.get() + at - start);
        let words = match (list, value) {
            (Some(words), _) => words,
            (None, Some(mut value)) => {
                if !known {
                    add(&mut value, Part::Unknown);
                }
                vec![value]
            }
            (None, None) => vec![Word::unknown(self.span.clone())],
        };
        (words, at)
    }

    /// The words of a list up to its bracket, and where it ends.
    pub(crate) fn list(&self, start: usize) -> (Vec<Word>, usize) {
        let mut words = Vec::new();
        let mut at = start;
        loop {
            let (item, end) = self.expression(at);
            if end > at {
                words.extend(item);
            }
            at = end;
            match self.tokens.get(at) {
                Some(Token::Sign(',') | Token::LineEnd) => at += 1,
                Some(_) => return (words, at + 1),
                None => return (words, at),
            }
        }
    }
}

/// Appends a part. What is not known twice in a row is not known once: it would be copied for every name
/// that holds it.
fn add(value: &mut Word, part: Part) {
    if part != Part::Unknown || value.parts.last() != Some(&Part::Unknown) {
        value.push(part);
    }
}
