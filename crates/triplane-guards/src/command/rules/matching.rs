//! How one rule is held against a command.

use std::ops::Range;

use crate::command::normalise::Simple;
use crate::command::rules::arguments::Arguments;
use crate::command::rules::declared::On;
use crate::command::rules::rule::Rule;
use crate::command::scope::{Scopes, scopes};
use crate::command::word::Word;
use crate::place::Place;

/// Options that have no value in any program that ships rules about.
const WITHOUT_VALUE: [&str; 10] = [
    "--all",
    "--auto-approve",
    "-auto-approve",
    "--force",
    "--quiet",
    "--recursive",
    "--verbose",
    "--yes",
    "-y",
    "--help",
];

impl Rule {
    /// The span of the offending part, if the rule matches.
    pub(crate) fn against(
        &self,
        arguments: &Arguments<'_>,
        simple: &Simple,
        place: &Place,
    ) -> Option<Range<usize>> {
        let consumed = self.subcommand(&arguments.operands)?;
        let operands = &arguments.operands[consumed..];
        if operands.len() < self.operands_min {
            return None;
        }
        if !self.flags.iter().all(|group| {
            group
                .iter()
                .any(|flag| arguments.option(flag, true).is_some())
        }) {
            return None;
        }
        if self
            .unless
            .iter()
            .any(|flag| arguments.option(flag, false).is_some())
        {
            return None;
        }
        if self.is_about_help(arguments, simple, consumed) {
            return None;
        }
        if let Some(pattern) = &self.line {
            let line: Vec<_> = simple.args.iter().map(|word| word.shown()).collect();
            if !pattern.matches(&line.join(" ")) {
                return None;
            }
        }
        if self.scope == Scopes::NONE && self.text.is_none() {
            return Some(simple.span.clone());
        }
        let values: Vec<&Word>;
        let tested: &[&Word] = match &self.on {
            On::Operands => operands,
            On::First => operands.get(..1)?,
            On::Last => {
                let last = operands.len().checked_sub(1)?;
                &operands[last..]
            }
            On::Rest => operands.get(1..)?,
            On::Sources => {
                let last = operands.len().checked_sub(1)?;
                &operands[..last]
            }
            On::Option(names) => {
                values = names
                    .split('|')
                    .flat_map(|name| arguments.values(name))
                    .collect();
                &values
            }
        };
        tested
            .iter()
            .find(|word| self.matches_word(word, arguments, simple, place))
            .map(|word| {
                if word.span.is_empty() {
                    simple.span.clone()
                } else {
                    word.span.clone()
                }
            })
    }

    /// Whether the program is asked for its help, and does nothing else.
    ///
    /// What follows an operand may belong to that operand, as what a container runs does; and what
    /// follows an option may be its value. So the question counts in front of the operands that the
    /// subcommand has, or anywhere where that is known of the program, and behind no option but one that
    /// surely has no value. A program without subcommands has to be asked first of all.
    fn is_about_help(&self, arguments: &Arguments<'_>, simple: &Simple, consumed: usize) -> bool {
        let first = simple.args.first().and_then(Word::literal) == Some("--help");
        let with_subs = !self.subs.is_empty();
        first && !with_subs
            || arguments.helps.iter().any(|help| {
                let heard = help
                    .behind
                    .is_none_or(|operands| with_subs && operands <= consumed);
                heard && help.after.is_none_or(|option| self.has_no_value(option))
            })
    }

    fn has_no_value(&self, option: &str) -> bool {
        let mut flags = self.flags.iter().flat_map(|group| group.iter());
        WITHOUT_VALUE.contains(&option) || flags.any(|flag| flag == option)
    }

    /// How many operands the subcommand takes, if it is this rule's.
    fn subcommand(&self, operands: &[&Word]) -> Option<usize> {
        if self.subs.is_empty() {
            return Some(0);
        }
        self.subs
            .iter()
            .find(|sub| {
                sub.len() <= operands.len()
                    && sub.iter().zip(operands).all(|(names, word)| {
                        word.literal().is_some_and(|text| {
                            names
                                .iter()
                                .any(|name| name == "*" || text.eq_ignore_ascii_case(name))
                        })
                    })
            })
            .map(|sub| sub.len())
    }

    fn matches_word(
        &self,
        word: &Word,
        arguments: &Arguments<'_>,
        simple: &Simple,
        place: &Place,
    ) -> bool {
        if let Some(pattern) = &self.text {
            let matched = word.literal().is_some_and(|text| pattern.matches(text));
            if !matched {
                return false;
            }
        }
        if self.scope == Scopes::NONE {
            return true;
        }
        let key = std::ptr::from_ref(word).addr();
        let mut led = arguments.led.borrow_mut();
        let led = led.entry(key).or_insert_with(|| {
            let place = simple.seen_from(place);
            simple.cwd.iter().fold(Scopes::NONE, |all, cwd| {
                all.and(scopes(word, cwd.as_deref(), &place))
            })
        });
        led.meets(self.scope)
    }
}
