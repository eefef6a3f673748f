//! Steps where only words stand: quotes, braces, arithmetic, patterns, tests.

use crate::command::scan::mode::Mode;
use crate::command::scan::refusal::ScanRefusal;
use crate::command::scan::walk::{Scan, Scanned};

impl Scan<'_> {
    /// One step where only words stand: quotes, braces, arithmetic, patterns, heredocs.
    pub(crate) fn words(&mut self) -> Scanned {
        let byte = self.text[self.at];
        let mode = self.open[self.open.len() - 1];
        match (mode, byte) {
            (_, b'`') => self.backquote()?,
            (Mode::Double, b'"') | (Mode::Brace { .. }, b'}') | (Mode::Group, b')') => {
                self.at += 1;
                self.open.pop();
                self.word_start = false;
            }
            (Mode::Double | Mode::Heredoc, _) => self.word_byte(true)?,
            (Mode::Group | Mode::Arithmetic { .. }, b'(') => {
                self.at += 1;
                self.push(Mode::Group)?;
            }
            (Mode::Arithmetic { substitution }, b')') => {
                self.at += 1;
                self.open.pop();
                let start = if substitution {
                    self.arithmetic.pop()
                } else {
                    None
                };
                if self.peek(0) == b')' {
                    self.at += 1;
                    self.closed_parenthesis(substitution);
                } else {
                    // It was a subshell at the start of a list, not arithmetic.
                    if let Some(start) = start {
                        self.marks.push((self.open.len(), start));
                    }
                    self.push(Mode::Paren { substitution })?;
                    self.closed();
                }
            }
            (Mode::Group, b'#') if self.after_blank() => self.comment(),
            (Mode::Group, b'<' | b'>') if self.peek(1) == b'(' => {
                self.at += 2;
                self.push_commands(Mode::Paren { substitution: true })?;
            }
            (Mode::Brace { quoted: true }, b'\'') => self.at += 1,
            _ => self.word_byte(false)?,
        }
        Ok(())
    }

    /// One step inside `[[`: operators separate words, and nothing is a command.
    pub(crate) fn test(&mut self) -> Scanned {
        match self.text[self.at] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                self.at += 1;
                self.word_start = true;
                self.subscripts = 0;
            }
            b'(' => {
                self.at += 1;
                self.push(Mode::Group)?;
            }
            b')' => return Err(ScanRefusal::Unopened("`)`")),
            b']' if self.word_start && self.word() == b"]]" => {
                self.at += 2;
                self.open.pop();
                self.closed();
            }
            b'<' | b'>' if self.peek(1) == b'(' => {
                self.at += 2;
                self.push_commands(Mode::Paren { substitution: true })?;
            }
            b'`' => self.backquote()?,
            _ => {
                self.word_start = false;
                self.word_byte(false)?;
            }
        }
        Ok(())
    }

    /// One byte of a word: escapes, quotes and substitutions.
    pub(crate) fn word_byte(&mut self, quoted: bool) -> Scanned {
        match self.text[self.at] {
            b'\\' => self.at += 2,
            b'\'' if !quoted => {
                self.at += 1;
                self.skip_past(b'\'', "single quote")?;
            }
            b'"' if !quoted => {
                self.at += 1;
                self.push(Mode::Double)?;
            }
            b'$' => match self.peek(1) {
                b'(' if self.peek(2) == b'(' => {
                    self.arithmetic.push(self.at);
                    self.at += 3;
                    self.push(Mode::Arithmetic { substitution: true })?;
                }
                b'(' => {
                    let start = self.at;
                    self.at += 2;
                    self.push_substitution(start, Mode::Paren { substitution: true })?;
                }
                b'{' => {
                    self.at += 2;
                    let quoted = quoted || self.within_double();
                    self.push(Mode::Brace { quoted })?;
                }
                b'[' => return Err(ScanRefusal::OldArithmetic),
                b'\'' if !quoted => {
                    self.at += 2;
                    self.ansi_quote()?;
                }
                _ => self.at += 1,
            },
            b'[' | b']' if !quoted => self.bracket()?,
            _ => self.at += 1,
        }
        Ok(())
    }

    pub(crate) fn within_double(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Mode::Double | Mode::Heredoc | Mode::Brace { quoted: true })
        )
    }

    pub(crate) fn after_blank(&self) -> bool {
        self.at == 0 || matches!(self.text[self.at - 1], b' ' | b'\t' | b'\n')
    }

    pub(crate) fn skip_past(&mut self, closer: u8, name: &'static str) -> Scanned {
        let rest = &self.text[self.at.min(self.end)..self.end];
        match rest.iter().position(|&byte| byte == closer) {
            Some(length) => {
                self.at += length + 1;
                Ok(())
            }
            None => Err(ScanRefusal::Unclosed(name)),
        }
    }

    pub(crate) fn ansi_quote(&mut self) -> Scanned {
        while self.at < self.end {
            match self.text[self.at] {
                b'\\' => self.at += 2,
                b'\'' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => self.at += 1,
            }
        }
        Err(ScanRefusal::Unclosed("single quote"))
    }
}
