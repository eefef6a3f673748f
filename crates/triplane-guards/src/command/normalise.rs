//! From a command to the simple commands that it runs, wrappers and substitutions followed.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use brush_parser::SourceSpan;
use brush_parser::ast;

use crate::command::code::{self, CodeAct, Language};
use crate::command::expand::{Purpose, Shell, Unreadable, expand, expand_heredoc};
use crate::command::find;
use crate::command::layers::{Host, Layer, Split, is_shell, join, layers, replaced};
use crate::command::output::output;
use crate::command::parse::{PLACEHOLDER, Rewritten, Script, parse};
use crate::command::sql::{self, Dialect, SqlAct};
use crate::command::state::{Folders, Function, ShellState, Value};
use crate::command::word::{Part, Word};
use crate::place::{Place, absolute};

/// The most simple commands that one command may become.
const SIMPLES_MAX: usize = 4_000;
/// How deep scripts may hold scripts.
const SCRIPTS_MAX: usize = 24;
/// The most combinations of alternative values that one command is judged for.
const PICKS_MAX: usize = 32;

/// Stands in nested text for a name or path that is not known.
const HOLE: char = '\u{1}';

/// What the command does that is no command of its own, as the name of a program.
pub(crate) mod pseudo {
    pub(crate) const UNPARSABLE: &str = "(unparsable)";
    pub(crate) const UNKNOWN_PROGRAM: &str = "(unknown-program)";
    pub(crate) const UNKNOWN_SCRIPT: &str = "(unknown-script)";
    pub(crate) const UNKNOWN_CODE: &str = "(unknown-code)";
    pub(crate) const UNKNOWN_SQL: &str = "(unknown-sql)";
    pub(crate) const FORK_BOMB: &str = "(fork-bomb)";
    pub(crate) const TOO_MUCH: &str = "(too-much)";
    pub(crate) const WRITE: &str = "(write)";
    pub(crate) const APPEND: &str = "(append)";
    pub(crate) const READ: &str = "(read)";
    pub(crate) const SQL: &str = "(sql)";
    pub(crate) const DELETE_ALL: &str = "(delete-all)";
}

/// One simple command: a program and its arguments, as known before it runs.
#[derive(Debug, Clone)]
pub struct Simple {
    /// The program's name without its folder, or a name in parentheses for what is none.
    pub program: String,
    /// The arguments.
    pub args: Vec<Word>,
    /// The folders that it may run in; `None` is any.
    pub cwd: Vec<Option<String>>,
    /// Where the command stands in the outermost text, in bytes.
    pub span: Range<usize>,
    /// Whether it runs on another machine or in a container.
    pub remote: bool,
}

impl Simple {
    /// The place as this command sees it.
    pub(crate) fn seen_from<'a>(&self, place: &'a Place) -> Cow<'a, Place> {
        if self.remote {
            Cow::Owned(Place {
                root: "/\u{0}none".to_owned(),
                home: "/\u{0}home".to_owned(),
                cwd: "/\u{0}none".to_owned(),
            })
        } else {
            Cow::Borrowed(place)
        }
    }
}

/// The simple commands of `command`, in the order in which they are met.
pub(crate) fn normalise(command: &str, place: &Place) -> Vec<Simple> {
    let mut normaliser = Normaliser {
        place,
        source: command,
        simples: Vec::new(),
        depth: 0,
        calling: Vec::new(),
        parallel: 0,
        scripts: 0,
        substitutions: Vec::new(),
        exhausted: false,
    };
    let mut state = ShellState::new(place);
    let span = 0..command.len();
    normaliser.script(command, &span, &mut state, None, false);
    normaliser.uncalled(&mut state);
    normaliser.simples
}

struct Normaliser<'p> {
    place: &'p Place,
    source: &'p str,
    simples: Vec<Simple>,
    depth: usize,
    calling: Vec<String>,
    /// How many pipelines and background jobs surround the current command.
    parallel: usize,
    /// How many scripts have been walked.
    scripts: usize,
    /// The command substitutions that parameters stand for, by their numbers.
    substitutions: Vec<(Rc<str>, Range<usize>)>,
    exhausted: bool,
}

/// How positions of a parsed text map to the outermost command.
#[derive(Debug)]
struct Origin {
    rewritten: Rewritten,
    /// The offset of `text` in the outermost command, if it stands there as it is.
    base: Option<usize>,
    span: Range<usize>,
}

impl Origin {
    fn map(&self, span: Option<&SourceSpan>) -> Range<usize> {
        let (Some(base), Some(span)) = (self.base, span) else {
            return self.span.clone();
        };
        let Range { start, end } = self.rewritten.original(span);
        base + start..base + end
    }
}

/// Which alternative of each variable the current expansion uses.
#[derive(Debug, Default)]
struct Picks {
    chosen: Vec<(String, usize, usize)>,
    overflow: bool,
}

impl Picks {
    fn pick<'v>(&mut self, name: &str, values: &'v [Value]) -> Option<&'v Value> {
        if values.len() == 1 {
            return values.first();
        }
        if self.overflow {
            return None;
        }
        let chosen = self.chosen.iter().find(|(known, ..)| known == name);
        if let Some(&(_, index, _)) = chosen {
            return values.get(index);
        }
        self.chosen.push((name.to_owned(), 0, values.len()));
        values.first()
    }

    /// Moves on to the next combination.
    fn advance(&mut self) -> bool {
        for (_, index, count) in &mut self.chosen {
            *index += 1;
            if index < count {
                return true;
            }
            *index = 0;
        }
        false
    }
}

/// An expansion's view of the shell around it.
struct Eval<'e, 'p> {
    normaliser: &'e mut Normaliser<'p>,
    state: &'e mut ShellState,
    picks: &'e mut Picks,
}

impl Shell for Eval<'_, '_> {
    fn variable(&mut self, name: &str) -> Option<Vec<Word>> {
        let values = self.state.variables.get(name)?;
        match self.picks.pick(name, values) {
            Some(value) => Some(value.words().to_vec()),
            None => Some(vec![Word::unknown(0..0)]),
        }
    }

    fn assign(&mut self, name: &str, value: Word) {
        self.state.assign(name, Value::Scalar(value));
    }

    fn positional(&mut self) -> Option<Vec<Word>> {
        self.state.positional.clone()
    }

    fn placeholder(&mut self, name: &str, quoted: bool) -> Option<Vec<Part>> {
        let number: usize = name.strip_prefix(PLACEHOLDER)?.parse().ok()?;
        let (script, span) = self.normaliser.substitutions.get(number)?.clone();
        // Within double quotes a backquoted script escapes its own double quotes.
        let escaped = quoted
            && script.contains("\\\"")
            && self.normaliser.source[span.clone()].starts_with('`');
        let script = if escaped {
            script.replace("\\\"", "\"").into()
        } else {
            script
        };
        self.substitute(&script, &span).ok()
    }

