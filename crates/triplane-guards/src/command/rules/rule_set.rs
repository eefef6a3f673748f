//! What one guard knows: a shipped set of rules, the files added to it, and their entries.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

use crate::command::normalise::Simple;
use crate::command::rules::arguments::Arguments;
use crate::command::rules::declared::{Set, Style, Tier};
use crate::command::rules::entry::{Entry, LetThrough};
use crate::command::rules::refused::RuleFileRefused;
use crate::command::rules::rule::{Program, Rule, RuleRef};
use crate::command::rules::rule_file::{DeclaredProgram, RuleFile};
use crate::command::rules::shipped;
use crate::place::Place;

/// The most added rules of one program that are soon asked.
const SOON_ASKED_MAX: usize = 16;

/// The rules and entries that a command is held against.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    set: Set,
    files: Vec<RuleFile>,
    /// The rules of the files, by the names of their programs.
    rules: HashMap<String, Vec<Arc<Rule>>>,
    /// What the files say of programs that triplane knows nothing of.
    programs: HashMap<String, Arc<Program>>,
    entries: Vec<Entry>,
}

/// What is asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The whole command.
    pub(crate) command: &'a str,
    pub(crate) place: &'a Place,
    pub(crate) rules: &'a RuleSet,
    pub(crate) now: Timestamp,
}

/// A rule that matched, and the part of the command that it spoke about.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) rule: RuleRef,
    pub(crate) span: Range<usize>,
    /// An entry that would have silenced it, had it not expired.
    pub(crate) expired: Option<Entry>,
}

/// What is known of a program of which nothing is declared.
static UNDECLARED: Program = Program {
    name: Cow::Borrowed(""),
    style: Style::Gnu,
    values: Cow::Borrowed(&[]),
    subs: Cow::Borrowed(&[]),
    help: Cow::Borrowed(&[]),
    help_anywhere: false,
    rules: Cow::Borrowed(&[]),
};

impl RuleSet {
    /// A shipped set alone.
    pub fn shipped(set: Set) -> Self {
        Self {
            set,
            ..Self::default()
        }
    }

    /// This with another shipped set in place of its own.
    #[must_use]
    pub fn with_set(mut self, set: Set) -> Self {
        self.set = set;
        self
    }

    /// Adds the rules and entries of `file`. Its entries may name rules that triplane ships, its
    /// own, and those of files added before.
    ///
    /// # Errors
    ///
    /// Returns [`RuleFileRefused::Wrong`] when an id is taken by a rule or entry of this set, when
    /// the file says how arguments of a program are read that something here says already, and when
    /// an entry names no rule or a catastrophic one.
    pub fn add(&mut self, file: &RuleFile) -> Result<(), RuleFileRefused> {
        self.check_ids(file)?;
        let mut next = self.clone();
        next.add_programs(file)?;
        for declared in &file.content.rules {
            for program in &declared.programs {
                let rules = next.rules.entry(program.clone()).or_default();
                rules.push(Arc::clone(&declared.rule));
            }
        }
        next.files.push(file.clone());
        for declared in &file.content.entries {
            let entry = &declared.entry;
            let Some(tier) = next.tier(&entry.rule) else {
                let message = format!("no rule has the id `{}`", entry.rule);
                return Err(file.refuse(declared.rule.clone(), message));
            };
            if tier == Tier::Catastrophic {
                let message = format!(
                    "`{}` is catastrophic: it is refused in every mode, and no entry lets it through",
                    entry.rule
                );
                return Err(file.refuse(declared.rule.clone(), message));
            }
            next.entries.push(entry.clone());
        }
        *self = next;
        Ok(())
    }

    /// The files that were added, in that order.
    pub fn files(&self) -> &[RuleFile] {
        &self.files
    }

    /// The entries of all files, in their order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The severest rule against `simple` that no entry silences; of equals, the first.
    pub(crate) fn severest(
        &self,
        simple: &Simple,
        asked: &Asked<'_>,
        let_through: &mut Vec<LetThrough>,
    ) -> Option<Hit> {
        let mut severest: Option<Hit> = None;
        self.each(simple, asked.place, |rule, against| {
            if severest
                .as_ref()
                .is_some_and(|hit| hit.rule.tier >= rule.tier)
            {
                return;
            }
            if let Some(hit) = self.hear(rule, against, simple, asked, let_through) {
                severest = Some(hit);
            }
        });
        severest
    }

