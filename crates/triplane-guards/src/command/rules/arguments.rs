//! The arguments of a program, told apart as that program would.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use crate::command::rules::declared::Style;
use crate::command::rules::rule::{Program, Text};
use crate::command::scope::Scopes;
use crate::command::word::Word;

/// The name of an option as it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name<'a> {
    /// A letter of a cluster.
    Short(char),
    /// A whole word, its hyphens included.
    Whole(&'a str),
}

impl Name<'_> {
    /// Whether this is the option that a rule calls `flag`. Long names may be shortened.
    fn is(self, flag: &str) -> bool {
        match self {
            Self::Short(letter) => {
                let mut chars = flag.chars();
                chars.next() == Some('-') && chars.next() == Some(letter) && chars.next().is_none()
            }
            Self::Whole(given) => {
                given == flag
                    || given.len() > 2 && given.starts_with("--") && flag.starts_with(given)
                    || flag.len() > 2
                        && !flag.starts_with("--")
                        && given.strip_prefix('-') == Some(flag)
            }
        }
    }
}

fn takes_value(values: &[Text], option: &str) -> bool {
    values.iter().any(|value| value == option)
}

/// A word that is listed as help stands behind fewer words than this: a program and its subcommand.
const HELP_BEHIND_MAX: usize = 3;

/// Arguments told apart: options with their values, and operands.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'a> {
    options: Vec<(Name<'a>, Option<Cow<'a, Word>>)>,
    pub(crate) operands: Vec<&'a Word>,
    /// Where the words lead that a rule has asked about, by their addresses: several rules ask
    /// about the same word.
    pub(crate) led: RefCell<HashMap<usize, Scopes>>,
    /// Where help is asked for.
    pub(crate) helps: Vec<Help<'a>>,
}

