//! What the walk over a command carries with it, and where it starts.

use std::ops::Range;
use std::rc::Rc;

use brush_parser::SourceSpan;

use crate::command::near::{Beyond, Near};
use crate::command::normalise::simple::{Simple, pseudo};
use crate::command::parse::Rewritten;
use crate::command::scan::{BYTES_MAX, Found};
use crate::command::state::ShellState;
use crate::command::word::{Part, Word};
use crate::place::Place;

/// The most simple commands that one command may become.
pub(crate) const SIMPLES_MAX: usize = 4_000;

/// The most words that these may have together: each wrapper of a command repeats the words behind it.
pub(crate) const WORDS_MAX: usize = 30_000;

/// The most bytes that are read for one command: those of scripts, of scripts within scripts too,
/// since each `eval` reads anew what it is given, and of the words that braces and parameters become.
pub(crate) const READ_MAX: usize = BYTES_MAX + BYTES_MAX / 2;

/// The most work that is done for one command. A simple command costs what its shell remembers, since
/// every subshell takes a copy of that: what a line makes the guard remember it pays for ever after.
pub(crate) const WORK_MAX: usize = 4_000_000;

/// What remembering one thing adds to the work of a simple command.
const REMEMBERED: usize = 8;

/// How deep a command may run commands: wrappers around wrappers, functions that call functions.
pub(crate) const WRAPPED_MAX: usize = 128;

/// How deep scripts may hold scripts.
pub(crate) const SCRIPTS_MAX: usize = 24;

/// The most combinations of alternative values that one command is judged for.
pub(crate) const PICKS_MAX: usize = 32;

/// Stands in nested text for a name or path that is not known.
pub(crate) const HOLE: char = '\u{1}';

pub(crate) struct Normaliser<'p> {
    pub(crate) place: &'p Place,
    pub(crate) source: &'p str,
    pub(crate) simples: Vec<Simple>,
    /// How many words the simple commands have together.
    pub(crate) words: usize,
    /// How many bytes of scripts have been read.
    pub(crate) read: usize,
    /// How much work has been done.
    pub(crate) work: usize,
    /// How many commands run the current one.
    pub(crate) wrapped: usize,
    pub(crate) depth: usize,
    pub(crate) calling: Vec<String>,
    /// How many pipelines and background jobs surround the current command.
    pub(crate) parallel: usize,
    /// How many scripts have been walked.
    pub(crate) scripts: usize,
    /// The command substitutions that parameters stand for, by their numbers.
    pub(crate) substitutions: Vec<(Rc<str>, Range<usize>)>,
    /// Whether a loop's body is walked for the second time.
    pub(crate) repeating: bool,
    pub(crate) exhausted: bool,
    /// What the scan has found in the command, until it is parsed.
    pub(crate) found: Option<Found>,
    /// The bounds of a walk on its caller's thread.
    pub(crate) near: Option<Near>,
    /// Whether these were reached: what was walked so far says nothing then.
    pub(crate) beyond: bool,
}

/// How positions of a parsed text map to the outermost command.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) rewritten: Rewritten,
    /// The offset of `text` in the outermost command, if it stands there as it is.
    pub(crate) base: Option<usize>,
    pub(crate) span: Range<usize>,
}

impl Origin {
    pub(crate) fn map(&self, span: Option<&SourceSpan>) -> Range<usize> {
        let (Some(base), Some(span)) = (self.base, span) else {
            return self.span.clone();
        };
        let Range { start, end } = self.rewritten.original(span);
        base + start..base + end
    }
}

/// What surrounds a command in its text.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) origin: &'a Origin,
    /// What is known of standard input, if it is not the shell's own.
    pub(crate) input: Option<&'a Word>,
    /// Whether anybody reads the output.
    pub(crate) wanted: bool,
}

/// Where the redirections of a command lead.
#[derive(Debug, Default)]
pub(crate) struct Redirected {
    pub(crate) input: Option<Word>,
    /// The file that standard output goes to, and whether it is appended to.
    pub(crate) output: Option<(Word, bool)>,
}

pub(crate) type Output = Vec<Part>;

/// The simple commands of `command`, in the order in which they are met. `found` is what the scan
/// has found in it.
///
/// Must run on the parser's thread.
pub(crate) fn normalise(command: &str, found: Found, place: &Place) -> Vec<Simple> {
    let mut normaliser = Normaliser::new(command, found, place);
    normaliser.walk();
    normaliser.simples
}

/// As [`normalise`], on the thread of whoever asks, if that is bounded.
pub(crate) fn normalise_near(
    command: &str,
    found: Found,
    place: &Place,
) -> Result<Vec<Simple>, Beyond> {
    let mut normaliser = Normaliser::new(command, found, place);
    normaliser.near = Some(Near::new());
    normaliser.walk();
    if normaliser.beyond {
        Err(Beyond)
    } else {
        Ok(normaliser.simples)
    }
}

impl<'p> Normaliser<'p> {
    fn new(command: &'p str, found: Found, place: &'p Place) -> Self {
        Self {
            place,
            source: command,
            simples: Vec::new(),
            words: 0,
            read: 0,
            work: 0,
            wrapped: 0,
            depth: 0,
            calling: Vec::new(),
            parallel: 0,
            scripts: 0,
            substitutions: Vec::new(),
            repeating: false,
            exhausted: false,
            found: Some(found),
            near: None,
            beyond: false,
        }
    }

    fn walk(&mut self) {
        let mut state = ShellState::new(self.place);
        let command = self.source;
        self.script(command, &(0..command.len()), &mut state, None, false);
        self.uncalled(&mut state);
    }

    /// Keeps to the bounds of a walk on its caller's thread: one that would leave them is given up.
    pub(crate) fn keep(&mut self, bounded: impl FnOnce(&mut Near) -> Result<(), Beyond>) {
        if let Some(near) = &mut self.near
            && bounded(near) == Err(Beyond)
        {
            self.beyond = true;
            self.exhausted = true;
        }
    }

    pub(crate) fn emit(
        &mut self,
        program: &str,
        args: Vec<Word>,
        span: Range<usize>,
        state: &ShellState,
    ) {
        let work = args.len() + REMEMBERED * state.remembered();
        self.words += args.len();
        self.work += work;
        self.keep(|near| near.work(work));
        if self.simples.len() >= SIMPLES_MAX || self.words > WORDS_MAX || self.work > WORK_MAX {
            self.exhaust(span, state);
            return;
        }
        self.simples.push(Simple {
            program: program.to_owned(),
            args,
            cwd: state.cwd.clone(),
            span,
            remote: state.remote,
            bound: state.bound.clone(),
        });
    }

    /// Gives up: more is run than is judged at once.
    pub(crate) fn exhaust(&mut self, span: Range<usize>, state: &ShellState) {
        if self.exhausted {
            return;
        }
        self.exhausted = true;
        self.simples.push(Simple {
            program: pseudo::TOO_MUCH.to_owned(),
            args: Vec::new(),
            cwd: state.cwd.clone(),
            span,
            remote: state.remote,
            bound: state.bound.clone(),
        });
    }
}
