//! Reserved words: what they open and close.

use crate::command::scan::mode::{Arm, Mode, Position};
use crate::command::scan::refusal::{CASES_MAX, DEPTH_MAX, ScanRefusal};
use crate::command::scan::walk::{Scan, Scanned};

impl Scan<'_> {
    /// Takes the word that starts here if it is reserved at this place.
    pub(crate) fn reserved(&mut self) -> Result<bool, ScanRefusal> {
        if !self.text[self.at].is_ascii_lowercase()
            && !matches!(self.text[self.at], b'{' | b'}' | b'[' | b'!')
        {
            return Ok(false);
        }
        let word = self.word();
        let length = word.len();
        if let Some(&Mode::Case(arm)) = self.open.last() {
            let next = match (arm, word) {
                (Arm::Subject, b"in") => Some(Arm::Pattern),
                (Arm::Pattern, b"esac") => None,
                _ if arm != Arm::Body => return Ok(false),
                _ => Some(Arm::Body),
            };
            match next {
                None => {
                    self.at += length;
                    return self.close(Mode::Case(Arm::Body), "`esac`").map(|()| true);
                }
                Some(Arm::Pattern) => {
                    self.at += length;
                    if let Some(Mode::Case(arm)) = self.open.last_mut() {
                        *arm = Arm::Pattern;
                    }
                    self.position = Position::Argument;
                    return Ok(true);
                }
                Some(_) => {}
            }
        }
        if self.position != Position::Command {
            return Ok(false);
        }
        let opened = match word {
            b"{" => Mode::Block,
            b"[[" => Mode::Test,
            b"if" => Mode::If,
            b"while" | b"until" | b"for" | b"select" => Mode::Loop,
            b"case" => Mode::Case(Arm::Subject),
            b"then" | b"else" | b"elif" | b"do" | b"!" | b"time" => {
                self.at += length;
                return Ok(true);
            }
            b"function" | b"coproc" => {
                if word == b"coproc" {
                    // It runs what follows it, and the grammar goes one deeper for each.
                    self.coprocs += 1;
                    if self.open.len() + self.coprocs > DEPTH_MAX {
                        return Err(ScanRefusal::TooDeep);
                    }
                }
                self.at += length;
                self.position = Position::Name;
                return Ok(true);
            }
            b"fi" => {
                self.at += length;
                return self.close(Mode::If, "`fi`").map(|()| true);
            }
            b"done" => {
                self.at += length;
                return self.close(Mode::Loop, "`done`").map(|()| true);
            }
            b"esac" => {
                self.at += length;
                return self.close(Mode::Case(Arm::Body), "`esac`").map(|()| true);
            }
            b"}" => {
                self.at += length;
                return self.close(Mode::Block, "`}`").map(|()| true);
            }
            _ => return Ok(false),
        };
        let names_a_variable = matches!(word, b"for" | b"select");
        if word == b"select" {
            self.selects.push(self.at);
        }
        self.at += length;
        if matches!(opened, Mode::Case(_)) {
            self.cases += 1;
            if self.cases > CASES_MAX {
                return Err(ScanRefusal::TooManyCases);
            }
        }
        self.push_commands(opened)?;
        if names_a_variable {
            while matches!(self.peek(0), b' ' | b'\t') {
                self.at += 1;
            }
            if self.peek(0) == b'(' && self.peek(1) == b'(' {
                self.at += 2;
                self.push(Mode::Arithmetic {
                    substitution: false,
                })?;
            } else {
                self.position = Position::Argument;
            }
        } else if matches!(opened, Mode::Case(_)) {
            self.position = Position::Argument;
        }
        Ok(true)
    }

    pub(crate) fn close(&mut self, opened: Mode, closer: &'static str) -> Scanned {
        match self.open.pop() {
            Some(Mode::Case(_)) if matches!(opened, Mode::Case(_)) => self.cases -= 1,
            Some(mode) if mode == opened => {}
            Some(mode) => return Err(ScanRefusal::Unclosed(mode.name())),
            None => return Err(ScanRefusal::Unopened(closer)),
        }
        self.closed();
        Ok(())
    }
}
