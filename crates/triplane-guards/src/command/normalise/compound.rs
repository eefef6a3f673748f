//! Compound commands: what may run, and what may run again.

use brush_parser::ast;

use crate::command::expand::Purpose;
use crate::command::normalise::walker::{Frame, Normaliser, Output};
use crate::command::normalise::words::Picks;
use crate::command::state::{ShellState, Value};
use crate::command::word::{Part, Word};

impl Normaliser<'_> {
    pub(crate) fn redirected_compound(
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

    pub(crate) fn compound(
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
                state.files = inner.files;
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
                    None => match &state.positional {
                        Some(words) => words.to_vec(),
                        None => vec![Word::unknown(frame.origin.span.clone())],
                    },
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

    pub(crate) fn conditional(
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
    pub(crate) fn looped(
        &mut self,
        _frame: Frame<'_>,
        state: &mut ShellState,
        mut body: impl FnMut(&mut Self, &mut ShellState) -> Output,
    ) -> Output {
        let before = state.clone();
        let mut output = body(self, state);
        state.join(&before);
        // Within a second run, one run of each inner loop is enough: its own second run was part
        // of the first. Nested loops would double without an end otherwise.
        if state.changed_since(&before) && !self.repeating && !self.exhausted {
            self.repeating = true;
            output.extend(body(self, state));
            self.repeating = false;
            state.join(&before);
        }
        either(output)
    }

    pub(crate) fn for_values(
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

    pub(crate) fn case(
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

    pub(crate) fn test(
        &mut self,
        expr: &ast::ExtendedTestExpr,
        frame: Frame<'_>,
        state: &mut ShellState,
    ) {
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

    pub(crate) fn arithmetic(&mut self, expr: &str, frame: Frame<'_>, state: &mut ShellState) {
        if expr.contains('$') {
            let word = ast::Word::new(expr);
            self.expand_word(&word, Purpose::Value, frame, state, &mut Picks::default());
        }
    }
}

/// The output of code of which only a part may run.
pub(crate) fn either(output: Output) -> Output {
    if output.is_empty() {
        output
    } else {
        vec![Part::Unknown]
    }
}

/// The variable names in an arithmetic expression.
pub(crate) fn names_in(expr: &str) -> impl Iterator<Item = &str> {
    expr.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}
