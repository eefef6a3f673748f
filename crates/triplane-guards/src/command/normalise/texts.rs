//! Texts that are no shell scripts and hold some: crontabs, makefiles, PowerShell.

use std::collections::HashMap;
use std::ops::Range;

use crate::command::cmdlets::{Deed, deed, statements};
use crate::command::normalise::files::held;
use crate::command::normalise::simple::pseudo;
use crate::command::normalise::walker::{Frame, Normaliser};
use crate::command::output::CRONTAB_KEPT;
use crate::command::state::ShellState;
use crate::command::word::{Part, Word};
use crate::place::absolute;

impl Normaliser<'_> {
    /// The lines of a crontab: each runs at its time. What was there before must be among them.
    pub(crate) fn schedule(&mut self, frame: Frame<'_>, state: &mut ShellState) {
        let input = frame.input.cloned().unwrap_or_default();
        let span = input.span.clone();
        let text: String = input
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.as_str(),
                _ => "\u{1}",
            })
            .collect();
        if input.is_unknown() {
            let script = vec![input.clone()];
            self.emit(
                pseudo::UNKNOWN_SCRIPT,
                script,
                frame.origin.span.clone(),
                state,
            );
        }
        if !text.contains(CRONTAB_KEPT) {
            self.emit(
                pseudo::SCHEDULE,
                Vec::new(),
                frame.origin.span.clone(),
                state,
            );
        }
        for line in text.lines().map(str::trim) {
            if line.starts_with('#') || line.is_empty() {
                continue;
            }
            let fields = if line.starts_with('@') { 1 } else { 5 };
            let command = line
                .splitn(fields + 1, [' ', '\t'])
                .nth(fields)
                .unwrap_or("");
            self.script(command, &span, &mut state.clone(), None, false);
        }
    }

    /// A makefile that this line has written, or feeds to make.
    pub(crate) fn recipe_file(&mut self, file: &Word, frame: Frame<'_>, state: &mut ShellState) {
        let text = match (file.literal(), &*state.cwd) {
            (Some("-" | "/dev/stdin"), _) => frame.input.cloned(),
            (Some(path), [Some(cwd)]) => held(&absolute(path, cwd), state),
            _ => None,
        };
        if let Some(text) = text {
            self.recipes(&text, state);
        }
    }

    /// The recipes of a makefile: lines behind a tab, and what follows a `;` behind a target.
    pub(crate) fn recipes(&mut self, text: &Word, state: &mut ShellState) {
        if text.is_unknown() {
            let script = vec![text.clone()];
            self.emit(pseudo::UNKNOWN_SCRIPT, script, text.span.clone(), state);
            return;
        }
        let Some(known) = text.literal() else {
            return;
        };
        let joined = known.replace("\\\n", " ");
        let variables: HashMap<&str, &str> = joined.lines().filter_map(assigned).collect();
        for line in joined.lines() {
            let recipe = match line.strip_prefix('\t') {
                Some(recipe) => Some(recipe),
                None => line
                    .split_once(';')
                    .filter(|(target, _)| target.contains(':'))
                    .map(|(_, recipe)| recipe),
            };
            if let Some(recipe) = recipe {
                let script = made(recipe.trim_start_matches(['@', '-', '+', ' ']), &variables);
                self.perhaps(&script, &text.span, state);
            }
        }
    }

    /// Text that may be no shell text at all: that it cannot be read says nothing then.
    pub(crate) fn perhaps(&mut self, script: &str, span: &Range<usize>, state: &ShellState) {
        let before = self.simples.len();
        self.script(script, span, &mut state.clone(), None, false);
        let mut nth = 0;
        self.simples.retain(|simple| {
            nth += 1;
            nth <= before
                || !matches!(
                    simple.program.as_str(),
                    pseudo::UNPARSABLE | pseudo::UNKNOWN_PROGRAM
                )
        });
    }

    /// Statements of PowerShell, or of `cmd`: what destroys something is judged as the program
    /// that does the same, and a program that both shells share as itself.
    pub(crate) fn cmdlets(&mut self, text: &Word, state: &mut ShellState) {
        let span = &text.span;
        let home = self.place.home.clone();
        let Some(known) = text.literal() else {
            let script = vec![text.clone()];
            self.emit(pseudo::UNKNOWN_SCRIPT, script, span.clone(), state);
            return;
        };
        for (_, statement) in statements(known) {
            let statement = statement.trim().trim_start_matches(['&', '.', ' ']);
            let mut words = statement
                .split_whitespace()
                .map(|word| word.trim_matches(['"', '\'']));
            let name = words.next().unwrap_or("").to_lowercase();
            let operands = |recursive: bool| {
                let mut args = Vec::new();
                if recursive {
                    args.push(Word::text("-r", span.clone()));
                }
                args.push(Word::text("--", span.clone()));
                let flags =
                    |word: &&str| word.starts_with('-') || word.len() == 2 && word.starts_with('/');
                let named: Vec<&str> = words.clone().filter(|word| !flags(word)).collect();
                if named.is_empty() || named.iter().any(|word| word.contains(['$', '`'])) {
                    args.push(Word::unknown(span.clone()));
                }
                args.extend(named.iter().map(|word| match word.strip_prefix('~') {
                    Some(rest) => Word::text(format!("{home}{rest}"), span.clone()),
                    None => Word::text(*word, span.clone()),
                }));
                args
            };
            match deed(&name) {
                Some(Deed::Delete) => {
                    let recursive = words.clone().any(|word| {
                        word.to_lowercase().starts_with("-r") || word.eq_ignore_ascii_case("/s")
                    });
                    self.emit("rm", operands(recursive), span.clone(), state);
                }
                Some(Deed::Empty) => self.emit("truncate", operands(false), span.clone(), state),
                Some(Deed::Format) => {
                    let unknown = vec![Word::unknown(span.clone())];
                    self.emit("mkfs", unknown, span.clone(), state);
                }
                Some(Deed::Stop) => self.emit("shutdown", Vec::new(), span.clone(), state),
                Some(Deed::RunText) => {
                    let script = vec![text.clone()];
                    self.emit(pseudo::UNKNOWN_SCRIPT, script, span.clone(), state);
                }
                None => self.perhaps(statement, span, state),
            }
        }
    }
}

/// A variable of a makefile with its value, if the line sets one.
fn assigned(line: &str) -> Option<(&str, &str)> {
    if line.starts_with(['\t', '#']) {
        return None;
    }
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', ' ', '\t']).trim();
    let named = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    named.then(|| (name, value.trim()))
}

/// A recipe as the shell gets it: a variable that the makefile does not set to a plain value is
/// one that the shell does not know either.
fn made(recipe: &str, variables: &HashMap<&str, &str>) -> String {
    let mut script = String::with_capacity(recipe.len());
    let mut chars = recipe.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '$' {
            script.push(c);
            continue;
        }
        let name: String = match chars.next() {
            Some('$') | None => {
                script.push('$');
                continue;
            }
            Some(open @ ('(' | '{')) => {
                let close = if open == '(' { ')' } else { '}' };
                chars.by_ref().take_while(|&c| c != close).collect()
            }
            Some(c) => c.to_string(),
        };
        match (name.as_str(), variables.get(name.as_str())) {
            (_, Some(value)) if !value.contains('$') => script.push_str(value),
            ("HOME", _) => script.push_str("$HOME"),
            ("CURDIR", _) => script.push_str("$PWD"),
            _ => script.push_str("${MAKE_VARIABLE}"),
        }
    }
    script
}