    fn substitute(&mut self, script: &str, span: &Range<usize>) -> Result<Vec<Part>, Unreadable> {
        let mut inner = self.state.clone();
        let mut parts = self.normaliser.script(script, span, &mut inner, None, true);
        // The shell drops the line breaks at the end.
        while let Some(Part::Text(text)) = parts.last_mut() {
            text.truncate(text.trim_end_matches('\n').len());
            if !text.is_empty() {
                break;
            }
            parts.pop();
        }
        Ok(parts)
    }

    fn home(&mut self) -> String {
        if self.state.remote {
            "/\u{0}home".to_owned()
        } else {
            self.normaliser.place.home.clone()
        }
    }

    fn cwd(&mut self) -> Option<String> {
        match self.state.cwd.as_slice() {
            [Some(cwd)] => Some(cwd.clone()),
            _ => None,
        }
    }

    fn cwd_before(&mut self) -> Option<String> {
        match self.state.cwd_before.as_slice() {
            [Some(cwd)] => Some(cwd.clone()),
            _ => None,
        }
    }
}

/// What surrounds a command in its text.
#[derive(Clone, Copy)]
struct Frame<'a> {
    origin: &'a Origin,
    /// What is known of standard input, if it is not the shell's own.
    input: Option<&'a Word>,
    /// Whether anybody reads the output.
    wanted: bool,
}

/// Where the redirections of a command lead.
#[derive(Debug, Default)]
struct Redirected {
    input: Option<Word>,
    /// The file that standard output goes to, and whether it is appended to.
    output: Option<(Word, bool)>,
}

type Output = Vec<Part>;

