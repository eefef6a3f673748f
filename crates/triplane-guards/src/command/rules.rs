//! The rules: data that the build compiled, and how one of them is held against a command.
//!
//! A rule names programs, the subcommand, flags that must and must not be there, and where an
//! operand may not lead. Patterns are compiled when their rule is asked.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use crate::command::normalise::Simple;
use crate::command::scope::{Scopes, scopes};
use crate::command::word::Word;
use crate::place::Place;

/// How severe a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Follows the mode.
    Dangerous,
    /// Refused in every mode.
    Catastrophic,
}

/// How the arguments of a program are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Clustered short options, long options that may be shortened, options anywhere.
    Gnu,
    /// Long options behind one or two hyphens, never clustered.
    Go,
    /// `name=value` operands are options.
    Pairs,
    /// Every argument is an operand.
    Raw,
}

/// Which words a test of a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    Operands,
    First,
    Last,
    /// All operands but the first.
    Rest,
    /// All operands but the last.
    Sources,
    /// The value of this option.
    Option(&'static str),
}

/// What is known of a program: its options, and the rules about it.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) style: Style,
    pub(crate) values: &'static [&'static str],
    pub(crate) subs: &'static [(&'static str, &'static [&'static str])],
    pub(crate) rules: &'static [usize],
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// The stable id, for example `git.reset-hard`.
    pub id: &'static str,
    /// How severe it is.
    pub tier: Tier,
    /// Why the command is refused, a sentence.
    pub reason: &'static str,
    /// A safer way, a sentence.
    pub safer: &'static str,
    pub(crate) subs: &'static [&'static [&'static [&'static str]]],
    pub(crate) flags: &'static [&'static [&'static str]],
    pub(crate) unless: &'static [&'static str],
    pub(crate) on: On,
    pub(crate) scope: Scopes,
    pub(crate) text: Option<Pattern>,
    pub(crate) line: Option<Pattern>,
    pub(crate) operands_min: usize,
}

/// A pattern that is compiled when it is first asked.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    const fn new(source: &'static str) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }

    fn matches(&self, text: &str) -> bool {
        self.compiled
            .get_or_init(|| Regex::new(self.source).ok())
            .as_ref()
            .is_some_and(|regex| regex.is_match(text))
    }
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// A rule that matched, and the part of the command that it spoke about.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) rule: &'static Rule,
    pub(crate) span: Range<usize>,
}

/// All rules, in the order of their files.
pub fn rules() -> &'static [Rule] {
    &RULES
}

/// The severest rule against `simple`; of equals, the first.
pub(crate) fn hit(simple: &Simple, place: &Place) -> Option<Hit> {
    let program = find(&simple.program)?;
    if program.rules.is_empty() {
        return None;
    }
    let arguments = Arguments::read(program, &simple.args);
    let mut severest: Option<Hit> = None;
    for &index in program.rules {
        let rule = &RULES[index];
        if severest
            .as_ref()
            .is_some_and(|hit| hit.rule.tier >= rule.tier)
        {
            continue;
        }
        if let Some(span) = rule.against(&arguments, simple, place) {
            severest = Some(Hit { rule, span });
        }
    }
    severest
}

fn find(name: &str) -> Option<&'static Program> {
    let exact = PROGRAMS
        .binary_search_by(|program| program.name.cmp(name))
        .ok();
    // `mkfs.ext4` is the program `mkfs` for one file system.
    let index = exact.or_else(|| {
        let (stem, _) = name.split_once('.')?;
        matches!(stem, "mkfs" | "fsck").then(|| {
            PROGRAMS
                .binary_search_by(|program| program.name.cmp(stem))
                .ok()
        })?
    })?;
    PROGRAMS.get(index)
}

/// The name of an option as it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name<'a> {
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

/// Arguments told apart: options with their values, and operands.
#[derive(Debug, Default)]
struct Arguments<'a> {
    options: Vec<(Name<'a>, Option<Cow<'a, Word>>)>,
    operands: Vec<&'a Word>,
}

impl<'a> Arguments<'a> {
    fn read(program: &Program, args: &'a [Word]) -> Self {
        let mut read = Self::default();
        let mut values = program.values;
        let mut options_end = false;
        let mut args = args.iter();
        while let Some(word) = args.next() {
            let text = word.prefix();
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
                    let takes = values.contains(&text);
                    let value = if takes { args.next() } else { None };
                    read.options
                        .push((Name::Whole(text), value.map(Cow::Borrowed)));
                }
                continue;
            }
            // `-name` as a whole, for programs that spell long options with one hyphen.
            if values.contains(&text) {
                let value = args.next();
                read.options
                    .push((Name::Whole(text), value.map(Cow::Borrowed)));
                continue;
            }
            read.cluster(text, values, word, &mut args);
        }
        read
    }

    /// The options with values of the subcommand that the operands so far name, of one word or two.
    fn sub_values(&self, program: &Program) -> Option<&'static [&'static str]> {
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
            .map(|(_, own)| *own)
    }

    /// The values that are given for the option that `flag` names.
    fn values<'s>(&'s self, flag: &'s str) -> impl Iterator<Item = &'s Word> {
        self.options
            .iter()
            .filter(move |(given, _)| given.is(flag))
            .filter_map(|(_, value)| value.as_deref())
    }

    /// `-xyz` is `-x -y -z`, up to the first that takes a value.
    fn cluster(
        &mut self,
        text: &'a str,
        values: &[&str],
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
    fn option(
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

impl Rule {
    /// The span of the offending part, if the rule matches.
    fn against(
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
        // Asked for its help, a program does nothing else; one without subcommands only where the
        // question comes first, since some read what follows an operand as another operand.
        let helps = if self.subs.is_empty() {
            simple.args.first().and_then(Word::literal) == Some("--help")
        } else {
            arguments.option("--help", false).is_some()
        };
        if helps {
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
        let tested: &[&Word] = match self.on {
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
            On::Option(name) => {
                values = arguments.values(name).collect();
                &values
            }
        };
        tested
            .iter()
            .find(|word| self.matches_word(word, simple, place))
            .map(|word| {
                if word.span.is_empty() {
                    simple.span.clone()
                } else {
                    word.span.clone()
                }
            })
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
                                .any(|name| *name == "*" || text.eq_ignore_ascii_case(name))
                        })
                    })
            })
            .map(|sub| sub.len())
    }

    fn matches_word(&self, word: &Word, simple: &Simple, place: &Place) -> bool {
        if let Some(pattern) = &self.text {
            let matched = word.literal().is_some_and(|text| pattern.matches(text));
            if !matched {
                return false;
            }
        }
        if self.scope == Scopes::NONE {
            return true;
        }
        simple
            .cwd
            .iter()
            .any(|cwd| scopes(word, cwd.as_deref(), &simple.seen_from(place)).meets(self.scope))
    }
}
