//! Scripts, lists and pipelines.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use brush_parser::ast;

use crate::command::near::Near;
use crate::command::normalise::simple::pseudo;
use crate::command::normalise::walker::{
    Frame, HOLE, Normaliser, Origin, Output, READ_MAX, SCRIPTS_MAX, SIMPLES_MAX,
};
use crate::command::parse::{PLACEHOLDER, Rewritten, Script, parse};
use crate::command::state::{Function, ShellState};
use crate::command::word::{Part, Word};

impl Normaliser<'_> {
    /// Walks a script; the answer is what is known of its output.
    pub(crate) fn script(
        &mut self,
        text: &str,
        span: &Range<usize>,
        state: &mut ShellState,
        input: Option<&Word>,
        wanted: bool,
    ) -> Output {
        self.depth += 1;
        self.scripts += 1;
        self.read += text.len();
        let depth = self.depth;
        self.keep(|near| Near::nest(depth).and_then(|()| near.read(text)));
        let too_much = self.depth > SCRIPTS_MAX
            || self.scripts > SIMPLES_MAX
            || self.read > READ_MAX
            || self.exhausted;
        let output = if too_much {
            self.emit(pseudo::TOO_MUCH, Vec::new(), span.clone(), state);
            vec![Part::Unknown]
        } else {
            self.parsed(text, span, state, input, wanted)
        };
        self.depth -= 1;
        self.keep(|near| near.value(&output));
        output
    }

    pub(crate) fn parsed(
        &mut self,
        text: &str,
        span: &Range<usize>,
        state: &mut ShellState,
        input: Option<&Word>,
        wanted: bool,
    ) -> Output {
        let region = self.source.get(span.clone()).unwrap_or("");
        let found = if region.len() == text.len() {
            (region == text).then_some(0)
        } else {
            region.find(text)
        };
        let base = found.map(|at| span.start + at);
        let substitutions = &mut self.substitutions;
        let parsed = parse(text, self.found.take(), |script, at| {
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
    pub(crate) fn script_word(
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

    pub(crate) fn list(
        &mut self,
        list: &ast::CompoundList,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let mut output = Output::new();
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            if self.exhausted {
                break;
            }
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

    pub(crate) fn and_or(
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
        let mut first = state.clone();
        let mut sure = always_succeeds(&list.first);
        for next in &list.additional {
            match next {
                ast::AndOr::And(pipeline) => {
                    output.extend(self.pipeline(pipeline, frame, state));
                    // Behind what cannot fail, this has happened.
                    if sure {
                        first = state.clone();
                        sure = always_succeeds(pipeline);
                    }
                }
                ast::AndOr::Or(pipeline) => {
                    sure = false;
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

    pub(crate) fn pipeline(
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
            state.files = inner.files;
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
        state.files = inner.files;
        self.parallel -= 1;
        output
    }

    pub(crate) fn command(
        &mut self,
        command: &ast::Command,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) -> Output {
        let output = match command {
            ast::Command::Simple(simple) => self.simple(simple, frame, state),
            ast::Command::Compound(compound, redirects) => {
                self.redirected_compound(compound, redirects.as_ref(), frame, state)
            }
            ast::Command::Function(definition) => {
                let function = Function {
                    body: definition.body.clone(),
                    called: Cell::new(false),
                };
                Rc::make_mut(&mut state.functions)
                    .insert(definition.fname.value.as_str().into(), Rc::new(function));
                Output::new()
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref().map(|list| list.0.iter()), frame, state);
                self.test(&test.expr, frame, state);
                Output::new()
            }
        };
        self.keep(|near| near.value(&output));
        output
    }
}

/// Whether a pipeline is an assignment, or a builtin that does not fail.
fn always_succeeds(pipeline: &ast::Pipeline) -> bool {
    let [ast::Command::Simple(simple)] = pipeline.seq.as_slice() else {
        return false;
    };
    !pipeline.bang
        && match &simple.word_or_name {
            // A substitution in a value may fail.
            None => !simple.to_string().contains(PLACEHOLDER),
            Some(name) => matches!(
                name.value.as_str(),
                "true"
                    | ":"
                    | "echo"
                    | "printf"
                    | "export"
                    | "declare"
                    | "local"
                    | "readonly"
                    | "set"
                    | "shopt"
                    | "alias"
                    | "trap"
                    | "umask"
            ),
        }
}

/// The text of a script word; names that are not known stand in it as holes.
pub(crate) fn text_of(word: &Word) -> Option<Cow<'_, str>> {
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