impl Normaliser<'_> {
    fn emit(&mut self, program: &str, args: Vec<Word>, span: Range<usize>, state: &ShellState) {
        if self.simples.len() >= SIMPLES_MAX {
            if !self.exhausted {
                self.exhausted = true;
                self.simples.push(Simple {
                    program: pseudo::TOO_MUCH.to_owned(),
                    args: Vec::new(),
                    cwd: state.cwd.clone(),
                    span,
                    remote: state.remote,
                });
            }
            return;
        }
        self.simples.push(Simple {
            program: program.to_owned(),
            args,
            cwd: state.cwd.clone(),
            span,
            remote: state.remote,
        });
    }

    /// Walks a script; the answer is what is known of its output.
    fn script(
        &mut self,
        text: &str,
        span: &Range<usize>,
        state: &mut ShellState,
        input: Option<&Word>,
        wanted: bool,
    ) -> Output {
        self.depth += 1;
        self.scripts += 1;
        let output = if self.depth > SCRIPTS_MAX || self.scripts > SIMPLES_MAX || self.exhausted {
            self.emit(pseudo::TOO_MUCH, Vec::new(), span.clone(), state);
            vec![Part::Unknown]
        } else {
            self.parsed(text, span, state, input, wanted)
        };
        self.depth -= 1;
        output
    }

    fn parsed(
        &mut self,
        text: &str,
        span: &Range<usize>,
        state: &mut ShellState,
        input: Option<&Word>,
        wanted: bool,
    ) -> Output {
        let region = self.source.get(span.clone()).unwrap_or("");
        let base = region.find(text).map(|at| span.start + at);
        let substitutions = &mut self.substitutions;
        let parsed = parse(text, |script, at| {
            let place = match base {
                Some(base) => base + at.start..base + at.end,
                None => span.clone(),
            };
            substitutions.push((script.into(), place));
            substitutions.len() - 1
        });
        let origin = |rewritten| Origin {
            rewritten,
            base,
            span: span.clone(),
        };
        match parsed {
            Ok(Script::Plain(words)) => {
                let origin = origin(Rewritten::default());
                let frame = Frame {
                    origin: &origin,
                    input,
                    wanted,
                };
                let argv: Vec<Word> = words
                    .into_iter()
                    .map(|(word, at)| {
                        let span = match base {
                            Some(base) => base + at..base + at + word.len(),
                            None => span.clone(),
                        };
                        Word::text(word, span)
                    })
                    .collect();
                self.argv(&argv, frame, state)
            }
            Ok(Script::Program(program, rewritten)) => {
                let origin = origin(rewritten);
                let frame = Frame {
                    origin: &origin,
                    input,
                    wanted,
                };
                let mut output = Output::new();
                for list in &program.complete_commands {
                    output.extend(self.list(list, frame, state));
                }
                output
            }
            Err(error) => {
                let reason = Word::text(error.to_string(), span.clone());
                self.emit(pseudo::UNPARSABLE, vec![reason], span.clone(), state);
                vec![Part::Unknown]
            }
        }
    }

    /// A script whose text is a word: what is not known of it must not be run.
    fn script_word(
        &mut self,
        text: &Word,
        state: &mut ShellState,
        input: Option<&Word>,
        wanted: bool,
    ) -> Output {
        if let Some(known) = text_of(text) {
            return self.script(&known, &text.span, state, input, wanted);
        }
        self.emit(
            pseudo::UNKNOWN_SCRIPT,
            vec![text.clone()],
            text.span.clone(),
            state,
        );
        vec![Part::Unknown]
    }

    fn list(
        &mut self,
        list: &ast::CompoundList,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let mut output = Output::new();
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            match separator {
                ast::SeparatorOperator::Sequence => {
                    output.extend(self.and_or(and_or, frame, state));
                }
                ast::SeparatorOperator::Async => {
                    let mut inner = state.clone();
                    self.parallel += 1;
                    output.extend(self.and_or(and_or, frame, &mut inner));
                    self.parallel -= 1;
                }
            }
        }
        output
    }

    fn and_or(
        &mut self,
        list: &ast::AndOrList,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        if list.additional.is_empty() {
            return self.pipeline(&list.first, frame, state);
        }
        let before = state.clone();
        let mut output = self.pipeline(&list.first, frame, state);
        let first = state.clone();
        for next in &list.additional {
            match next {
                ast::AndOr::And(pipeline) => output.extend(self.pipeline(pipeline, frame, state)),
                ast::AndOr::Or(pipeline) => {
                    // The left side may have failed before it changed anything.
                    let mut failed = state.clone();
                    failed.join(&before);
                    output.extend(self.pipeline(pipeline, frame, &mut failed));
                    if failed.changed_since(&before) && failed.variables != state.variables {
                        state.join(&failed);
                    }
                }
            }
        }
        // What only a part of the chain changed may not have happened.
        if state.changed_since(&first) {
            state.join(&first);
        }
        output
    }

    fn pipeline(
        &mut self,
        pipeline: &ast::Pipeline,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let (last, firsts) = match pipeline.seq.as_slice() {
            [] => return Output::new(),
            [only] => return self.command(only, frame, state),
            [firsts @ .., last] => (last, firsts),
        };
        self.parallel += 1;
        let mut carried: Option<Word> = frame.input.cloned();
        for command in firsts {
            let mut inner = state.clone();
            let parts = self.command(
                command,
                Frame {
                    origin: frame.origin,
                    input: carried.as_ref(),
                    wanted: true,
                },
                &mut inner,
            );
            // What one stage wrote to a file, another may run.
            state.files.extend(inner.files);
            carried = Some(Word {
                parts,
                span: frame.origin.span.clone(),
            });
        }
        let mut inner = state.clone();
        let output = self.command(
            last,
            Frame {
                origin: frame.origin,
                input: carried.as_ref(),
                wanted: frame.wanted,
            },
            &mut inner,
        );
        state.files.extend(inner.files);
        self.parallel -= 1;
        output
    }

    fn command(
        &mut self,
        command: &ast::Command,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, frame, state),
            ast::Command::Compound(compound, redirects) => {
                self.redirected_compound(compound, redirects.as_ref(), frame, state)
            }
            ast::Command::Function(definition) => {
                let function = Function {
                    body: definition.body.clone(),
                    called: Cell::new(false),
                };
                state
                    .functions
                    .insert(definition.fname.value.clone(), Rc::new(function));
                Output::new()
            }
            ast::Command::ExtendedTest(test, redirects) => {
                let redirected =
                    self.redirects(redirects.as_ref().map(|list| list.0.iter()), frame, state);
                let _ = redirected;
                self.test(&test.expr, frame, state);
                Output::new()
            }
        }
    }

    fn redirected_compound(
        &mut self,
        compound: &ast::CompoundCommand,
        redirects: Option<&ast::RedirectList>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let redirected = self.redirects(redirects.map(|list| list.0.iter()), frame, state);
        let inner = Frame {
            origin: frame.origin,
            input: redirected.input.as_ref().or(frame.input),
            wanted: frame.wanted || redirected.output.is_some(),
        };
        let output = self.compound(compound, inner, state);
        Self::written(redirected.output, output, state)
    }

    /// What goes to a file is remembered under its path and read by nobody else.
    fn written(file: Option<(Word, bool)>, output: Output, state: &mut ShellState) -> Output {
        let Some((file, appended)) = file else {
            return output;
        };
        if let (Some(path), [Some(cwd)]) = (file.literal(), state.cwd.as_slice()) {
            let path = absolute(path, cwd);
            if path.starts_with("/dev/") {
                return if matches!(path.as_str(), "/dev/stdout" | "/dev/fd/1") {
                    output
                } else {
                    Output::new()
                };
            }
            let mut content = match state.files.remove(&path) {
                Some(content) if appended => content,
                Some(_) | None => Word::default(),
            };
            for part in output {
                content.push(part);
            }
            content.span = file.span.clone();
            state.files.insert(path, content);
        }
        Output::new()
    }

    fn compound(
        &mut self,
        compound: &ast::CompoundCommand,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        match compound {
            ast::CompoundCommand::BraceGroup(group) => self.list(&group.list, frame, state),
            ast::CompoundCommand::Subshell(subshell) => {
                let mut inner = state.clone();
                let output = self.list(&subshell.list, frame, &mut inner);
                state.files.extend(inner.files);
                output
            }
            ast::CompoundCommand::IfClause(clause) => self.conditional(clause, frame, state),
            ast::CompoundCommand::WhileClause(ast::WhileOrUntilClauseCommand(
                condition,
                body,
                _,
            ))
            | ast::CompoundCommand::UntilClause(ast::WhileOrUntilClauseCommand(
                condition,
                body,
                _,
            )) => self.looped(frame, state, |walk, state| {
                let mut output = walk.list(condition, frame, state);
                output.extend(walk.list(&body.list, frame, state));
                output
            }),
            ast::CompoundCommand::ForClause(clause) => {
                let values = match &clause.values {
                    Some(words) => self.for_values(words, frame, state),
                    None => state
                        .positional
                        .clone()
                        .unwrap_or_else(|| vec![Word::unknown(frame.origin.span.clone())]),
                };
                if values.is_empty() {
                    return Output::new();
                }
                let alternatives = values.into_iter().map(Value::Scalar).collect();
                state.assign_alternatives(&clause.variable_name, alternatives);
                self.looped(frame, state, |walk, state| {
                    walk.list(&clause.body.list, frame, state)
                })
            }
            ast::CompoundCommand::ArithmeticForClause(clause) => {
                for expr in [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                {
                    self.arithmetic(&expr.value, frame, state);
                    for name in names_in(&expr.value) {
                        state.assign(
                            name,
                            Value::Scalar(Word {
                                parts: vec![Part::Token],
                                span: 0..0,
                            }),
                        );
                    }
                }
                self.looped(frame, state, |walk, state| {
                    walk.list(&clause.body.list, frame, state)
                })
            }
            ast::CompoundCommand::CaseClause(clause) => self.case(clause, frame, state),
            ast::CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value, frame, state);
                for name in names_in(&arithmetic.expr.value) {
                    if arithmetic.expr.value.contains('=')
                        || arithmetic.expr.value.contains("++")
                        || arithmetic.expr.value.contains("--")
                    {
                        state.assign(
                            name,
                            Value::Scalar(Word {
                                parts: vec![Part::Token],
                                span: 0..0,
                            }),
                        );
                    }
                }
                Output::new()
            }
            ast::CompoundCommand::Coprocess(coprocess) => {
                let mut inner = state.clone();
                self.parallel += 1;
                let unknown = Word::unknown(frame.origin.span.clone());
                self.command(
                    &coprocess.body,
                    Frame {
                        input: Some(&unknown),
                        ..frame
                    },
                    &mut inner,
                );
                self.parallel -= 1;
                Output::new()
            }
        }
    }

    fn conditional(
        &mut self,
        clause: &ast::IfClauseCommand,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let mut output = self.list(&clause.condition, frame, state);
        let mut joined = state.clone();
        let mut otherwise = state.clone();
        output.extend(self.list(&clause.then, frame, &mut joined));
        let mut complete = false;
        for branch in clause.elses.iter().flatten() {
            if let Some(condition) = &branch.condition {
                output.extend(self.list(condition, frame, &mut otherwise));
            } else {
                complete = true;
            }
            let mut inner = otherwise.clone();
            output.extend(self.list(&branch.body, frame, &mut inner));
            joined.join(&inner);
        }
        if !complete {
            joined.join(&otherwise);
        }
        *state = joined;
        either(output)
    }

    /// A body that runs any number of times: twice, if the first run changes what it sees.
    fn looped(
        &mut self,
        _frame: Frame<'_>,
        state: &mut ShellState,
        mut body: impl FnMut(&mut Self, &mut ShellState) -> Output,
    ) -> Output {
        let before = state.clone();
        let mut output = body(self, state);
        state.join(&before);
        if state.changed_since(&before) && self.depth < SCRIPTS_MAX / 2 {
            // One more level, so that nested loops do not double without an end.
            self.depth += 4;
            output.extend(body(self, state));
            self.depth -= 4;
            state.join(&before);
        }
        either(output)
    }

    fn for_values(
        &mut self,
        words: &[ast::Word],
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Vec<Word> {
        let mut picks = Picks::default();
        let mut values = Vec::new();
        loop {
            for word in words {
                values.extend(self.expand_word(word, Purpose::Argument, frame, state, &mut picks));
            }
            if values.len() > 64 || !picks.advance() {
                break;
            }
        }
        if values.len() > 64 {
            return vec![Word::unknown(frame.origin.span.clone())];
        }
        values
    }

    fn case(
        &mut self,
        clause: &ast::CaseClauseCommand,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let mut picks = Picks::default();
        self.expand_word(&clause.value, Purpose::Value, frame, state, &mut picks);
        let mut joined = state.clone();
        let mut output = Output::new();
        for case in &clause.cases {
            for pattern in &case.patterns {
                self.expand_word(pattern, Purpose::Value, frame, state, &mut picks);
            }
            if let Some(body) = &case.cmd {
                let mut inner = state.clone();
                output.extend(self.list(body, frame, &mut inner));
                joined.join(&inner);
            }
        }
        *state = joined;
        either(output)
    }

    fn test(&mut self, expr: &ast::ExtendedTestExpr, frame: Frame<'_>, state: &mut ShellState) {
        let mut picks = Picks::default();
        match expr {
            ast::ExtendedTestExpr::And(left, right) | ast::ExtendedTestExpr::Or(left, right) => {
                self.test(left, frame, state);
                self.test(right, frame, state);
            }
            ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner, frame, state);
            }
            ast::ExtendedTestExpr::UnaryTest(_, word) => {
                self.expand_word(word, Purpose::Value, frame, state, &mut picks);
            }
            ast::ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.expand_word(left, Purpose::Value, frame, state, &mut picks);
                // The right side may be a pattern, which is no word.
                if right.value.contains('$') {
                    self.expand_word(right, Purpose::Value, frame, state, &mut picks);
                }
            }
        }
    }

    fn arithmetic(&mut self, expr: &str, frame: Frame<'_>, state: &mut ShellState) {
        if expr.contains('$') {
            let word = ast::Word::new(expr);
            self.expand_word(&word, Purpose::Value, frame, state, &mut Picks::default());
        }
    }

    fn expand_word(
        &mut self,
        word: &ast::Word,
        purpose: Purpose,
        frame: Frame<'_>,
        state: &mut ShellState,
        picks: &mut Picks,
    ) -> Vec<Word> {
        let span = frame.origin.map(word.loc.as_ref());
        self.expand_raw(&word.value, span, purpose, state, picks)
    }

    fn expand_raw(
        &mut self,
        raw: &str,
        span: Range<usize>,
        purpose: Purpose,
        state: &mut ShellState,
        picks: &mut Picks,
    ) -> Vec<Word> {
        let expanded = expand(
            raw,
            &span,
            purpose,
            &mut Eval {
                normaliser: self,
                state,
                picks,
            },
        );
        expanded.unwrap_or_else(|Unreadable| {
            let reason = Word::text("a word cannot be read", span.clone());
            self.emit(pseudo::UNPARSABLE, vec![reason], span.clone(), state);
            vec![Word::unknown(span)]
        })
    }

    fn simple(
        &mut self,
        simple: &ast::SimpleCommand,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let prefix = simple.prefix.as_ref().map_or(&[][..], |prefix| &prefix.0);
        let suffix = simple.suffix.as_ref().map_or(&[][..], |suffix| &suffix.0);
        let redirects = prefix.iter().chain(suffix).filter_map(|item| match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => Some(redirect),
            ast::CommandPrefixOrSuffixItem::Word(_)
            | ast::CommandPrefixOrSuffixItem::AssignmentWord(..)
            | ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => None,
        });
        let redirected = self.redirects(Some(redirects), frame, state);
        let inner = Frame {
            origin: frame.origin,
            input: redirected.input.as_ref().or(frame.input),
            wanted: frame.wanted || redirected.output.is_some(),
        };
        let Some(name) = &simple.word_or_name else {
            for item in prefix {
                if let ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item {
                    self.assignment(assignment, frame, state);
                }
            }
            // `$(<file)` is what the file holds.
            let output = match redirected.input {
                Some(input) if frame.wanted => input.parts,
                Some(_) | None => Output::new(),
            };
            return Self::written(redirected.output, output, state);
        };
        // Values before a command go to its environment; their substitutions run all the same.
        if !prefix.is_empty() {
            let mut scratch = state.clone();
            for item in prefix {
                if let ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item {
                    self.assignment(assignment, frame, &mut scratch);
                }
            }
        }
        // A declaration sets its arrays, which are no words.
        if matches!(
            name.value.as_str(),
            "declare" | "typeset" | "local" | "export" | "readonly"
        ) {
            for item in suffix {
                if let ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) = item
                    && matches!(assignment.value, ast::AssignmentValue::Array(_))
                {
                    self.assignment(assignment, frame, state);
                }
            }
        }
        let mut picks = Picks::default();
        let mut output = Output::new();
        let mut combinations = 0;
        loop {
            let mut argv = self.expand_word(name, Purpose::Argument, inner, state, &mut picks);
            for item in suffix {
                match item {
                    ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _)
                        if matches!(assignment.value, ast::AssignmentValue::Array(_)) => {}
                    ast::CommandPrefixOrSuffixItem::Word(word)
                    | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                        argv.extend(self.expand_word(
                            word,
                            Purpose::Argument,
                            inner,
                            state,
                            &mut picks,
                        ));
                    }
                    ast::CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                        argv.push(self.process(kind, subshell, inner, state));
                    }
                    ast::CommandPrefixOrSuffixItem::IoRedirect(_) => {}
                }
            }
            let chosen = !picks.chosen.is_empty();
            let parts = self.argv(&argv, inner, state);
            if combinations == 0 {
                output = parts;
            } else if output != parts {
                output = vec![Part::Unknown];
            }
            combinations += 1;
            if !chosen || !picks.advance() {
                break;
            }
            if combinations == PICKS_MAX {
                picks.overflow = true;
                picks.chosen.clear();
            } else if combinations > PICKS_MAX {
                break;
            }
        }
        Self::written(redirected.output, output, state)
    }

    /// The file name that stands for a process substitution.
    fn process(
        &mut self,
        kind: &ast::ProcessSubstitutionKind,
        subshell: &ast::SubshellCommand,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Word {
        let mut inner = state.clone();
        let span = frame.origin.map(Some(&subshell.loc));
        let unknown = Word::unknown(span.clone());
        self.parallel += 1;
        let parts = self.list(
            &subshell.list,
            Frame {
                origin: frame.origin,
                input: match kind {
                    ast::ProcessSubstitutionKind::Read => frame.input,
                    ast::ProcessSubstitutionKind::Write => Some(&unknown),
                },
                wanted: true,
            },
            &mut inner,
        );
        self.parallel -= 1;
        let path = format!("/dev/fd/{}", 63 + state.files.len());
        let content = match kind {
            ast::ProcessSubstitutionKind::Read => Word {
                parts,
                span: span.clone(),
            },
            ast::ProcessSubstitutionKind::Write => unknown,
        };
        state.files.insert(path.clone(), content);
        Word::text(path, span)
    }

    fn redirects<'r>(
        &mut self,
        redirects: Option<impl Iterator<Item = &'r ast::IoRedirect>>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Redirected {
        let mut redirected = Redirected::default();
        for redirect in redirects.into_iter().flatten() {
            match redirect {
                ast::IoRedirect::File(fd, kind, target) => {
                    self.file_redirect(*fd, kind, target, frame, state, &mut redirected);
                }
                ast::IoRedirect::HereDocument(fd, document) => {
                    let span = frame.origin.map(document.doc.loc.as_ref());
                    let content = if document.requires_expansion {
                        let mut picks = Picks::default();
                        let mut eval = Eval {
                            normaliser: self,
                            state,
                            picks: &mut picks,
                        };
                        if let Ok(content) = expand_heredoc(&document.doc.value, &span, &mut eval) {
                            content
                        } else {
                            let reason = Word::text("a heredoc cannot be read", span.clone());
                            self.emit(pseudo::UNPARSABLE, vec![reason], span.clone(), state);
                            Word::unknown(span)
                        }
                    } else {
                        Word::text(document.doc.value.as_str(), span)
                    };
                    if matches!(fd, None | Some(0)) {
                        redirected.input = Some(content);
                    }
                }
                ast::IoRedirect::HereString(fd, word) => {
                    let mut words =
                        self.expand_word(word, Purpose::Value, frame, state, &mut Picks::default());
                    if matches!(fd, None | Some(0))
                        && let Some(mut content) = words.pop()
                    {
                        content.push_str("\n");
                        redirected.input = Some(content);
                    }
                }
                ast::IoRedirect::OutputAndError(word, append) => {
                    let target =
                        self.expand_word(word, Purpose::Value, frame, state, &mut Picks::default());
                    if let Some(target) = target.into_iter().next() {
                        self.write(target.clone(), *append, state);
                        redirected.output = Some((target, *append));
                    }
                }
            }
        }
        redirected
    }

    fn write(&mut self, target: Word, append: bool, state: &ShellState) {
        let program = if append {
            pseudo::APPEND
        } else {
            pseudo::WRITE
        };
        let span = target.span.clone();
        self.emit(program, vec![target], span, state);
    }

    fn file_redirect(
        &mut self,
        fd: Option<ast::IoFd>,
        kind: &ast::IoFileRedirectKind,
        target: &ast::IoFileRedirectTarget,
        frame: Frame<'_>,
        state: &mut ShellState,
        redirected: &mut Redirected,
    ) {
        let target = match target {
            ast::IoFileRedirectTarget::Filename(word)
            | ast::IoFileRedirectTarget::Duplicate(word) => {
                let mut picks = Picks::default();
                loop {
                    let words = self.expand_word(word, Purpose::Value, frame, state, &mut picks);
                    let Some(target) = words.into_iter().next() else {
                        return;
                    };
                    if !picks.advance() {
                        break target;
                    }
                    self.redirect_to(fd, kind, target, state, redirected);
                }
            }
            ast::IoFileRedirectTarget::ProcessSubstitution(kind, subshell) => {
                self.process(kind, subshell, frame, state)
            }
            ast::IoFileRedirectTarget::Fd(_) => return,
        };
        self.redirect_to(fd, kind, target, state, redirected);
    }

    fn redirect_to(
        &mut self,
        fd: Option<ast::IoFd>,
        kind: &ast::IoFileRedirectKind,
        target: Word,
        state: &mut ShellState,
        redirected: &mut Redirected,
    ) {
        let is_descriptor = target.literal().is_some_and(|text| {
            text == "-"
                || text
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'-')
        });
        match kind {
            // Another descriptor, opened by nobody knows what.
            ast::IoFileRedirectKind::DuplicateInput if is_descriptor => {
                if matches!(fd, None | Some(0)) && target.literal() != Some("-") {
                    redirected.input = Some(Word::unknown(target.span.clone()));
                }
            }
            ast::IoFileRedirectKind::DuplicateOutput if is_descriptor => {}
            ast::IoFileRedirectKind::Read | ast::IoFileRedirectKind::DuplicateInput => {
                if matches!(fd, None | Some(0)) {
                    let known = match (target.literal(), state.cwd.as_slice()) {
                        (Some("/dev/null"), _) => Some(Word::text("", target.span.clone())),
                        (Some(path), [Some(cwd)]) => state.files.get(&absolute(path, cwd)).cloned(),
                        _ => None,
                    };
                    redirected.input =
                        Some(known.unwrap_or_else(|| Word::unknown(target.span.clone())));
                }
                let span = target.span.clone();
                self.emit(pseudo::READ, vec![target], span, state);
            }
            ast::IoFileRedirectKind::Write
            | ast::IoFileRedirectKind::Clobber
            | ast::IoFileRedirectKind::ReadAndWrite
            | ast::IoFileRedirectKind::DuplicateOutput => {
                self.write(target.clone(), false, state);
                if matches!(fd, None | Some(1)) {
                    redirected.output = Some((target, false));
                }
            }
            ast::IoFileRedirectKind::Append => {
                self.write(target.clone(), true, state);
                if matches!(fd, None | Some(1)) {
                    redirected.output = Some((target, true));
                }
            }
        }
    }

    fn assignment(
        &mut self,
        assignment: &ast::Assignment,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) {
        let mut picks = Picks::default();
        let mut values: Vec<Value> = Vec::new();
        loop {
            let value = match &assignment.value {
                ast::AssignmentValue::Scalar(word) => {
                    let span = frame.origin.map(Some(&assignment.loc));
                    let words =
                        self.expand_raw(&word.value, span, Purpose::Value, state, &mut picks);
                    Value::Scalar(words.into_iter().next().unwrap_or_default())
                }
                ast::AssignmentValue::Array(items) => {
                    let mut words = Vec::new();
                    for (key, item) in items {
                        let span = frame.origin.map(Some(&assignment.loc));
                        if let Some(key) = key {
                            self.expand_raw(
                                &key.value,
                                span.clone(),
                                Purpose::Value,
                                state,
                                &mut picks,
                            );
                        }
                        words.extend(self.expand_raw(
                            &item.value,
                            span,
                            Purpose::Argument,
                            state,
                            &mut picks,
                        ));
                    }
                    Value::Array(words)
                }
            };
            values.push(value);
            if values.len() > PICKS_MAX || !picks.advance() {
                break;
            }
        }
        match &assignment.name {
            ast::AssignmentName::VariableName(name) => {
                if is_run_by_others(name) {
                    for value in &values {
                        for text in value.words() {
                            self.script_word(text, &mut state.clone(), None, false);
                        }
                    }
                }
                if assignment.append {
                    values = appended(state.variables.get(name), &values);
                }
                state.assign_alternatives(name, values);
            }
            ast::AssignmentName::ArrayElementName(name, index) => {
                self.arithmetic(index, frame, state);
                let mut words = match state.variables.get(name).map(Vec::as_slice) {
                    Some([Value::Array(words)]) => words.clone(),
                    _ => Vec::new(),
                };
                match (index.parse::<usize>(), values.pop()) {
                    (Ok(index), Some(Value::Scalar(word))) if index <= words.len() => {
                        if index == words.len() {
                            words.push(word);
                        } else {
                            words[index] = word;
                        }
                        state.assign(name, Value::Array(words));
                    }
                    _ => state.forget(name),
                }
            }
        }
    }

    /// One command of known words.
    fn argv(&mut self, argv: &[Word], frame: Frame<'_>, state: &mut ShellState) -> Output {
        if self.exhausted {
            return vec![Part::Unknown];
        }
        let Some((program, args)) = argv.split_first() else {
            return Output::new();
        };
        let span = match argv.last() {
            Some(last) => {
                program.span.start.min(last.span.start)..last.span.end.max(program.span.end)
            }
            None => program.span.clone(),
        };
        let Some(path) = program.literal().filter(|path| !path.contains(HOLE)) else {
            self.emit(
                pseudo::UNKNOWN_PROGRAM,
                argv.to_vec(),
                program.span.clone(),
                state,
            );
            return vec![Part::Unknown];
        };
        if let Some(output) = self.defined(path, args, &span, frame, state) {
            return output;
        }
        // A file that this line has written may be what runs.
        if path.contains('/')
            && let [Some(cwd)] = state.cwd.as_slice()
            && let Some(content) = state.files.get(&absolute(path, cwd)).cloned()
        {
            let mut inner = state.clone();
            inner.positional = Some(args.to_vec());
            self.script_word(&content, &mut inner, frame.input, frame.wanted);
        }
        let name = program_name(path);
        if let Some(output) = self.builtin(&name, args, &span, frame, state) {
            let prints = matches!(
                name.as_str(),
                "export" | "declare" | "typeset" | "local" | "readonly" | "alias" | "set" | "trap"
            );
            return if prints && frame.wanted {
                vec![Part::Unknown]
            } else {
                output
            };
        }
        self.emit(&name, args.to_vec(), span.clone(), state);
        let mut printed = Output::new();
        for layer in layers(&name, args) {
            printed.extend(self.layer(layer, frame, state));
        }
        if matches!(name.as_str(), "find" | "gfind" | "fd" | "fdfind") {
            return self.found(&name, args, &span, frame, state);
        }
        Self::downloads(&name, args, state);
        if !frame.wanted {
            return Output::new();
        }
        if printed.is_empty() {
            output(&name, args, frame.input, state, self.place)
        } else {
            printed
        }
    }

    /// Functions and aliases of this line.
    fn defined(
        &mut self,
        name: &str,
        args: &[Word],
        span: &Range<usize>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Option<Output> {
        if let Some(function) = state.functions.get(name).cloned() {
            function.called.set(true);
            if self.calling.iter().any(|calling| calling == name) {
                if self.parallel > 0 {
                    self.emit(pseudo::FORK_BOMB, Vec::new(), span.clone(), state);
                }
                return Some(vec![Part::Unknown]);
            }
            let outer = state.positional.replace(args.to_vec());
            let parallel = std::mem::take(&mut self.parallel);
            self.calling.push(name.to_owned());
            let ast::FunctionBody(body, redirects) = &function.body;
            let output = self.redirected_compound(body, redirects.as_ref(), frame, state);
            self.calling.pop();
            self.parallel = parallel;
            state.positional = outer;
            return Some(output);
        }
        let alias = state.aliases.remove(name)?;
        let mut text = alias.clone();
        for arg in args {
            text.push_str(" ");
            match arg.literal() {
                Some(known) => text.push_str(&quoted(known)),
                None => arg.parts.iter().for_each(|part| text.push(part.clone())),
            }
        }
        let output = if args.iter().all(|arg| arg.literal().is_some()) {
            self.script_word(&text, state, frame.input, frame.wanted)
        } else {
            // What the arguments hold is data: only the alias itself is code.
            let words: Vec<Word> = alias
                .prefix()
                .split_whitespace()
                .map(|word| Word::text(word, alias.span.clone()))
                .chain(args.iter().cloned())
                .collect();
            self.argv(&words, frame, state)
        };
        state.aliases.insert(name.to_owned(), alias);
        Some(output)
    }

    /// What a function does that nobody has called.
    fn uncalled(&mut self, state: &mut ShellState) {
        let functions: Vec<Rc<Function>> = state
            .functions
            .values()
            .filter(|function| !function.called.get())
            .cloned()
            .collect();
        let origin = Origin {
            rewritten: Rewritten::default(),
            base: None,
            span: 0..self.source.len(),
        };
        for function in functions {
            let mut inner = state.clone();
            let frame = Frame {
                origin: &origin,
                input: None,
                wanted: false,
            };
            let ast::FunctionBody(body, redirects) = &function.body;
            self.redirected_compound(body, redirects.as_ref(), frame, &mut inner);
        }
    }

    /// The builtins that change what later commands see.
    fn builtin(
        &mut self,
        name: &str,
        args: &[Word],
        span: &Range<usize>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Option<Output> {
        match name {
            "cd" | "chdir" => {
                self.change_folder(args, state);
                Some(Output::new())
            }
            "pushd" => {
                state.folder_stack.push(state.cwd.clone());
                self.change_folder(args, state);
                Some(Output::new())
            }
            "popd" => {
                let folders = state.folder_stack.pop().unwrap_or_else(|| vec![None]);
                state.go(folders);
                Some(Output::new())
            }
            "eval" => {
                let text = join(args)?;
                Some(self.script_word(&text, state, frame.input, frame.wanted))
            }
            "source" | "." => {
                let file = args.first()?;
                let file = file.clone();
                let outer = state.positional.clone();
                let output = self.script_file(&file, state, frame);
                state.positional = outer;
                Some(output)
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for arg in args {
                    let assigned = arg
                        .prefix()
                        .split_once('=')
                        .map(|(name, _)| name.to_owned());
                    if let Some(variable) = assigned
                        && !variable.starts_with('-')
                    {
                        let value = arg.without_prefix(variable.len() + 1);
                        state.assign(&variable, Value::Scalar(value));
                    }
                }
                Some(Output::new())
            }
            "unset" => {
                for name in args.iter().filter_map(Word::literal) {
                    state.assign(name, Value::Array(Vec::new()));
                    state.functions.remove(name);
                }
                Some(Output::new())
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                for name in args.iter().filter_map(Word::literal) {
                    if !name.starts_with('-') {
                        state.forget(name);
                    }
                }
                Some(Output::new())
            }
            "set" => {
                if let Some(at) = args.iter().position(|word| word.literal() == Some("--")) {
                    state.positional = Some(args[at + 1..].to_vec());
                }
                Some(Output::new())
            }
            "shift" => {
                if let Some(words) = &mut state.positional
                    && !words.is_empty()
                {
                    words.remove(0);
                }
                Some(Output::new())
            }
            "alias" => {
                for arg in args {
                    if let Some((name, _)) = arg.prefix().split_once('=') {
                        let body = arg.without_prefix(name.len() + 1);
                        state.aliases.insert(name.to_owned(), body);
                    }
                }
                Some(Output::new())
            }
            "unalias" => {
                for name in args.iter().filter_map(Word::literal) {
                    state.aliases.remove(name);
                }
                Some(Output::new())
            }
            "trap" => {
                if let Some(action) = args.iter().find(|word| !word.prefix().starts_with('-'))
                    && args.len() > 1
                {
                    let action = action.clone();
                    let mut inner = state.clone();
                    self.script_word(&action, &mut inner, None, false);
                }
                Some(Output::new())
            }
            "printf" if args.first().and_then(Word::literal) == Some("-v") => {
                let variable = args.get(1).and_then(Word::literal)?.to_owned();
                let parts = output(
                    "printf",
                    args.get(2..).unwrap_or_default(),
                    None,
                    state,
                    self.place,
                );
                state.assign(
                    &variable,
                    Value::Scalar(Word {
                        parts,
                        span: span.clone(),
                    }),
                );
                Some(Output::new())
            }
            _ => None,
        }
    }

    fn change_folder(&mut self, args: &[Word], state: &mut ShellState) {
        let target = args.iter().find(|word| {
            !matches!(
                word.literal(),
                Some("--" | "-P" | "-L" | "-e" | "-@" | "-n" | "-q")
            )
        });
        match target {
            None => {
                let home = if state.remote {
                    None
                } else {
                    Some(self.place.home.clone())
                };
                state.go(vec![home]);
            }
            Some(word) if word.literal() == Some("-") => {
                let before: Folders = state.cwd_before.clone();
                state.go(before);
            }
            Some(word) => {
                let word = word.clone();
                state.enter(&word);
            }
        }
    }

    fn script_file(&mut self, file: &Word, state: &mut ShellState, frame: Frame<'_>) -> Output {
        let path = match (file.literal(), state.cwd.as_slice()) {
            (Some("/dev/stdin" | "/dev/fd/0"), _) => {
                return match frame.input {
                    Some(input) => self.script_word(&input.clone(), state, None, frame.wanted),
                    None => Output::new(),
                };
            }
            (Some(path), [Some(cwd)]) => absolute(path, cwd),
            (Some(path), _) if path.starts_with('/') => absolute(path, "/"),
            _ => return vec![Part::Unknown],
        };
        match state.files.get(&path).cloned() {
            Some(content) => self.script_word(&content, state, frame.input, frame.wanted),
            None => vec![Part::Unknown],
        }
    }

    fn layer(&mut self, layer: Layer, frame: Frame<'_>, state: &mut ShellState) -> Output {
        match layer {
            Layer::Command { argv, host } => {
                let mut inner = hosted(state, host);
                let output = self.argv(&argv, frame, &mut inner);
                state.files.extend(inner.files);
                output
            }
            Layer::Script { text, args, host } => {
                let mut inner = hosted(state, host);
                inner.positional = Some(args);
                self.script_word(&text, &mut inner, frame.input, frame.wanted)
            }
            Layer::ScriptOfInput { host } => {
                let Some(input) = frame.input.cloned() else {
                    return Output::new();
                };
                let mut inner = hosted(state, host);
                self.script_word(&input, &mut inner, None, frame.wanted)
            }
            Layer::ScriptFile { file, args } => {
                let mut inner = state.clone();
                inner.positional = Some(args);
                self.script_file(&file, &mut inner, frame)
            }
            Layer::Sql { text, dialect } => {
                self.sql(&text, dialect, frame, state);
                vec![Part::Unknown]
            }
            Layer::SqlOfInput { dialect } => {
                if let Some(input) = frame.input.cloned() {
                    self.sql(&input, dialect, frame, state);
                }
                vec![Part::Unknown]
            }
            Layer::Code { text, language } => {
                self.code(&text, language, 0, frame, state);
                vec![Part::Unknown]
            }
            Layer::CodeOfInput { language } => {
                if let Some(input) = frame.input.cloned() {
                    self.code(&input, language, 0, frame, state);
                }
                vec![Part::Unknown]
            }
            Layer::WithInput {
                argv,
                replace,
                split,
            } => self.with_input(&argv, replace.as_deref(), split, frame, state),
            Layer::InFolder { argv, folder } => {
                let mut inner = state.clone();
                inner.enter(&folder);
                self.argv(&argv, frame, &mut inner)
            }
        }
    }

    /// A command that takes the words of its input, as `xargs` passes them.
    fn with_input(
        &mut self,
        argv: &[Word],
        replace: Option<&str>,
        split: Split,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let span = argv.first().map_or(0..0, |word| word.span.clone());
        let words = match frame.input {
            Some(input) => fields(input, split, &span),
            None => vec![Word::unknown(span)],
        };
        if words.is_empty() {
            return Output::new();
        }
        let inner = Frame {
            input: None,
            ..frame
        };
        match replace {
            None => {
                let mut argv = argv.to_vec();
                argv.extend(words);
                self.argv(&argv, inner, state)
            }
            Some(hole) => {
                for word in words.iter().take(PICKS_MAX) {
                    let argv: Vec<Word> =
                        argv.iter().map(|arg| replaced(arg, hole, word)).collect();
                    self.argv(&argv, inner, state);
                }
                vec![Part::Unknown]
            }
        }
    }

    fn sql(&mut self, text: &Word, dialect: Dialect, frame: Frame<'_>, state: &mut ShellState) {
        let span = text.span.clone();
        for act in sql::acts(text, dialect) {
            match act {
                SqlAct::Statement { words, filtered } => {
                    let mut args: Vec<Word> = words
                        .into_iter()
                        .map(|word| Word::text(word, span.clone()))
                        .collect();
                    if filtered {
                        args.push(Word::text("--where", span.clone()));
                    }
                    self.emit(pseudo::SQL, args, span.clone(), state);
                }
                SqlAct::Shell(command) => {
                    let mut inner = state.clone();
                    self.script(&command, &span, &mut inner, frame.input, false);
                }
                SqlAct::Unknown => {
                    self.emit(pseudo::UNKNOWN_SQL, vec![text.clone()], span.clone(), state);
                }
            }
        }
    }

    fn code(
        &mut self,
        text: &Word,
        language: Language,
        depth: usize,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) {
        if text.parts.first() == Some(&Part::Unknown) || depth > 6 {
            self.emit(
                pseudo::UNKNOWN_CODE,
                vec![text.clone()],
                text.span.clone(),
                state,
            );
            return;
        }
        let mut inner = state.clone();
        for act in code::acts(text, language) {
            match act {
                CodeAct::Script(script) => {
                    self.script_word(&script, &mut inner, None, false);
                }
                CodeAct::Argv(argv) => {
                    self.argv(
                        &argv,
                        Frame {
                            input: None,
                            ..frame
                        },
                        &mut inner,
                    );
                }
                CodeAct::Code(code) => self.code(&code, language, depth + 1, frame, &mut inner),
                CodeAct::DeleteAll => {
                    self.emit(pseudo::DELETE_ALL, Vec::new(), text.span.clone(), state);
                }
                CodeAct::Call { name, args } if name == "chdir" => {
                    inner.enter(args.first().unwrap_or(&Word::unknown(0..0)));
                }
                CodeAct::Call { name, args } => {
                    self.emit(&format!("{name}()"), args, text.span.clone(), &inner);
                }
            }
        }
    }

    fn found(
        &mut self,
        name: &str,
        args: &[Word],
        span: &Range<usize>,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let found = if name.ends_with("find") && name != "fdfind" {
            find::find(args)
        } else {
            find::fd(args)
        };
        for path in found.deleted {
            let recursive = Word::text("-r", span.clone());
            let end = Word::text("--", span.clone());
            self.emit("rm", vec![recursive, end, path], span.clone(), state);
        }
        for argv in found.commands {
            self.argv(
                &argv,
                Frame {
                    input: None,
                    ..frame
                },
                state,
            );
        }
        for file in found.written {
            self.write(file, false, state);
        }
        let mut output = Word::default();
        for path in found.printed {
            path.parts.into_iter().for_each(|part| output.push(part));
            output.push_str("\n");
        }
        output.parts
    }

    /// A file that a download writes holds unknown text.
    fn downloads(name: &str, args: &[Word], state: &mut ShellState) {
        let options: &[&str] = match name {
            "curl" => &["-o", "--output"],
            "wget" => &["-O", "--output-document"],
            _ => return,
        };
        let file = args
            .iter()
            .enumerate()
            .find_map(|(at, word)| options.contains(&word.prefix()).then(|| args.get(at + 1))?);
        if let (Some(path), [Some(cwd)]) = (file.and_then(Word::literal), state.cwd.as_slice())
            && path != "-"
        {
            let path = absolute(path, cwd);
            state.files.insert(path, Word::unknown(0..0));
        }
    }
}

fn hosted(state: &ShellState, host: Host) -> ShellState {
    match host {
        Host::Here => state.clone(),
        Host::Elsewhere => ShellState::elsewhere(),
    }
}

/// The output of code of which only a part may run.
fn either(output: Output) -> Output {
    if output.is_empty() {
        output
    } else {
        vec![Part::Unknown]
    }
}

/// The text of a script word; names that are not known stand in it as holes.
fn text_of(word: &Word) -> Option<Cow<'_, str>> {
    if let Some(text) = word.literal() {
        return Some(Cow::Borrowed(text));
    }
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Text(known) | Part::Glob(known) => text.push_str(known),
            Part::Token => text.push(HOLE),
            Part::Below => {
                if !text.ends_with('/') {
                    text.push('/');
                }
                text.push(HOLE);
            }
            Part::Unknown => return None,
        }
    }
    Some(Cow::Owned(text))
}

