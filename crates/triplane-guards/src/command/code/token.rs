//! Tokens of one-line programs: comments dropped, strings and names told apart.

use crate::command::code::act::Language;
use crate::command::word::Word;

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
    pub(crate) chars: Vec<char>,
    pub(crate) at: usize,
    pub(crate) language: Language,
    pub(crate) span: std::ops::Range<usize>,
    pub(crate) tokens: Vec<Token>,
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

    pub(crate) fn peek(&self, ahead: usize) -> Option<char> {
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
            Language::Other | Language::Tcl => false,
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
        // Some names end in a sign: `rm_rf!(…)`, `exist?(…)`.
        if self.language == Language::Ruby
            && matches!(self.peek(0), Some('!' | '?'))
            && self.peek(1) == Some('(')
        {
            self.at += 1;
        }
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
        let quotes_a_pattern = self.language == Language::Perl
            && matches!(name.as_str(), "s" | "m" | "tr" | "y" | "qr")
            && !matches!(
                self.tokens.last(),
                Some(Token::Sign('$' | '@' | '%' | '&' | '>' | '{'))
            );
        if quotes_a_pattern && self.pattern(&name) {
            return;
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

/// What ends a string that `open` starts.
pub(crate) fn closer(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}
