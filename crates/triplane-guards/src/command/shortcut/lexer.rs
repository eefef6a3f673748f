//! Words and operators of a list, with their places.

use std::ops::Range;
use std::sync::Arc;

use brush_parser::{SourcePosition, SourceSpan};

/// What stands in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Word(Range<usize>),
    Operator(Operator),
    LineBreak,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    And,
    Or,
    Pipe,
    Semicolon,
    Background,
    Less,
    LessAnd,
    Greater,
    GreaterAnd,
    GreaterGreater,
    AndGreater,
}

/// The text is none that is read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Other;

pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// Where each line starts but the first.
    lines: Vec<usize>,
}

impl<'t> Lexer<'t> {
    /// A lexer for a text of ASCII, in which a byte is a character.
    pub(crate) fn new(text: &'t str) -> Result<Self, Other> {
        let mut lines = Vec::new();
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'\n' => lines.push(at + 1),
                b'\t' | b' '..=b'~' => {}
                _ => return Err(Other),
            }
        }
        Ok(Self { text, at: 0, lines })
    }

    pub(crate) fn text(&self, word: &Range<usize>) -> &'t str {
        &self.text[word.clone()]
    }

    /// The place of a word, as the grammar tells it.
    pub(crate) fn span(&self, word: &Range<usize>) -> SourceSpan {
        SourceSpan {
            start: self.position(word.start),
            end: self.position(word.end),
        }
    }

    fn position(&self, index: usize) -> Arc<SourcePosition> {
        let before = self.lines.partition_point(|start| *start <= index);
        let start = match before.checked_sub(1) {
            Some(last) => self.lines[last],
            None => 0,
        };
        Arc::new(SourcePosition {
            index,
            line: before + 1,
            column: index - start + 1,
        })
    }

    /// The byte at `at`; 0 at the end.
    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.byte(self.at + ahead)
    }

    pub(crate) fn next(&mut self) -> Result<Token, Other> {
        while matches!(self.peek(0), b' ' | b'\t') {
            self.at += 1;
        }
        let operator = match (self.peek(0), self.peek(1)) {
            _ if self.at == self.text.len() => return Ok(Token::End),
            (b'\n', _) => {
                self.at += 1;
                return Ok(Token::LineBreak);
            }
            (b'&', b'&') => (Operator::And, 2),
            (b'&', b'>') => (Operator::AndGreater, 2),
            (b'&', _) => (Operator::Background, 1),
            (b'|', b'|') => (Operator::Or, 2),
            (b'|', _) => (Operator::Pipe, 1),
            (b';', _) => (Operator::Semicolon, 1),
            (b'<', b'&') => (Operator::LessAnd, 2),
            (b'<', _) => (Operator::Less, 1),
            (b'>', b'&') => (Operator::GreaterAnd, 2),
            (b'>', b'>') => (Operator::GreaterGreater, 2),
            (b'>', _) => (Operator::Greater, 1),
            (b'#' | b'(' | b')', _) => return Err(Other),
            _ => return self.word(),
        };
        let (operator, length) = operator;
        self.at += length;
        // It may be a longer operator, or two without a blank.
        if matches!(self.peek(0), b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b')') {
            return Err(Other);
        }
        Ok(Token::Operator(operator))
    }

    fn word(&mut self) -> Result<Token, Other> {
        let start = self.at;
        while self.at < self.text.len() {
            match self.peek(0) {
                b' ' | b'\t' | b'\n' | b'&' | b'|' | b';' | b'<' | b'>' | b')' => break,
                b'(' | b'`' => return Err(Other),
                b'\\' => self.escaped()?,
                b'$' => self.dollar()?,
                b'\'' => {
                    let length = self.text[self.at + 1..].find('\'').ok_or(Other)?;
                    self.at += length + 2;
                }
                b'"' => self.double_quoted()?,
                _ => self.at += 1,
            }
        }
        Ok(Token::Word(start..self.at))
    }

    fn double_quoted(&mut self) -> Result<(), Other> {
        self.at += 1;
        loop {
            match self.peek(0) {
                b'"' => break,
                b'`' | 0 => return Err(Other),
                b'\\' => self.escaped()?,
                b'$' if matches!(self.peek(1), b'"' | b'\'') => self.at += 1,
                b'$' => self.dollar()?,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// A line that goes on leaves no trace in the grammar's words.
    fn escaped(&mut self) -> Result<(), Other> {
        if matches!(self.peek(1), 0 | b'\n') {
            return Err(Other);
        }
        self.at += 2;
        Ok(())
    }

    /// A `$` and what it needs to be no more than a name.
    fn dollar(&mut self) -> Result<(), Other> {
        self.at += 1;
        match self.peek(0) {
            b'(' | b'[' | b'\'' | b'"' => Err(Other),
            b'{' => {
                self.at += 1;
                while matches!(self.peek(0), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') {
                    self.at += 1;
                }
                if self.peek(0) != b'}' {
                    return Err(Other);
                }
                self.at += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
