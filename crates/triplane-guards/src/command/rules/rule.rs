//! One rule, and what is known of a program: data that the build compiled, or a file of a user.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};

use crate::command::rules::declared::{self, On, ScopeName, Set, Style, Tier};
use crate::command::scope::Scopes;

/// A text that the program came with or that a file brought.
pub(crate) type Text = Cow<'static, str>;
/// A list that the program came with or that a file brought.
pub(crate) type List<T> = Cow<'static, [T]>;

/// The largest program that one pattern of a file may compile to, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// What is known of a program: its options, and the rules about it by their numbers.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: Text,
    pub(crate) style: Style,
    pub(crate) values: List<Text>,
    pub(crate) subs: List<(Text, List<Text>)>,
    pub(crate) help: List<Text>,
    pub(crate) help_anywhere: bool,
    pub(crate) rules: List<usize>,
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// The stable id, for example `git.reset-hard`.
    pub id: Cow<'static, str>,
    /// How severe it is.
    pub tier: Tier,
    /// The least set that it belongs to.
    pub set: Set,
    /// Why the command is refused, a sentence.
    pub reason: Cow<'static, str>,
    /// A safer way, a sentence.
    pub safer: Cow<'static, str>,
    pub(crate) subs: List<List<List<Text>>>,
    pub(crate) flags: List<List<Text>>,
    pub(crate) unless: List<Text>,
    pub(crate) on: On,
    pub(crate) scope: Scopes,
    pub(crate) text: Option<Pattern>,
    pub(crate) line: Option<Pattern>,
    pub(crate) operands_min: usize,
}

/// A rule of the program itself, or of a file that was loaded.
#[derive(Debug, Clone)]
pub enum RuleRef {
    /// Shipped with triplane.
    Shipped(&'static Rule),
    /// Of a user's file.
    Loaded(Arc<Rule>),
}

impl Deref for RuleRef {
    type Target = Rule;

    fn deref(&self) -> &Rule {
        match self {
            Self::Shipped(rule) => rule,
            Self::Loaded(rule) => rule,
        }
    }
}

/// A pattern that is compiled when it is first asked.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Text,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(crate) const fn new(source: Text) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }

    /// Whether the pattern is found in `text`. One that is too large to compile is found in all:
    /// what it would have refused is not known.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.compiled().is_none_or(|regex| regex.is_match(text))
    }

    /// Whether it is too large to compile.
    pub(crate) fn is_too_large(&self) -> bool {
        self.compiled().is_none()
    }

    fn compiled(&self) -> Option<&Regex> {
        let compile = || {
            RegexBuilder::new(&self.source)
                .size_limit(PATTERN_BYTES_MAX)
                .build()
                .ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

impl Rule {
    /// The first of its patterns that is too large, which is found in every text.
    pub(crate) fn too_large(&self) -> Option<&str> {
        let patterns = [&self.text, &self.line].into_iter().flatten();
        let mut large = patterns.filter(|pattern| pattern.is_too_large());
        large.next().map(|pattern| pattern.source.as_ref())
    }

    /// The rule that a file declares.
    pub(crate) fn of(declared: declared::Rule) -> Self {
        let pattern = |given: toml::Spanned<String>| Pattern::new(given.into_inner().into());
        Self {
            id: declared.id.into_inner().into(),
            tier: declared.tier,
            set: declared.set,
            reason: declared.reason.into_inner().into(),
            safer: declared.safer.into_inner().into(),
            subs: declared.sub.iter().map(|sub| words(sub)).collect(),
            flags: declared.flags.into_iter().map(texts).collect(),
            unless: texts(declared.unless),
            on: declared.on,
            scope: Scopes(ScopeName::bits(&declared.scope)),
            text: declared.text.map(pattern),
            line: declared.line.map(pattern),
            operands_min: declared.operands_min,
        }
    }
}

/// The words of a subcommand, each with its alternatives.
fn words(sub: &str) -> List<List<Text>> {
    sub.split_whitespace()
        .map(|word| word.split('|').map(|name| name.to_owned().into()).collect())
        .collect()
}

pub(crate) fn texts(texts: Vec<String>) -> List<Text> {
    texts.into_iter().map(Text::from).collect()
}
