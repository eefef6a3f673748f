//! One linear look at a command before the parser sees it.
//!
//! The parser is recursive: what nests deeply costs it stack, and some malformed inputs cost it
//! exponential time. The scan walks the text once, with a stack of modes, and refuses what no
//! ordinary command needs. It is not trusted to understand the shell; the parser behind it runs
//! on a thread of its own with a large stack and a short time limit.
//!
//! Single quotes, comments and quoted heredocs are skipped. In an unquoted heredoc only
//! substitutions count. A `)` that ends the pattern of a `case` arm closes nothing.

use std::ops::Range;

/// The longest command that is judged, in bytes.
pub const BYTES_MAX: usize = 64 * 1024;
/// The deepest nesting that is judged.
pub const DEPTH_MAX: usize = 100;
/// The most separators (`;`, `&`, `|`, line breaks) that are judged.
pub const SEPARATORS_MAX: usize = 5_000;
/// The most `case` constructs that may be open at once.
pub const CASES_MAX: usize = 8;

/// Why a command is refused before it is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScanRefusal {
    /// Longer than [`BYTES_MAX`].
    #[error("the command is longer than {BYTES_MAX} bytes")]
    TooLong,
    /// Nested deeper than [`DEPTH_MAX`].
    #[error("the command nests deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// More separators than [`SEPARATORS_MAX`].
    #[error("the command has more than {SEPARATORS_MAX} separators")]
    TooManySeparators,
    /// More open `case` constructs than [`CASES_MAX`].
    #[error("the command nests more than {CASES_MAX} `case` constructs")]
    TooManyCases,
    /// Something was opened and not closed.
    #[error("the command ends inside an unclosed {0}")]
    Unclosed(&'static str),
    /// A closer without its opener.
    #[error("the command holds {0} that closes nothing")]
    Unopened(&'static str),
    /// The old arithmetic form `$[`, on which the parser cannot be bounded.
    #[error("the command holds `$[`")]
    OldArithmetic,
    /// A heredoc whose end is named by an expansion.
    #[error("the end of a heredoc is named by an expansion")]
    HeredocTag,
}

/// A command substitution as it stands in a text, nested in no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Substitution {
    /// All of it, its signs included.
    pub(crate) span: Range<usize>,
    pub(crate) backquoted: bool,
}

/// Looks at `command` once.
///
/// # Errors
///
/// Returns the first [`ScanRefusal`] that applies.
pub fn scan(command: &str) -> Result<(), ScanRefusal> {
    substitutions(command).map(drop)
}

/// Looks at `command` once, and finds its outermost command substitutions, in their order.
///
/// The scan knows where a substitution ends: comments, heredocs and `case` arms in it may hold
/// parentheses that close nothing.
pub(crate) fn substitutions(command: &str) -> Result<Vec<Substitution>, ScanRefusal> {
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
        position: Position::Command,
        word_start: true,
        marks: Vec::new(),
        arithmetic: Vec::new(),
        found: Vec::new(),
    };
    scan.run(0)?;
    Ok(scan.found)
}

/// What the scan is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Commands up to a `)`. A substitution continues a word, a subshell ends a command.
    Paren { substitution: bool },
    /// Parentheses that hold words: arrays, patterns, arithmetic, tests.
    Group,
    /// `((` or `$((`.
    Arithmetic { substitution: bool },
    /// `${`; within double quotes an apostrophe quotes nothing.
    Brace { quoted: bool },
    /// Double quotes.
    Double,
    /// Backquotes.
    Backquote,
    /// The body of an unquoted heredoc: only substitutions count.
    Heredoc,
    /// `{` up to `}`.
    Block,
    /// `[[` up to `]]`.
    Test,
    /// `if` up to `fi`.
    If,
    /// `for`, `while`, `until` or `select` up to `done`.
    Loop,
    /// `case` up to `esac`.
    Case(Arm),
}

/// Where in a `case` the scan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arm {
    Subject,
    Pattern,
    Body,
}

