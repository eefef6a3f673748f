//! Tokens of one-line programs: comments dropped, strings decoded, interpolations unknown.

use crate::command::code::act::Language;
use crate::command::word::{Part, Word};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Name(String),
    Text(Word),
    /// A command in backquotes or its like.
    Command(Word),
    Number(String),
    Sign(char),
    LineEnd,
}

/// Tells comments, strings, names and signs of a text apart.
pub(crate) struct Lexer {
    chars: Vec<char>,
    at: usize,
    language: Language,
    span: std::ops::Range<usize>,
    tokens: Vec<Token>,
}

impl Lexer {
    pub(crate) fn new(text: &str, language: Language, span: std::ops::Range<usize>) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
            language,
            span,
            tokens: Vec::new(),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub(crate) fn tokens(mut self) -> Vec<Token> {
        while let Some(c) = self.peek(0) {
            match c {
                '\n' => {
                    self.tokens.push(Token::LineEnd);
                    self.at += 1;
                }
                _ if c.is_whitespace() => self.at += 1,
                _ if self.comment(c) => {}
                '"' | '\'' => {
                    let prefix = self.prefix();
                    self.string(c, &prefix);
                }
                '`' => self.backquoted(),
                '/' if self.regex_follows() => self.regex(),
                '%' if self.language == Language::Ruby && self.percent() => {}
                _ if c.is_alphabetic() || c == '_' || c == '\u{1}' => self.name(),
                _ if c.is_ascii_digit() => self.number(),
                _ => {
                    self.tokens.push(Token::Sign(c));
                    self.at += 1;
                }
            }
        }
        self.tokens
    }

    fn comment(&mut self, c: char) -> bool {
        let next = self.peek(1);
        let line = match self.language {
            Language::Python | Language::Perl | Language::Ruby | Language::Awk => c == '#',
            Language::JavaScript => c == '/' && next == Some('/'),
            Language::Php => c == '#' || c == '/' && next == Some('/'),
            Language::Lua => c == '-' && next == Some('-'),
        };
        if line {
            while self.peek(0).is_some_and(|c| c != '\n') {
                self.at += 1;
            }
            return true;
        }
        let block = matches!(self.language, Language::JavaScript | Language::Php)
            && c == '/'
            && next == Some('*');
        if block {
            self.at += 2;
            while self.at < self.chars.len()
                && !(self.peek(0) == Some('*') && self.peek(1) == Some('/'))
            {
                self.at += 1;
            }
            self.at += 2;
        }
        block
    }

    /// The letters before a quote, as in `rb'…'` or `f"…"`; they are taken off the names.
    fn prefix(&mut self) -> String {
        if self.language != Language::Python || self.at == 0 {
            return String::new();
        }
        let adjacent = self.chars[self.at - 1].is_alphabetic();
        match self.tokens.last() {
            Some(Token::Name(name))
                if adjacent && name.len() <= 2 && name.chars().all(|c| "rRbBuUfF".contains(c)) =>
            {
                let name = name.to_lowercase();
                self.tokens.pop();
                name
            }
            _ => String::new(),
        }
    }

    fn string(&mut self, quote: char, prefix: &str) {
        let triple = self.language == Language::Python
            && self.peek(1) == Some(quote)
            && self.peek(2) == Some(quote);
        self.at += if triple { 3 } else { 1 };
        let raw = prefix.contains('r')
            || (quote == '\''
                && matches!(
                    self.language,
                    Language::Perl | Language::Ruby | Language::Php
                ));
        let interpolates = match self.language {
            Language::Python => prefix.contains('f'),
            Language::Perl | Language::Ruby | Language::Php => quote == '"',
            Language::JavaScript | Language::Awk | Language::Lua => false,
        };
        let word = self.body(raw, interpolates, |lexer| {
            if triple {
                (lexer.peek(0) == Some(quote)
                    && lexer.peek(1) == Some(quote)
                    && lexer.peek(2) == Some(quote))
                .then_some(3)
            } else {
                (lexer.peek(0) == Some(quote)).then_some(1)
            }
        });
        self.tokens.push(Token::Text(word));
    }

    fn backquoted(&mut self) {
        self.at += 1;
        let word = self.body(false, true, |lexer| {
            (lexer.peek(0) == Some('`')).then_some(1)
        });
        let runs = matches!(
            self.language,
            Language::Perl | Language::Ruby | Language::Php
        );
        self.tokens.push(if runs {
            Token::Command(word)
        } else {
            Token::Text(word)
        });
    }

    /// Ruby's `%x(…)` and `%q(…)`.
    fn percent(&mut self) -> bool {
        let (Some(kind), Some(open)) = (self.peek(1), self.peek(2)) else {
            return false;
        };
        if !matches!(kind, 'x' | 'q' | 'Q' | 'w') || open.is_alphanumeric() || open.is_whitespace()
        {
            return false;
        }
        self.at += 3;
        let close = closer(open);
        let word = self.body(true, kind != 'q', |lexer| {
            (lexer.peek(0) == Some(close)).then_some(1)
        });
        self.delimited(kind, word);
        true
    }

    fn delimited(&mut self, kind: char, word: Word) {
        match kind {
            'x' => self.tokens.push(Token::Command(word)),
            'w' => {
                let text = word.shown().into_owned();
                self.tokens.push(Token::Sign('['));
                for (nth, item) in text.split_whitespace().enumerate() {
                    if nth > 0 {
                        self.tokens.push(Token::Sign(','));
                    }
                    self.tokens
                        .push(Token::Text(Word::text(item, self.span.clone())));
                }
                self.tokens.push(Token::Sign(']'));
            }
            _ => self.tokens.push(Token::Text(word)),
        }
    }

