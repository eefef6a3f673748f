//! Words inside the walk: alternatives of variables, substitutions, the shell around them.

use std::ops::Range;
use std::rc::Rc;

use brush_parser::ast;

use crate::command::expand::{Purpose, Shell, Unreadable, expand};
use crate::command::normalise::simple::pseudo;
use crate::command::normalise::walker::{Frame, Normaliser};
use crate::command::parse::PLACEHOLDER;
use crate::command::state::{ShellState, Value};
use crate::command::word::{Part, Word};

/// Which alternative of each variable the current expansion uses.
#[derive(Debug, Default)]
pub(crate) struct Picks {
    pub(crate) chosen: Vec<(String, usize, usize)>,
    pub(crate) overflow: bool,
}

impl Picks {
    pub(crate) fn pick<'v>(&mut self, name: &str, values: &'v [Value]) -> Option<&'v Value> {
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
    pub(crate) fn advance(&mut self) -> bool {
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
pub(crate) struct Eval<'e, 'p> {
    pub(crate) normaliser: &'e mut Normaliser<'p>,
    pub(crate) state: &'e mut ShellState,
    pub(crate) picks: &'e mut Picks,
}

impl Shell for Eval<'_, '_> {
    fn variable(&mut self, name: &str) -> Option<Rc<[Word]>> {
        let values = self.state.variables.get(name)?;
        Some(match self.picks.pick(name, values) {
            Some(Value::Scalar(word)) => [word.clone()].into(),
            Some(Value::Array(words)) => Rc::clone(words),
            None => [Word::unknown(0..0)].into(),
        })
    }

    fn assign(&mut self, name: &str, value: Word) {
        self.state.assign(name, Value::Scalar(value));
    }

    fn positional(&mut self) -> Option<Rc<[Word]>> {
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
        match &*self.state.cwd {
            [Some(cwd)] => Some(cwd.clone()),
            _ => None,
        }
    }

    fn cwd_before(&mut self) -> Option<String> {
        match &*self.state.cwd_before {
            [Some(cwd)] => Some(cwd.clone()),
            _ => None,
        }
    }
}

impl Normaliser<'_> {
    pub(crate) fn expand_word(
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

    pub(crate) fn expand_raw(
        &mut self,
        raw: &str,
        span: Range<usize>,
        purpose: Purpose,
        state: &mut ShellState,
        picks: &mut Picks,
    ) -> Vec<Word> {
        if self.beyond {
            return vec![Word::unknown(span)];
        }
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
        let words = expanded.unwrap_or_else(|Unreadable| {
            let reason = Word::text("a word cannot be read", span.clone());
            self.emit(pseudo::UNPARSABLE, vec![reason], span.clone(), state);
            vec![Word::unknown(span)]
        });
        if words.len() > 1 {
            // Each of them was read as a word of its own.
            self.read += words.iter().map(Word::bytes).sum::<usize>();
        }
        self.keep(|near| near.expand(&words));
        words
    }
}