/// What the next word would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// The name of a command, or a reserved word.
    Command,
    /// The name of a function or coprocess; a command follows it.
    Name,
    /// The file of a redirection, after which this position returns.
    Target { command: bool },
    /// An argument.
    Argument,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Paren { .. } | Self::Group => "parenthesis",
            Self::Arithmetic { .. } => "arithmetic expression",
            Self::Brace { .. } => "`${`",
            Self::Double => "double quote",
            Self::Backquote => "backquote",
            Self::Heredoc => "heredoc",
            Self::Block => "`{`",
            Self::Test => "`[[`",
            Self::If => "`if`",
            Self::Loop => "loop",
            Self::Case(_) => "`case`",
        }
    }

    /// Whether commands stand here, so that words may be reserved and `#` starts a comment.
    fn holds_commands(self) -> bool {
        match self {
            Self::Paren { .. }
            | Self::Backquote
            | Self::Block
            | Self::If
            | Self::Loop
            | Self::Case(_) => true,
            Self::Group
            | Self::Arithmetic { .. }
            | Self::Brace { .. }
            | Self::Double
            | Self::Heredoc
            | Self::Test => false,
        }
    }
}

struct Heredoc {
    tag: Vec<u8>,
    quoted: bool,
    strip_tabs: bool,
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    end: usize,
    open: Vec<Mode>,
    heredocs: Vec<Heredoc>,
    separators: usize,
    cases: usize,
    position: Position,
    word_start: bool,
    /// Where each open substitution starts, with the number of modes that were open then.
    marks: Vec<(usize, usize)>,
    /// Where each open `$((` starts.
    arithmetic: Vec<usize>,
    found: Vec<Substitution>,
}

type Scanned = Result<(), ScanRefusal>;