    /// The text up to where `end` says, escapes decoded and interpolations unknown.
    fn body(
        &mut self,
        raw: bool,
        interpolates: bool,
        end: impl Fn(&Self) -> Option<usize>,
    ) -> Word {
        let mut word = Word {
            parts: Vec::new(),
            span: self.span.clone(),
        };
        let mut text = String::new();
        while let Some(c) = self.peek(0) {
            if let Some(length) = end(self) {
                self.at += length;
                break;
            }
            if c == '\\' {
                let escaped = self.peek(1).unwrap_or('\\');
                self.at += 2;
                if raw {
                    if !matches!(escaped, '\'' | '\\') {
                        text.push('\\');
                    }
                    text.push(escaped);
                } else {
                    self.escape(escaped, &mut text);
                }
                continue;
            }
            if c == '\u{1}' || interpolates && self.interpolation(c) {
                if c == '\u{1}' {
                    self.at += 1;
                }
                word.push_str(&text);
                text.clear();
                word.push(Part::Unknown);
                continue;
            }
            text.push(c);
            self.at += 1;
        }
        if !text.is_empty() || word.parts.is_empty() {
            word.push_str(&text);
        }
        word
    }

    fn escape(&mut self, escaped: char, text: &mut String) {
        match escaped {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            '\n' => {}
            'x' | 'u' => {
                let braced = self.peek(0) == Some('{');
                let start = self.at + usize::from(braced);
                let most = if escaped == 'x' && !braced {
                    2
                } else if braced {
                    6
                } else {
                    4
                };
                let digits: String = self.chars[start.min(self.chars.len())..]
                    .iter()
                    .take(most)
                    .take_while(|c| c.is_ascii_hexdigit())
                    .collect();
                self.at = start + digits.len() + usize::from(braced);
                match u32::from_str_radix(&digits, 16)
                    .ok()
                    .and_then(char::from_u32)
                {
                    Some(c) => text.push(c),
                    None => text.push(escaped),
                }
            }
            '0'..='7' => {
                let mut value = escaped.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    match self.peek(0).and_then(|c| c.to_digit(8)) {
                        Some(digit) => {
                            value = value * 8 + digit;
                            self.at += 1;
                        }
                        None => break,
                    }
                }
                text.extend(char::from_u32(value));
            }
            other => text.push(other),
        }
    }

    /// Steps over an interpolated expression, if one starts here.
    fn interpolation(&mut self, c: char) -> bool {
        let next = self.peek(1);
        let braced = match self.language {
            Language::Python => {
                if c == '{' && next == Some('{') {
                    return false;
                }
                (c == '{').then_some(1)
            }
            Language::JavaScript => (c == '$' && next == Some('{')).then_some(2),
            Language::Ruby => (c == '#' && next == Some('{')).then_some(2),
            Language::Perl | Language::Php => {
                if matches!(c, '$' | '@')
                    && next.is_some_and(|next| next.is_alphabetic() || matches!(next, '_' | '{'))
                {
                    if next != Some('{') {
                        self.at += 1;
                        while self
                            .peek(0)
                            .is_some_and(|c| c.is_alphanumeric() || c == '_')
                        {
                            self.at += 1;
                        }
                        return true;
                    }
                    Some(2)
                } else {
                    (self.language == Language::Php && c == '{' && next == Some('$')).then_some(1)
                }
            }
            Language::Awk | Language::Lua => None,
        };
        let Some(length) = braced else {
            return false;
        };
        self.at += length;
        let mut depth = 1;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
        }
        true
    }

    fn regex_follows(&self) -> bool {
        if matches!(
            self.language,
            Language::Python | Language::Php | Language::Lua
        ) {
            return false;
        }
        match self.tokens.last() {
            None | Some(Token::LineEnd) => true,
            Some(Token::Sign(sign)) => !matches!(sign, ')' | ']' | '}'),
            Some(Token::Name(name)) => {
                matches!(
                    name.as_str(),
                    "return" | "if" | "unless" | "and" | "or" | "not" | "split"
                )
            }
            Some(_) => false,
        }
    }

    fn regex(&mut self) {
        self.at += 1;
        let mut in_set = false;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => self.at += 1,
                '[' => in_set = true,
                ']' => in_set = false,
                '/' if !in_set => break,
                '\n' => break,
                _ => {}
            }
        }
        self.tokens.push(Token::Number("/".to_owned()));
    }

    fn name(&mut self) {
        let start = self.at;
        while self
            .peek(0)
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '\u{1}'))
        {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        let quotes =
            self.language == Language::Perl && matches!(name.as_str(), "q" | "qq" | "qw" | "qx");
        if quotes {
            while self.peek(0).is_some_and(char::is_whitespace) {
                self.at += 1;
            }
            if let Some(open) = self
                .peek(0)
                .filter(|c| !c.is_alphanumeric() && !matches!(c, '=' | ',' | ';' | ')'))
            {
                self.at += 1;
                let close = closer(open);
                let word = self.body(name == "q", name != "q", |lexer| {
                    (lexer.peek(0) == Some(close)).then_some(1)
                });
                self.delimited(name.chars().nth(1).unwrap_or('q'), word);
                return;
            }
        }
        self.tokens.push(Token::Name(name));
    }

    fn number(&mut self) {
        let start = self.at;
        while self
            .peek(0)
            .is_some_and(|c| c.is_ascii_alphanumeric() || c == '.')
        {
            self.at += 1;
        }
        self.tokens
            .push(Token::Number(self.chars[start..self.at].iter().collect()));
    }
}

fn closer(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}
