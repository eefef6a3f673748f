//! The rules that ship with triplane: static tables that the build has made of `rules/*.toml`.

use std::borrow::Cow;

use crate::command::rules::declared::{On, Set, Style, Tier};
use crate::command::rules::rule::{Pattern, Program, Rule};
use crate::command::scope::Scopes;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// All rules that ship, of both sets, in the order of their files.
pub fn rules() -> &'static [Rule] {
    &RULES
}

/// What is known of the program `name`.
pub(crate) fn program(name: &str) -> Option<&'static Program> {
    let index = position(name).or_else(|| {
        // `mkfs.ext4` is the program `mkfs` for one file system.
        let (stem, _) = name.split_once('.')?;
        matches!(stem, "mkfs" | "fsck").then(|| position(stem))?
    })?;
    PROGRAMS.get(index)
}

fn position(name: &str) -> Option<usize> {
    PROGRAMS
        .binary_search_by(|program| program.name.as_ref().cmp(name))
        .ok()
}

/// The rule with this id.
pub(crate) fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