impl Scan<'_> {
    /// Scans up to `self.end`; what is open above `floor` must be closed there.
    fn run(&mut self, floor: usize) -> Scanned {
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

    fn peek(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        if at < self.end { self.text[at] } else { 0 }
    }

    fn push(&mut self, mode: Mode) -> Scanned {
        let weight = usize::from(matches!(mode, Mode::Arithmetic { .. })) + 1;
        if self.open.len() + weight > DEPTH_MAX {
            return Err(ScanRefusal::TooDeep);
        }
        self.open.push(mode);
        Ok(())
    }

    /// Opens a mode whose content starts with a command.
    fn push_commands(&mut self, mode: Mode) -> Scanned {
        self.push(mode)?;
        self.position = Position::Command;
        self.word_start = true;
        Ok(())
    }

    /// Opens a command substitution that starts at `start`.
    fn push_substitution(&mut self, start: usize, mode: Mode) -> Scanned {
        self.marks.push((self.open.len(), start));
        self.push_commands(mode)
    }

    /// A mode was closed: perhaps the outermost substitution ended here.
    fn end_substitution(&mut self, backquoted: bool) {
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

    fn separator(&mut self) -> Scanned {
        self.separators += 1;
        self.position = Position::Command;
        self.word_start = true;
        if self.separators > SEPARATORS_MAX {
            return Err(ScanRefusal::TooManySeparators);
        }
        Ok(())
    }

    /// A word went on or began here.
    fn in_word(&mut self) {
        if self.word_start {
            self.position = match self.position {
                Position::Command | Position::Argument | Position::Target { command: false } => {
                    Position::Argument
                }
                Position::Name | Position::Target { command: true } => Position::Command,
            };
        }
        self.word_start = false;
    }

    /// One step among commands.
    fn code(&mut self) -> Scanned {
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

    /// One step inside `[[`: operators separate words, and nothing is a command.
    fn test(&mut self) -> Scanned {
        match self.text[self.at] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                self.at += 1;
                self.word_start = true;
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

    /// One step where only words stand: quotes, braces, arithmetic, patterns, heredocs.
    fn words(&mut self) -> Scanned {
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

    fn after_blank(&self) -> bool {
        self.at == 0 || matches!(self.text[self.at - 1], b' ' | b'\t' | b'\n')
    }

    /// One byte of a word: escapes, quotes and substitutions.
    fn word_byte(&mut self, quoted: bool) -> Scanned {
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
            _ => self.at += 1,
        }
        Ok(())
    }

    fn within_double(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Mode::Double | Mode::Heredoc | Mode::Brace { quoted: true })
        )
    }

    fn skip_past(&mut self, closer: u8, name: &'static str) -> Scanned {
        let rest = &self.text[self.at.min(self.end)..self.end];
        match rest.iter().position(|&byte| byte == closer) {
            Some(length) => {
                self.at += length + 1;
                Ok(())
            }
            None => Err(ScanRefusal::Unclosed(name)),
        }
    }

    fn ansi_quote(&mut self) -> Scanned {
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

    fn comment(&mut self) {
        let in_backquotes = self.open.contains(&Mode::Backquote);
        while self.at < self.end && self.text[self.at] != b'\n' {
            if in_backquotes && self.text[self.at] == b'`' {
                return;
            }
            self.at += 1;
        }
    }

    fn backquote(&mut self) -> Scanned {
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

    fn redirected(&mut self) {
        let command = matches!(self.position, Position::Command);
        self.position = Position::Target { command };
        self.word_start = true;
    }

    fn redirection(&mut self) -> Scanned {
        let byte = self.text[self.at];
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

    fn heredoc_tag(&mut self) -> Scanned {
        let strip_tabs = self.peek(0) == b'-';
        if strip_tabs {
            self.at += 1;
        }
        while matches!(self.peek(0), b' ' | b'\t') {
            self.at += 1;
        }
        let mut heredoc = Heredoc {
            tag: Vec::new(),
            quoted: false,
            strip_tabs,
        };
        while self.at < self.end {
            match self.text[self.at] {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'$' if self.peek(1) == b'[' => return Err(ScanRefusal::OldArithmetic),
                b'`' => return Err(ScanRefusal::HeredocTag),
                b'$' if matches!(self.peek(1), b'(' | b'{') => return Err(ScanRefusal::HeredocTag),
                quote @ (b'\'' | b'"') => {
                    heredoc.quoted = true;
                    let start = self.at + 1;
                    self.at += 1;
                    self.skip_past(quote, "quote")?;
                    heredoc
                        .tag
                        .extend_from_slice(&self.text[start..self.at - 1]);
                }
                b'\\' => {
                    heredoc.quoted = true;
                    heredoc.tag.push(self.peek(1));
                    self.at += 2;
                }
                byte => {
                    heredoc.tag.push(byte);
                    self.at += 1;
                }
            }
        }
        self.heredocs.push(heredoc);
        self.word_start = true;
        Ok(())
    }

    /// The line that ended announced these heredocs; their bodies follow it in order.
    fn heredoc_bodies(&mut self) -> Scanned {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let start = self.at.min(self.end);
            let (body_end, next) = self.find_tag(&heredoc)?;
            if !heredoc.quoted {
                let floor = self.open.len();
                let kept = (self.end, self.position);
                self.push(Mode::Heredoc)?;
                self.at = start;
                self.end = body_end;
                self.run(floor + 1)?;
                self.open.truncate(floor);
                (self.end, self.position) = kept;
            }
            self.at = next;
            self.word_start = true;
        }
        Ok(())
    }

    /// Where the body ends, and where the text goes on after its tag line.
    fn find_tag(&self, heredoc: &Heredoc) -> Result<(usize, usize), ScanRefusal> {
        let mut line = self.at;
        while line < self.end {
            let length = self.text[line..self.end]
                .iter()
                .position(|&byte| byte == b'\n');
            let line_end = length.map_or(self.end, |length| line + length);
            let mut content = &self.text[line..line_end];
            if heredoc.strip_tabs {
                let tabs = content.iter().take_while(|&&byte| byte == b'\t').count();
                content = &content[tabs..];
            }
            if content == heredoc.tag.as_slice() {
                return Ok((line, (line_end + 1).min(self.end)));
            }
            line = line_end + 1;
        }
        Err(ScanRefusal::Unclosed("heredoc"))
    }

    fn parenthesis(&mut self) -> Scanned {
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

    fn close_parenthesis(&mut self) -> Scanned {
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

    fn closed_parenthesis(&mut self, substitution: bool) {
        if substitution {
            self.position = Position::Argument;
            self.word_start = false;
        } else {
            self.closed();
        }
    }

    /// A compound command ended: only its redirections or another closer can follow.
    fn closed(&mut self) {
        self.position = Position::Command;
        self.word_start = true;
    }

    /// The bytes of the word that starts here, up to a blank or an operator.
    fn word(&self) -> &[u8] {
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

    /// Takes the word that starts here if it is reserved at this place.
    fn reserved(&mut self) -> Result<bool, ScanRefusal> {
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

    fn close(&mut self, opened: Mode, closer: &'static str) -> Scanned {
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
