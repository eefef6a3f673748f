//! The walk itself: what is open, and one step after the other.

use std::ops::Range;

use crate::command::scan::mode::{Mode, Position};
use crate::command::scan::refusal::{
    BYTES_MAX, DEPTH_MAX, SEPARATORS_MAX, SUBSCRIPTS_MAX, ScanRefusal,
};

/// A command substitution as it stands in a text, nested in no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Substitution {
    /// All of it, its signs included.
    pub(crate) span: Range<usize>,
    pub(crate) backquoted: bool,
}

pub(crate) struct Heredoc {
    pub(crate) tag: Vec<u8>,
    pub(crate) quoted: bool,
    pub(crate) strip_tabs: bool,
}

pub(crate) struct Scan<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) open: Vec<Mode>,
    pub(crate) heredocs: Vec<Heredoc>,
    pub(crate) separators: usize,
    pub(crate) cases: usize,
    /// How many subscripts are open in the current word.
    pub(crate) subscripts: usize,
    /// How many `coproc` stand before the current command.
    pub(crate) coprocs: usize,
    pub(crate) position: Position,
    pub(crate) word_start: bool,
    /// Where each open substitution starts, with the number of modes that were open then.
    pub(crate) marks: Vec<(usize, usize)>,
    /// Where each open `$((` starts.
    pub(crate) arithmetic: Vec<usize>,
    pub(crate) found: Vec<Substitution>,
    /// Where each `select` stands that starts a loop.
    pub(crate) selects: Vec<usize>,
}

/// What the scan finds that the grammar must not be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The outermost command substitutions, in their order.
    pub(crate) substitutions: Vec<Substitution>,
    /// Where each `select` outside of them starts a loop.
    pub(crate) selects: Vec<usize>,
}

pub(crate) type Scanned = Result<(), ScanRefusal>;

impl Scan<'_> {
    /// Scans up to `self.end`; what is open above `floor` must be closed there.
    pub(crate) fn run(&mut self, floor: usize) -> Scanned {
        while self.at < self.end {
            match self.open.last() {
                None => self.code()?,
                Some(mode) if mode.holds_commands() => self.code()?,
                Some(Mode::Test) => self.test()?,
                Some(_) => self.words()?,
            }
        }
        if !self.heredocs.is_empty() {
            return Err(ScanRefusal::Unclosed("heredoc"));
        }
        match self.open.get(floor..) {
            Some([.., mode]) => Err(ScanRefusal::Unclosed(mode.name())),
            _ => Ok(()),
        }
    }

    pub(crate) fn peek(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        if at < self.end { self.text[at] } else { 0 }
    }

    pub(crate) fn push(&mut self, mode: Mode) -> Scanned {
        let weight = usize::from(matches!(mode, Mode::Arithmetic { .. })) + 1;
        if self.open.len() + weight > DEPTH_MAX {
            return Err(ScanRefusal::TooDeep);
        }
        self.open.push(mode);
        Ok(())
    }

    /// Opens a mode whose content starts with a command.
    pub(crate) fn push_commands(&mut self, mode: Mode) -> Scanned {
        self.push(mode)?;
        self.position = Position::Command;
        self.word_start = true;
        Ok(())
    }

    /// Opens a command substitution that starts at `start`.
    pub(crate) fn push_substitution(&mut self, start: usize, mode: Mode) -> Scanned {
        self.separators += 1;
        if self.separators > SEPARATORS_MAX {
            return Err(ScanRefusal::TooManySeparators);
        }
        self.marks.push((self.open.len(), start));
        self.push_commands(mode)
    }

    /// A mode was closed: perhaps the outermost substitution ended here.
    pub(crate) fn end_substitution(&mut self, backquoted: bool) {
        let Some(&(depth, start)) = self.marks.last() else {
            return;
        };
        if depth != self.open.len() {
            return;
        }
        self.marks.pop();
        if self.marks.is_empty() {
            while self
                .found
                .last()
                .is_some_and(|inner| inner.span.start > start)
            {
                self.found.pop();
            }
            self.found.push(Substitution {
                span: start..self.at,
                backquoted,
            });
        }
    }

    pub(crate) fn separator(&mut self) -> Scanned {
        self.separators += 1;
        self.coprocs = 0;
        self.position = Position::Command;
        self.word_start = true;
        if self.separators > SEPARATORS_MAX {
            return Err(ScanRefusal::TooManySeparators);
        }
        Ok(())
    }

    /// A word went on or began here.
    pub(crate) fn in_word(&mut self) {
        if self.word_start {
            self.subscripts = 0;
            self.position = match self.position {
                Position::Command | Position::Argument | Position::Target { command: false } => {
                    Position::Argument
                }
                Position::Name | Position::Target { command: true } => Position::Command,
            };
        }
        self.word_start = false;
    }

    pub(crate) fn redirected(&mut self) {
        let command = matches!(self.position, Position::Command);
        self.position = Position::Target { command };
        self.word_start = true;
    }

    /// A compound command ended: only its redirections or another closer can follow.
    pub(crate) fn closed(&mut self) {
        self.position = Position::Command;
        self.word_start = true;
    }

    pub(crate) fn closed_parenthesis(&mut self, substitution: bool) {
        if substitution {
            self.position = Position::Argument;
            self.word_start = false;
        } else {
            self.closed();
        }
    }

    /// A bracket outside of quotes: behind a name, it may open a subscript.
    pub(crate) fn bracket(&mut self) -> Scanned {
        let before = self.at.checked_sub(1).map(|at| self.text[at]);
        if self.text[self.at] == b']' {
            self.subscripts = self.subscripts.saturating_sub(1);
        } else if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.subscripts += 1;
            if self.subscripts > SUBSCRIPTS_MAX {
                return Err(ScanRefusal::TooDeep);
            }
        }
        self.at += 1;
        Ok(())
    }

    /// The bytes of the word that starts here, up to a blank or an operator.
    pub(crate) fn word(&self) -> &[u8] {
        let rest = &self.text[self.at..self.end];
        let length = rest.iter().position(|byte| {
            matches!(
                byte,
                b' ' | b'\t'
                    | b'\r'
                    | b'\n'
                    | b';'
                    | b'&'
                    | b'|'
                    | b'<'
                    | b'>'
                    | b'('
                    | b')'
                    | b'`'
            )
        });
        &rest[..length.unwrap_or(rest.len())]
    }
}

/// Looks at `command` once.
///
/// # Errors
///
/// Returns the first [`ScanRefusal`] that applies.
pub fn scan(command: &str) -> Result<(), ScanRefusal> {
    look(command).map(drop)
}

/// Looks at `command` once, and finds what the grammar must not be shown.
///
/// The scan knows where a substitution ends: comments, heredocs and `case` arms in it may hold
/// parentheses that close nothing.
pub(crate) fn look(command: &str) -> Result<Found, ScanRefusal> {
    if command.len() > BYTES_MAX {
        return Err(ScanRefusal::TooLong);
    }
    let mut scan = Scan {
        text: command.as_bytes(),
        at: 0,
        end: command.len(),
        open: Vec::with_capacity(16),
        heredocs: Vec::new(),
        separators: 0,
        cases: 0,
        subscripts: 0,
        coprocs: 0,
        position: Position::Command,
        word_start: true,
        marks: Vec::new(),
        arithmetic: Vec::new(),
        found: Vec::new(),
        selects: Vec::new(),
    };
    scan.run(0)?;
    let mut selects = scan.selects;
    selects.retain(|at| !scan.found.iter().any(|found| found.span.contains(at)));
    Ok(Found {
        substitutions: scan.found,
        selects,
    })
}
