//! The policy: whether it and the rule files that it names can be read, and which entries end.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use triplane_guards::{CommandGuard, RuleFile};

use crate::cmd::doctor::finding::Finding;
use crate::guard_option::{Declared, declared};
use crate::render::chain;

const POLICY: &str = "policy";
const RULES: &str = "rules";

/// How long before its end an entry is told of.
const SOON: SignedDuration = SignedDuration::from_hours(14 * 24);

/// What a policy asks of the command guard.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PolicyReport {
    path: PathBuf,
    set: &'static str,
    files: Vec<FileReport>,
}

/// One rule file, in the order in which files are added.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct FileReport {
    path: PathBuf,
    rules: usize,
    entries: usize,
    /// Those that have ended or end soon.
    ending: Vec<EndingEntry>,
    /// Why it is refused.
    error: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct EndingEntry {
    place: String,
    id: String,
    rule: String,
    command: String,
    reason: String,
    ended: bool,
    expires: String,
}

pub(crate) fn look(
    policy: Option<&Path>,
    now: Timestamp,
    findings: &mut Vec<Finding>,
) -> Option<PolicyReport> {
    let path = policy?;
    let Declared {
        mut commands,
        set,
        rules,
        ..
    } = match declared(Some(path)) {
        Ok(declared) => declared,
        Err(error) => {
            findings.push(Finding::wrong(POLICY, chain(&error), mend(path)));
            return None;
        }
    };
    let set = set.as_str();
    let named = match rules.files.len() {
        0 => "no rule file".to_owned(),
        1 => "one rule file".to_owned(),
        many => format!("{many} rule files"),
    };
    findings.push(Finding::good(
        POLICY,
        format!("{} uses the set `{set}` and names {named}", path.display()),
    ));
    let mut files = Vec::new();
    for path in &rules.files {
        let report = match rules.add(commands.clone(), path) {
            Ok(added) => {
                commands = added;
                read(&commands, now)
            }
            Err(error) => FileReport {
                path: path.clone(),
                rules: 0,
                entries: 0,
                ending: Vec::new(),
                error: Some(chain(&error)),
            },
        };
        report.tell(findings);
        files.push(report);
    }
    Some(PolicyReport {
        path: path.to_owned(),
        set,
        files,
    })
}

fn mend(file: &Path) -> String {
    format!(
        "mend {}: a hook with this policy denies every question until then",
        file.display()
    )
}

/// The file that was added last.
fn read(commands: &CommandGuard, now: Timestamp) -> FileReport {
    let file = commands.rule_set().files().last();
    let file = file.expect("the file was added");
    let entries = file.listed_entries().count();
    FileReport {
        path: file.path().to_owned(),
        rules: file.rules(),
        entries,
        ending: ending(file, now),
        error: None,
    }
}

fn ending(file: &RuleFile, now: Timestamp) -> Vec<EndingEntry> {
    let soon = now.saturating_add(SOON).unwrap_or(Timestamp::MAX);
    let ends = file.listed_entries().filter_map(|listed| {
        let entry = listed.entry;
        let expires = entry.expires.filter(|end| *end <= soon)?;
        Some(EndingEntry {
            place: listed.place,
            id: entry.id.clone(),
            rule: entry.rule.clone(),
            command: entry.command.clone(),
            reason: entry.reason.clone(),
            ended: entry.is_expired(now),
            expires: expires.to_string(),
        })
    });
    ends.collect()
}

impl FileReport {
    fn tell(&self, findings: &mut Vec<Finding>) {
        if let Some(error) = &self.error {
            findings.push(Finding::wrong(RULES, error, mend(&self.path)));
            return;
        }
        let count = |number: usize, one: &str, more: &str| match number {
            1 => format!("1 {one}"),
            number => format!("{number} {more}"),
        };
        findings.push(Finding::good(
            RULES,
            format!(
                "{}: {}, {}",
                self.path.display(),
                count(self.rules, "rule", "rules"),
                count(self.entries, "entry", "entries")
            ),
        ));
        for entry in &self.ending {
            let EndingEntry {
                place,
                id,
                command,
                reason,
                expires,
                ..
            } = entry;
            let (says, way_out) = if entry.ended {
                let says = format!("{place}: the entry `{id}` has ended at {expires}");
                (says, "take it out, or give it another end")
            } else {
                let says = format!("{place}: the entry `{id}` ends at {expires}");
                (says, "give it another end if it is still needed")
            };
            findings.push(Finding::note(
                RULES,
                format!("{says}; it is about `{command}`: {reason}"),
                way_out,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::doctor::finding::Grade;

    const RULE: &str = "[[rule]]\nid = \"team.a\"\ntier = \"dangerous\"\nprograms = [\"a\"]\n\
                        reason = \"r\"\nsafer = \"s\"\ndeny = [\"a x\"]\n";

    fn entry(id: &str, expires: &str) -> String {
        format!(
            "[[allow]]\nid = \"{id}\"\nrule = \"team.a\"\ncommand = \"a {id}\"\nreason = \"why {id}\"\n{expires}\n"
        )
    }

    #[test]
    fn entries_that_have_ended_or_end_within_two_weeks_are_told_with_their_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        let entries = [
            entry("never", ""),
            entry("ended", "expires = 2026-12-01"),
            entry("soon", "expires = 2026-12-15T23:59:59Z"),
            entry("later", "expires = 2026-12-16T00:00:01Z"),
        ];
        let team = write(
            "team.toml",
            format!("version = 1\n{RULE}{}", entries.concat()),
        );
        let broken = write("broken.toml", "version = 1\n[[rules]]\n".to_owned());
        let text = "version = 1\nset = \"strict\"\nrules = [\"broken.toml\", \"team.toml\"]\n";
        let policy = write("policy.toml", text.to_owned());
        let now: Timestamp = "2026-12-02T00:00:00Z".parse().expect("a time");
        let mut findings = Vec::new();
        let report = look(Some(&policy), now, &mut findings).expect("a report");
        let grades: Vec<_> = findings.iter().map(|it| (it.topic, it.grade)).collect();
        assert_eq!(
            grades,
            [
                (POLICY, Grade::Good),
                (RULES, Grade::Wrong),
                (RULES, Grade::Good),
                (RULES, Grade::Note),
                (RULES, Grade::Note),
            ]
        );
        let says = |at: usize| findings[at].says.as_str();
        assert!(says(0).ends_with("uses the set `strict` and names 2 rule files"));
        let place = format!("{}:2:3: ", broken.display());
        assert!(says(1).contains(&place), "{}", says(1));
        assert_eq!(says(2), format!("{}: 1 rule, 4 entries", team.display()));
        let wanted =
            "the entry `ended` has ended at 2026-12-02T00:00:00Z; it is about `a ended`: why ended";
        assert!(says(3).ends_with(wanted), "{}", says(3));
        let wanted =
            "the entry `soon` ends at 2026-12-15T23:59:59Z; it is about `a soon`: why soon";
        assert!(says(4).ends_with(wanted), "{}", says(4));
        assert_eq!(report.set, "strict");
        assert_eq!(report.files[1].ending.len(), 2);
        assert!(report.files[0].error.is_some());
    }
}
