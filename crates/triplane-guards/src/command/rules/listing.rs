//! What a rule file declares, for whoever looks through it.

use crate::command::rules::entry::Entry;
use crate::command::rules::rule::Rule;
use crate::command::rules::rule_file::{Case, RuleFile};

/// A rule of a file, with what stands beside it.
#[derive(Debug, Clone)]
pub struct ListedRule<'a> {
    /// `file:line:column` of its id.
    pub place: String,
    /// The rule.
    pub rule: &'a Rule,
    /// The programs that it speaks of.
    pub programs: &'a [String],
    /// The commands that it must speak against.
    pub deny: Vec<&'a str>,
    /// The commands that it must not speak against.
    pub allow: Vec<&'a str>,
}

/// An entry of a file.
#[derive(Debug, Clone)]
pub struct ListedEntry<'a> {
    /// `file:line:column` of its id.
    pub place: String,
    /// The entry.
    pub entry: &'a Entry,
}

impl RuleFile {
    /// The rules that the file declares, in their order.
    pub fn listed_rules(&self) -> impl Iterator<Item = ListedRule<'_>> {
        self.content.rules.iter().map(|declared| ListedRule {
            place: self.place(&declared.span),
            rule: &declared.rule,
            programs: &declared.programs,
            deny: commands(&declared.deny),
            allow: commands(&declared.allow),
        })
    }

    /// The entries that the file declares, in their order.
    pub fn listed_entries(&self) -> impl Iterator<Item = ListedEntry<'_>> {
        self.content.entries.iter().map(|declared| ListedEntry {
            place: self.place(&declared.span),
            entry: &declared.entry,
        })
    }
}

fn commands(cases: &[Case]) -> Vec<&str> {
    cases.iter().map(|case| case.command.as_str()).collect()
}