/// `known` as one shell word.
fn quoted(known: &str) -> String {
    format!("'{}'", known.replace('\'', "'\\''"))
}

fn appended(before: Option<&Vec<Value>>, values: &[Value]) -> Vec<Value> {
    let unknown = [Value::Scalar(Word::unknown(0..0))];
    let before = before.map_or(&unknown[..], Vec::as_slice);
    let mut all = Vec::new();
    for old in before {
        for new in values {
            all.push(match (old, new) {
                (Value::Scalar(old), Value::Scalar(new)) => {
                    let mut joined = old.clone();
                    new.parts.iter().for_each(|part| joined.push(part.clone()));
                    Value::Scalar(joined)
                }
                (old, new) => {
                    let mut words = old.words().to_vec();
                    words.extend_from_slice(new.words());
                    Value::Array(words)
                }
            });
        }
    }
    all
}

/// The words that a program reads from its input, split at blanks and line breaks.
fn fields(input: &Word, split: Split, span: &Range<usize>) -> Vec<Word> {
    let separators: &[char] = match split {
        Split::Blanks => &[' ', '\t', '\n', '\0'],
        Split::Lines => &['\n', '\0'],
    };
    let mut words = Vec::new();
    let mut current = Word {
        parts: Vec::new(),
        span: span.clone(),
    };
    for part in &input.parts {
        match part {
            Part::Text(text) => {
                for (nth, piece) in text.split(separators).enumerate() {
                    if nth > 0 && !current.parts.is_empty() {
                        let next = Word {
                            parts: Vec::new(),
                            span: span.clone(),
                        };
                        words.push(std::mem::replace(&mut current, next));
                    }
                    if !piece.is_empty() {
                        current.push_str(piece);
                    }
                }
            }
            part => current.push(part.clone()),
        }
    }
    if !current.parts.is_empty() {
        words.push(current);
    }
    words
}

