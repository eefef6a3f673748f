//! One token after the other.

use std::ops::Range;

use brush_parser::ast::Word;

use crate::command::shortcut::lexer::{Lexer, Operator, Other, Token};

pub(crate) struct Reader<'t> {
    pub(crate) lexer: Lexer<'t>,
    /// The token that is read next.
    pub(crate) next: Token,
}

/// The words that the grammar keeps for itself where a command starts.
pub(crate) fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "!" | "{"
            | "}"
            | "case"
            | "do"
            | "done"
            | "elif"
            | "else"
            | "esac"
            | "fi"
            | "for"
            | "if"
            | "in"
            | "then"
            | "until"
            | "while"
            | "[["
            | "]]"
            | "function"
            | "select"
            | "coproc"
            | "time"
    )
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str) -> Result<Self, Other> {
        let mut lexer = Lexer::new(text)?;
        let next = lexer.next()?;
        Ok(Self { lexer, next })
    }

    /// The token that is next, which is behind it then.
    pub(crate) fn take(&mut self) -> Result<Token, Other> {
        Ok(std::mem::replace(&mut self.next, self.lexer.next()?))
    }

    pub(crate) fn word(&mut self) -> Result<Range<usize>, Other> {
        match self.take()? {
            Token::Word(word) => Ok(word),
            Token::Operator(_) | Token::LineBreak | Token::End => Err(Other),
        }
    }

    pub(crate) fn tree_word(&self, word: &Range<usize>) -> Word {
        Word {
            value: self.lexer.text(word).to_owned(),
            loc: Some(self.lexer.span(word)),
        }
    }

    /// The word that is next, if it is one.
    pub(crate) fn next_word(&self) -> Option<&'t str> {
        match &self.next {
            Token::Word(word) => Some(self.lexer.text(word)),
            Token::Operator(_) | Token::LineBreak | Token::End => None,
        }
    }

    pub(crate) fn takes(&mut self, operator: Operator) -> Result<bool, Other> {
        let is_next = self.next == Token::Operator(operator);
        if is_next {
            self.take()?;
        }
        Ok(is_next)
    }

    pub(crate) fn expect(&mut self, wanted: &str) -> Result<Range<usize>, Other> {
        let word = self.word()?;
        if self.lexer.text(&word) == wanted {
            Ok(word)
        } else {
            Err(Other)
        }
    }

    pub(crate) fn line_breaks(&mut self) -> Result<bool, Other> {
        let mut any = false;
        while self.next == Token::LineBreak {
            self.take()?;
            any = true;
        }
        Ok(any)
    }
}
