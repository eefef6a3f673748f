//! Assignments: what later commands find in a variable.

use brush_parser::ast;

use crate::command::expand::Purpose;
use crate::command::normalise::walker::{Frame, Normaliser, PICKS_MAX};
use crate::command::normalise::words::Picks;
use crate::command::state::{ShellState, Value};
use crate::command::word::Word;

impl Normaliser<'_> {
    pub(crate) fn assignment(
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
                    Value::Array(words.into())
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
                            // A pipe in front says which way the output goes.
                            let marks = text.prefix().len()
                                - text.prefix().trim_start_matches(['|', '-', ' ']).len();
                            let command = text.without_prefix(marks);
                            self.script_word(&command, &mut state.clone(), None, false);
                        }
                    }
                }
                if assignment.append {
                    let before = state.variables.get(name.as_str()).map(AsRef::as_ref);
                    values = appended(before, &values);
                }
                state.assign_alternatives(name, values);
            }
            ast::AssignmentName::ArrayElementName(name, index) => {
                self.arithmetic(index, frame, state);
                let mut words = match state.variables.get(name.as_str()).map(AsRef::as_ref) {
                    Some([Value::Array(words)]) => words.to_vec(),
                    _ => Vec::new(),
                };
                match (index.parse::<usize>(), values.pop()) {
                    (Ok(index), Some(Value::Scalar(word))) if index <= words.len() => {
                        if index == words.len() {
                            words.push(word);
                        } else {
                            words[index] = word;
                        }
                        state.assign(name, Value::Array(words.into()));
                    }
                    _ => state.forget(name),
                }
            }
        }
    }
}

pub(crate) fn appended(before: Option<&[Value]>, values: &[Value]) -> Vec<Value> {
    let unknown = [Value::Scalar(Word::unknown(0..0))];
    let before = before.unwrap_or(&unknown);
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
                    Value::Array(words.into())
                }
            });
        }
    }
    all
}

/// Whether programs run the value of this variable as a command.
pub(crate) fn is_run_by_others(name: &str) -> bool {
    matches!(
        name,
        "PAGER"
            | "EDITOR"
            | "VISUAL"
            | "BROWSER"
            | "MANPAGER"
            | "PROMPT_COMMAND"
            | "GIT_PAGER"
            | "GIT_EDITOR"
            | "GIT_SEQUENCE_EDITOR"
            | "GIT_SSH_COMMAND"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_ASKPASS"
            | "RSYNC_RSH"
            | "SUDO_EDITOR"
            | "FCEDIT"
            | "LESSOPEN"
            | "LESSCLOSE"
    )
}
