//! Strings of one-line programs: escapes decoded, interpolations unknown.

use crate::command::code::act::Language;
use crate::command::code::token::{Lexer, Token, closer};
use crate::command::word::{Part, Word};

impl Lexer {
    pub(crate) fn string(&mut self, quote: char, prefix: &str) {
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
            Language::JavaScript
            | Language::Awk
            | Language::Lua
            | Language::Other
            | Language::Tcl => false,
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

    pub(crate) fn backquoted(&mut self) {
        let shell = self.tokens.last() == Some(&Token::Sign('$'));
        self.at += 1;
        let word = self.body(false, true, |lexer| {
            (lexer.peek(0) == Some('`')).then_some(1)
        });
        // A template behind a dollar sign is a command of the shells that JavaScript has.
        let runs = match self.language {
            Language::Perl | Language::Ruby | Language::Php => true,
            Language::JavaScript => shell,
            _ => false,
        };
        self.tokens.push(if runs {
            Token::Command(word)
        } else {
            Token::Text(word)
        });
    }

    /// Ruby's `%x(…)` and `%q(…)`.
    pub(crate) fn percent(&mut self) -> bool {
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

    /// Perl's `m/…/`, `s/…/…/` and `tr/…/…/`: what they match is no code, and what they put there
    /// is only where a flag says so.
    pub(crate) fn pattern(&mut self, kind: &str) -> bool {
        let open = match self.peek(0) {
            Some(c) if c.is_alphanumeric() || c.is_whitespace() => return false,
            Some('=' | ',' | ';' | ')') | None => return false,
            Some(open) => open,
        };
        self.at += 1;
        self.matched(open);
        let mut replacement = String::new();
        if matches!(kind, "s" | "tr" | "y") {
            let mut open = open;
            if closer(open) != open {
                while self.peek(0).is_some_and(char::is_whitespace) {
                    self.at += 1;
                }
                open = self.peek(0).unwrap_or(open);
                self.at += 1;
            }
            replacement = self.matched(open);
        }
        let flags = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_lowercase()) {
            self.at += 1;
        }
        self.tokens.push(Token::Number("/".to_owned()));
        let end = self.at.min(self.chars.len());
        if kind == "s" && self.chars[flags.min(end)..end].contains(&'e') {
            let code = Self::new(&replacement, self.language, self.span.clone());
            self.tokens.extend(code.tokens());
        }
        true
    }

    /// The text up to the sign that closes what `open` opened.
    fn matched(&mut self, open: char) -> String {
        let close = closer(open);
        let mut text = String::new();
        let mut depth = 1usize;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => {
                    let escaped = self.peek(0);
                    self.at += 1;
                    if escaped != Some(close) {
                        text.push(c);
                    }
                    text.extend(escaped);
                    continue;
                }
                _ if c == close => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ if c == open => depth += 1,
                _ => {}
            }
            text.push(c);
        }
        text
    }

    pub(crate) fn delimited(&mut self, kind: char, word: Word) {
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
    pub(crate) fn body(
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

    pub(crate) fn escape(&mut self, escaped: char, text: &mut String) {
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
    pub(crate) fn interpolation(&mut self, c: char) -> bool {
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
            Language::Awk | Language::Lua | Language::Other | Language::Tcl => None,
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
}