/// A word that asks a program for its help.
#[derive(Debug)]
pub(crate) struct Help<'a> {
    /// How many operands stand before it; nothing where that does not matter.
    pub(crate) behind: Option<usize>,
    /// The option right before it, which may take it for its value.
    pub(crate) after: Option<&'a str>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn read(program: &Program, args: &'a [Word]) -> Self {
        let mut read = Self::default();
        let mut values: &[Text] = &program.values;
        let mut options_end = false;
        let all = args;
        let mut args = args.iter();
        while let Some(word) = args.next() {
            let text = word.prefix();
            if !options_end && (text == "--help" || !program.help.is_empty()) {
                let at = all.len() - args.as_slice().len() - 1;
                let help = read.help(program, word, &all[..at], args.as_slice());
                read.helps.extend(help);
            }
            let is_option = !options_end
                && program.style != Style::Raw
                && text.len() > 1
                && text.starts_with('-');
            if !is_option {
                if program.style == Style::Pairs
                    && let Some((name, _)) = text.split_once('=')
                {
                    let rest = word.without_prefix(name.len() + 1);
                    read.options
                        .push((Name::Whole(name), Some(Cow::Owned(rest))));
                    continue;
                }
                read.operands.push(word);
                if let Some(own) = read.sub_values(program) {
                    values = own;
                }
                continue;
            }
            if text == "--" && word.literal().is_some() {
                options_end = true;
                if !args.as_slice().is_empty() {
                    read.options.push((Name::Whole("--"), None));
                }
                continue;
            }
            if text.starts_with("--") || program.style == Style::Go {
                if let Some((name, _)) = text.split_once('=') {
                    let value = word.without_prefix(name.len() + 1);
                    read.options
                        .push((Name::Whole(name), Some(Cow::Owned(value))));
                } else {
                    let takes = takes_value(values, text);
                    let value = if takes { args.next() } else { None };
                    read.options
                        .push((Name::Whole(text), value.map(Cow::Borrowed)));
                }
                continue;
            }
            // `-name` as a whole, for programs that spell long options with one hyphen.
            if takes_value(values, text) {
                let value = args.next();
                read.options
                    .push((Name::Whole(text), value.map(Cow::Borrowed)));
                continue;
            }
            read.cluster(text, values, word, &mut args);
        }
        read
    }

    /// What `word` asks for, between the words `before` and `behind` it.
    fn help(
        &self,
        program: &Program,
        word: &Word,
        before: &'a [Word],
        behind: &[Word],
    ) -> Option<Help<'a>> {
        let text = word.literal()?;
        let listed = program.help.iter().any(|help| help == text);
        if !text.starts_with('-') {
            // `PROGRAM help …` shows help, and so does `PROGRAM SUBCOMMAND help` where that is listed.
            let first = text == "help" && before.is_empty() && !program.help.is_empty();
            let alone = listed
                && behind.is_empty()
                && (1..HELP_BEHIND_MAX).contains(&self.operands.len())
                && before.last().is_some_and(|word| {
                    let last = self.operands.last();
                    last.is_some_and(|last| std::ptr::eq(*last, word))
                });
            return (first || alone).then_some(Help {
                behind: None,
                after: None,
            });
        }
        let after = before.last().and_then(|word| match word.literal() {
            Some(text) if !text.starts_with('-') || text.contains('=') => None,
            _ => Some(word.prefix()),
        });
        (listed || text == "--help").then_some(Help {
            behind: (!program.help_anywhere).then_some(self.operands.len()),
            after,
        })
    }

    /// The options with values of the subcommand that the operands so far name, of one word or two.
    fn sub_values<'p>(&self, program: &'p Program) -> Option<&'p [Text]> {
        let named = match self.operands.as_slice() {
            [sub] => (sub.literal()?, None),
            [outer, inner] => (outer.literal()?, Some(inner.literal()?)),
            _ => return None,
        };
        program
            .subs
            .iter()
            .find(|(name, _)| match name.split_once(' ') {
                Some((outer, inner)) => named == (outer, Some(inner)),
                None => named == (name, None),
            })
            .map(|(_, own)| own.as_ref())
    }

    /// The values that are given for the option that `flag` names.
    pub(crate) fn values<'s>(&'s self, flag: &'s str) -> impl Iterator<Item = &'s Word> {
        self.options
            .iter()
            .filter(move |(given, _)| given.is(flag))
            .filter_map(|(_, value)| value.as_deref())
    }

    /// `-xyz` is `-x -y -z`, up to the first that takes a value.
    fn cluster(
        &mut self,
        text: &'a str,
        values: &[Text],
        word: &'a Word,
        args: &mut std::slice::Iter<'a, Word>,
    ) {
        for (at, letter) in text.char_indices().skip(1) {
            let name = Name::Short(letter);
            if values.iter().any(|value| name.is(value)) {
                let end = at + letter.len_utf8();
                let value = if end < text.len() || word.literal().is_none() {
                    Some(Cow::Owned(word.without_prefix(end)))
                } else {
                    args.next().map(Cow::Borrowed)
                };
                self.options.push((name, value));
                return;
            }
            self.options.push((name, None));
        }
        // The whole too, so that a rule can name `-delete`.
        if text.len() > 2 {
            self.options.push((Name::Whole(text), None));
        }
    }

    /// The option that `flag` names, if it is given and not switched off.
    ///
    /// `--name=value` names a value; otherwise `off` says whether an unknown value counts.
    pub(crate) fn option(
        &self,
        flag: &str,
        unknown_counts: bool,
    ) -> Option<&(Name<'a>, Option<Cow<'a, Word>>)> {
        let (name, wanted) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        self.options.iter().find(|(given, value)| {
            if !given.is(name) {
                return false;
            }
            // A pair such as `of=…` is there whatever it says.
            if wanted.is_none() && !name.starts_with('-') {
                return true;
            }
            match (value.as_ref().map(|value| value.literal()), wanted) {
                (None, wanted) => wanted.is_none(),
                (Some(None), _) => unknown_counts,
                (Some(Some(text)), Some(wanted)) => text == wanted,
                (Some(Some(text)), None) => !matches!(text, "false" | "none" | "no" | "0"),
            }
        })
    }
}
