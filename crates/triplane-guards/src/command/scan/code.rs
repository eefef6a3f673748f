//! Steps among commands.

use crate::command::scan::mode::{Arm, Mode, Position};
use crate::command::scan::refusal::{DESCRIPTOR_DIGITS_MAX, ScanRefusal};
use crate::command::scan::walk::{Scan, Scanned};

impl Scan<'_> {
    /// One step among commands.
    pub(crate) fn code(&mut self) -> Scanned {
        let byte = self.text[self.at];
        match byte {
            b' ' | b'\t' | b'\r' => {
                self.at += 1;
                self.word_start = true;
            }
            b'\n' => {
                self.at += 1;
                self.separator()?;
                self.heredoc_bodies()?;
            }
            // A line that goes on: nothing starts or ends here.
            b'\\' if self.peek(1) == b'\n' => self.at += 2,
            b'#' if self.word_start => self.comment(),
            b';' => {
                self.at += 1;
                if matches!(self.peek(0), b';' | b'&') {
                    self.at += 1;
                    if self.peek(0) == b'&' {
                        self.at += 1;
                    }
                    if let Some(Mode::Case(arm)) = self.open.last_mut() {
                        *arm = Arm::Pattern;
                    }
                }
                self.separator()?;
            }
            b'&' if self.peek(1) == b'>' => {
                self.at += 2;
                self.redirected();
            }
            b'&' | b'|' => {
                self.at += 1;
                if self.peek(0) == byte || self.peek(0) == b'&' {
                    self.at += 1;
                }
                let in_pattern = matches!(self.open.last(), Some(Mode::Case(Arm::Pattern)));
                self.separator()?;
                if in_pattern {
                    self.position = Position::Argument;
                }
            }
            b'<' | b'>' => self.redirection()?,
            b'(' => self.parenthesis()?,
            b')' => self.close_parenthesis()?,
            b'`' => self.backquote()?,
            _ if self.word_start && self.reserved()? => {}
            _ => {
                self.in_word();
                self.word_byte(false)?;
            }
        }
        Ok(())
    }

    pub(crate) fn parenthesis(&mut self) -> Scanned {
        let before = if self.at == 0 {
            0
        } else {
            self.text[self.at - 1]
        };
        if self.open.last() == Some(&Mode::Case(Arm::Pattern)) && self.word_start {
            self.at += 1;
            return Ok(());
        }
        let glued = !self.word_start;
        if glued && matches!(before, b'=' | b'@' | b'!' | b'?' | b'+' | b'*') {
            self.at += 1;
            // `!(` in command position may negate a subshell: its words are commands then.
            return if before == b'!' {
                self.push_commands(Mode::Paren { substitution: true })
            } else {
                self.push(Mode::Group)
            };
        }
        if glued || self.position == Position::Argument {
            // `name()` defines a function: what follows is a command.
            let mut ahead = 1;
            while matches!(self.peek(ahead), b' ' | b'\t') {
                ahead += 1;
            }
            if self.peek(ahead) == b')' {
                self.at += ahead + 1;
                self.closed();
                return Ok(());
            }
            self.at += 1;
            return self.push(Mode::Group);
        }
        if self.peek(1) == b'(' {
            self.at += 2;
            return self.push(Mode::Arithmetic {
                substitution: false,
            });
        }
        self.at += 1;
        self.push_commands(Mode::Paren {
            substitution: false,
        })
    }

    pub(crate) fn close_parenthesis(&mut self) -> Scanned {
        match self.open.last_mut() {
            Some(Mode::Paren { substitution }) => {
                let substitution = *substitution;
                self.at += 1;
                self.open.pop();
                self.end_substitution(false);
                self.closed_parenthesis(substitution);
                Ok(())
            }
            Some(Mode::Case(arm @ Arm::Pattern)) => {
                *arm = Arm::Body;
                self.at += 1;
                self.position = Position::Command;
                self.word_start = true;
                Ok(())
            }
            Some(mode) => Err(ScanRefusal::Unclosed(mode.name())),
            None => Err(ScanRefusal::Unopened("`)`")),
        }
    }

    pub(crate) fn redirection(&mut self) -> Scanned {
        let byte = self.text[self.at];
        let digits = self.text[..self.at].iter().rev();
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
        if digits > DESCRIPTOR_DIGITS_MAX {
            return Err(ScanRefusal::Descriptor);
        }
        if self.peek(1) == b'(' {
            self.in_word();
            self.at += 2;
            return self.push_commands(Mode::Paren { substitution: true });
        }
        if byte == b'<' && self.peek(1) == b'<' {
            if self.peek(2) == b'<' {
                self.at += 3;
                self.redirected();
                return Ok(());
            }
            self.at += 2;
            return self.heredoc_tag();
        }
        self.at += 1;
        if matches!(self.peek(0), b'&' | b'>' | b'|') {
            self.at += 1;
        }
        self.redirected();
        Ok(())
    }

    pub(crate) fn comment(&mut self) {
        let in_backquotes = self.open.contains(&Mode::Backquote);
        while self.at < self.end && self.text[self.at] != b'\n' {
            if in_backquotes && self.text[self.at] == b'`' {
                return;
            }
            self.at += 1;
        }
    }

    pub(crate) fn backquote(&mut self) -> Scanned {
        // The nearest open backquotes are closed, if nothing but words is open within them.
        if let Some(mode) = self.open.last()
            && *mode != Mode::Backquote
            && let Some(opened) = self.open.iter().rposition(|mode| *mode == Mode::Backquote)
        {
            return Err(ScanRefusal::Unclosed(
                self.open[opened + 1..]
                    .last()
                    .map_or("backquote", |mode| mode.name()),
            ));
        }
        self.at += 1;
        if self.open.last() == Some(&Mode::Backquote) {
            self.open.pop();
            self.end_substitution(true);
            self.position = Position::Argument;
            self.word_start = false;
            return Ok(());
        }
        self.in_word();
        self.push_substitution(self.at - 1, Mode::Backquote)
    }
}