/// The name of a program without its folder, its case and its suffix.
pub(crate) fn program_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let mut name = name.to_ascii_lowercase();
    if let Some(stem) = name.strip_suffix(".exe") {
        name = stem.to_owned();
    }
    // In some shells `=name` is the path of a program.
    if let Some(named) = name.strip_prefix('=') {
        name = named.to_owned();
    }
    // A login shell's name starts with a hyphen.
    if let Some(shell) = name.strip_prefix('-')
        && is_shell(shell)
    {
        name = shell.to_owned();
    }
    name
}

/// Whether programs run the value of this variable as a command.
fn is_run_by_others(name: &str) -> bool {
    matches!(
        name,
        "PAGER"
            | "EDITOR"
            | "VISUAL"
            | "BROWSER"
            | "MANPAGER"
            | "PROMPT_COMMAND"
            | "LESSOPEN"
            | "GIT_PAGER"
            | "GIT_EDITOR"
            | "GIT_SEQUENCE_EDITOR"
            | "GIT_SSH_COMMAND"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_ASKPASS"
            | "RSYNC_RSH"
            | "SUDO_EDITOR"
            | "FCEDIT"
    )
}

/// The variable names in an arithmetic expression.
fn names_in(expr: &str) -> impl Iterator<Item = &str> {
    expr.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}