    /// Every rule against `simple` that no entry silences, in their order.
    pub(crate) fn all(
        &self,
        simple: &Simple,
        asked: &Asked<'_>,
        let_through: &mut Vec<LetThrough>,
    ) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.each(simple, asked.place, |rule, against| {
            hits.extend(self.hear(rule, against, simple, asked, let_through));
        });
        hits
    }

    /// What `rule` has against `simple`, unless an entry in force silences it.
    fn hear(
        &self,
        rule: RuleRef,
        against: &mut dyn FnMut() -> Option<Range<usize>>,
        simple: &Simple,
        asked: &Asked<'_>,
        let_through: &mut Vec<LetThrough>,
    ) -> Option<Hit> {
        let span = against()?;
        let expired = match self.entry(&rule, simple, asked) {
            Some(entry) if !entry.is_expired(asked.now) => {
                let entry = entry.clone();
                let_through.push(LetThrough { rule, entry });
                return None;
            }
            other => other.cloned(),
        };
        Some(Hit {
            rule,
            span,
            expired,
        })
    }

    /// Whether the rule `id` speaks against `simple`, whatever others say.
    pub(crate) fn speaks(&self, id: &str, simple: &Simple, place: &Place) -> bool {
        let mut spoke = false;
        self.each(simple, place, |rule, against| {
            spoke = spoke || rule.id == id && against().is_some();
        });
        spoke
    }

    /// Whether asking the added rules about `simple` is soon done, whoever wrote them: they are few, and
    /// none has an expression, which may be large.
    pub(crate) fn is_soon_asked(&self, simple: &Simple) -> bool {
        self.rules.get(&simple.program).is_none_or(|added| {
            let plain = |rule: &Arc<Rule>| rule.text.is_none() && rule.line.is_none();
            added.len() <= SOON_ASKED_MAX && added.iter().all(plain)
        })
    }

    /// Asks `about` each rule that knows the program of `simple`, with a way to ask the rule.
    fn each(
        &self,
        simple: &Simple,
        place: &Place,
        mut about: impl FnMut(RuleRef, &mut dyn FnMut() -> Option<Range<usize>>),
    ) {
        let known = shipped::program(&simple.program);
        let added = self.rules.get(simple.program.as_str());
        if known.is_none_or(|program| program.rules.is_empty()) && added.is_none() {
            return;
        }
        let declared = self.programs.get(simple.program.as_str());
        let program = known.or(declared.map(AsRef::as_ref)).unwrap_or(&UNDECLARED);
        let arguments = Arguments::read(program, &simple.args);
        let shipped = program
            .rules
            .iter()
            .map(|&index| &shipped::rules()[index])
            .filter(|rule| rule.set <= self.set)
            .map(RuleRef::Shipped);
        let added = added
            .into_iter()
            .flatten()
            .filter(|rule| rule.set <= self.set)
            .map(|rule| RuleRef::Loaded(Arc::clone(rule)));
        for rule in shipped.chain(added) {
            let asked = rule.clone();
            about(rule, &mut || asked.against(&arguments, simple, place));
        }
    }

    /// The entry that silences `rule` here; of several, one that is in force.
    fn entry(&self, rule: &Rule, simple: &Simple, asked: &Asked<'_>) -> Option<&Entry> {
        if rule.tier == Tier::Catastrophic {
            return None;
        }
        self.entries
            .iter()
            .filter(|entry| {
                entry.rule == rule.id && entry.speaks_of(simple, asked.command, asked.place)
            })
            .min_by_key(|entry| entry.is_expired(asked.now))
    }

    fn tier(&self, id: &str) -> Option<Tier> {
        let own = shipped::rule(id).map(|rule| rule.tier);
        own.or_else(|| {
            let mut declared = self.files.iter().flat_map(|file| &file.content.rules);
            declared
                .find(|declared| declared.rule.id == id)
                .map(|declared| declared.rule.tier)
        })
    }

    fn check_ids(&self, file: &RuleFile) -> Result<(), RuleFileRefused> {
        let shipped: HashMap<&str, &Rule> = shipped::rules()
            .iter()
            .map(|rule| (rule.id.as_ref(), rule))
            .collect();
        for (id, span) in ids(file) {
            if let Some(rule) = shipped.get(id) {
                let catastrophic = if rule.tier == Tier::Catastrophic {
                    ", which is catastrophic and cannot be replaced"
                } else {
                    ""
                };
                let message =
                    format!("the id `{id}` is that of a rule that triplane ships{catastrophic}");
                return Err(file.refuse(span.clone(), message));
            }
            for earlier in &self.files {
                if let Some((_, taken)) = self::ids(earlier).find(|(taken, _)| *taken == id) {
                    let message = format!("the id `{id}` is taken at {}", earlier.place(taken));
                    return Err(file.refuse(span.clone(), message));
                }
            }
        }
        Ok(())
    }

    fn add_programs(&mut self, file: &RuleFile) -> Result<(), RuleFileRefused> {
        let earlier = self.programs.clone();
        let mut added: HashMap<&str, Program> = HashMap::new();
        let mut said = HashSet::new();
        for declared in &file.content.programs {
            for name in &declared.names {
                if !said.insert((name, &declared.sub)) {
                    let message = format!("how `{name}` reads its arguments is said twice");
                    return Err(file.refuse(declared.span.clone(), message));
                }
                // Who says how options are read can hide one from a rule.
                if shipped::program(name).is_some() {
                    let message = format!(
                        "how `{name}` reads its arguments is known to triplane and not changed"
                    );
                    return Err(file.refuse(declared.span.clone(), message));
                }
                if earlier.contains_key(name) {
                    let message =
                        format!("how `{name}` reads its arguments is said by an earlier file");
                    return Err(file.refuse(declared.span.clone(), message));
                }
                let program = added
                    .entry(name)
                    .or_insert_with(|| DeclaredProgram::nothing(name.clone()));
                if declared.sub.is_empty() {
                    program.style = declared.style;
                    program.values = declared.values.clone().into();
                    program.help = declared.help.clone().into();
                    program.help_anywhere = declared.help_anywhere;
                } else {
                    let sub = (declared.sub.clone().into(), declared.values.clone().into());
                    program.subs.to_mut().push(sub);
                }
            }
        }
        let added = added
            .into_iter()
            .map(|(name, program)| (name.to_owned(), Arc::new(program)));
        self.programs.extend(added);
        Ok(())
    }
}

fn ids(file: &RuleFile) -> impl Iterator<Item = (&str, &Range<usize>)> {
    let rules = file
        .content
        .rules
        .iter()
        .map(|declared| (declared.rule.id.as_ref(), &declared.span));
    let entries = file
        .content
        .entries
        .iter()
        .map(|declared| (declared.entry.id.as_str(), &declared.span));
    rules.chain(entries)
}
