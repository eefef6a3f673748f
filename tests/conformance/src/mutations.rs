//! The proof that scenarios can turn red: every legal change of a profile is seen by one of them, or is
//! listed with the reason why none can.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::Context as _;
use serde::Deserialize;
use triplane_kernel::profile::ProfileName;

use crate::alteration::Alteration;
use crate::neighbours;
use crate::suite::{Case, Tree};

/// A folder of scenarios, and a profile that its name selects: a bus that the loader builds has both
/// profiles of a hook bus.
fn subjects() -> impl Iterator<Item = (&'static str, ProfileName)> {
    let own = ProfileName::ALL.iter().map(|name| (name.as_str(), *name));
    own.chain([
        ("loader", ProfileName::HookbusBlocking),
        ("loader", ProfileName::HookbusObservational),
    ])
}

/// One change, and what came of it.
#[derive(Debug)]
pub(crate) struct Mutation {
    /// The folder of scenarios.
    pub(crate) profile: &'static str,
    /// The profile that was changed, and how.
    pub(crate) change: Arc<Alteration>,
    /// The first scenario that turned red.
    pub(crate) seen_by: Option<String>,
}

impl Mutation {
    /// The change as `unobservable.toml` writes it.
    pub(crate) fn written(&self) -> String {
        if self.profile == self.change.of.as_str() {
            return self.change.to_string();
        }
        format!("{}: {}", self.change.of.as_str(), self.change)
    }
}

/// Changes the profiles whose name holds `filter`, one change at a time.
///
/// # Errors
///
/// When the tree cannot be read, or a scenario is red without a change.
pub(crate) fn run(tree: &Tree, filter: &str) -> anyhow::Result<Vec<Mutation>> {
    let mut found = Vec::new();
    for (profile, of) in subjects().filter(|(profile, _)| profile.contains(filter)) {
        let cases = tree.cases(profile)?;
        for case in &cases {
            anyhow::ensure!(case.passes(), "{} is red without a change", case.id());
        }
        let changes: Vec<_> = neighbours::of(of).into_iter().map(Arc::new).collect();
        found.extend(seen(&cases, profile, &changes));
    }
    Ok(found)
}

/// Which scenario sees each change; the changes are shared between threads.
fn seen(cases: &[Case], profile: &'static str, changes: &[Arc<Alteration>]) -> Vec<Mutation> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(change) = changes.get(index) else {
                        return;
                    };
                    let mut cases = cases.iter();
                    let red = cases.find(|case| case.notices(change));
                    let mutation = Mutation {
                        profile,
                        change: Arc::clone(change),
                        seen_by: red.map(|case| case.id().to_owned()),
                    };
                    let mut found = found.lock().expect("no panic holds the lock");
                    found.push((index, mutation));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no panic holds the lock");
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, mutation)| mutation).collect()
}

/// What no scenario can see, as `unobservable.toml` lists it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unobservable {
    #[serde(default, rename = "unobservable")]
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    profile: String,
    changes: Vec<String>,
    reason: String,
}

impl Unobservable {
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file);
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not as it should be", file.display()))
    }

    /// Why no scenario can see this change, if it is listed.
    pub(crate) fn reason(&self, mutation: &Mutation) -> Option<&str> {
        let written = mutation.written();
        let lists =
            |entry: &&Entry| entry.profile == mutation.profile && entry.changes.contains(&written);
        self.entries
            .iter()
            .find(lists)
            .map(|entry| entry.reason.as_str())
    }

    /// What is wrong: changes that nobody sees and nobody lists, and entries that are not so. Entries of
    /// profiles that were not run are left alone.
    pub(crate) fn judge(&self, mutations: &[Mutation]) -> Vec<String> {
        let mut wrong = Vec::new();
        for mutation in mutations {
            if mutation.seen_by.is_none() && self.reason(mutation).is_none() {
                wrong.push(format!(
                    "`{}`: no scenario sees `{}`, and it is not listed",
                    mutation.profile,
                    mutation.written()
                ));
            }
        }
        let mut listed = Vec::new();
        for entry in &self.entries {
            let profile = entry.profile.as_str();
            if !subjects().any(|(known, _)| known == profile) {
                wrong.push(format!("`{profile}`: listed, and no profile"));
            }
            if entry.reason.trim().is_empty() {
                wrong.push(format!("`{profile}`: an entry has no reason"));
            }
            let ran: Vec<_> = mutations
                .iter()
                .filter(|mutation| mutation.profile == profile)
                .collect();
            for change in &entry.changes {
                if listed.contains(&(profile, change)) {
                    wrong.push(format!("`{profile}`: `{change}` is listed twice"));
                }
                listed.push((profile, change));
                match ran.iter().find(|mutation| mutation.written() == *change) {
                    Some(Mutation {
                        seen_by: Some(seen_by),
                        ..
                    }) => wrong.push(format!(
                        "`{profile}`: `{change}` is listed, and {seen_by} sees it"
                    )),
                    None if !ran.is_empty() => {
                        wrong.push(format!(
                            "`{profile}`: `{change}` is listed, and no legal change"
                        ));
                    }
                    Some(_) | None => {}
                }
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alteration::Assignment;

    fn mutation(word: &str, seen_by: Option<&str>) -> Mutation {
        Mutation {
            profile: "broadcaster",
            change: Arc::new(Alteration {
                of: ProfileName::Broadcaster,
                assignments: vec![Assignment {
                    field: "predicate_failure".to_owned(),
                    word: word.to_owned(),
                }],
            }),
            seen_by: seen_by.map(str::to_owned),
        }
    }

    fn check(listed: &str, wanted: &[&str]) {
        let listed: Unobservable = toml::from_str(listed).unwrap();
        let ran = [
            mutation("isolate", Some("broadcaster/x")),
            mutation("no_match", None),
        ];
        assert_eq!(listed.judge(&ran), wanted);
    }

    fn entry(profile: &str, change: &str, reason: &str) -> String {
        format!(
            "[[unobservable]]\nprofile = '{profile}'\nchanges = ['{change}']\nreason = '{reason}'\n"
        )
    }

    #[test]
    fn what_nobody_sees_must_be_listed_and_nothing_else() {
        let unseen =
            "`broadcaster`: no scenario sees `predicate_failure=no_match`, and it is not listed";
        let fine = entry("broadcaster", "predicate_failure=no_match", "why");
        check("", &[unseen]);
        check(&fine, &[]);
        let seen = entry("broadcaster", "predicate_failure=isolate", "why");
        check(
            &(fine.clone() + &seen),
            &["`broadcaster`: `predicate_failure=isolate` is listed, and broadcaster/x sees it"],
        );
        let unknown = entry("broadcaster", "predicate_failure=nope", "why");
        check(
            &(fine.clone() + &unknown),
            &["`broadcaster`: `predicate_failure=nope` is listed, and no legal change"],
        );
        let stranger = entry("nobody", "predicate_failure=nope", "why");
        check(
            &(fine.clone() + &stranger),
            &["`nobody`: listed, and no profile"],
        );
        check(
            &(fine.clone() + &fine),
            &["`broadcaster`: `predicate_failure=no_match` is listed twice"],
        );
        let unexplained = entry("broadcaster", "predicate_failure=no_match", " ");
        check(&unexplained, &["`broadcaster`: an entry has no reason"]);
    }
}
