//! A rule file is what it holds: one that has changed is read anew, by whoever loads it next.

use std::fs;

use tempfile::TempDir;
use triplane_guards::commands;
use triplane_interception::Verdict;

use crate::support::bash;

/// A file of 100 rules, of which the last is about `program`.
fn hundred(program: &str) -> String {
    let rule = |nth: usize| {
        let program = if nth == 99 {
            program.to_owned()
        } else {
            format!("tool-{nth}")
        };
        format!(
            "[[rule]]\nid = \"team.rule-{nth}\"\ntier = \"dangerous\"\nprograms = [\"{program}\"]\n\
             text = \"^prod-{nth}$\"\nreason = \"no\"\nsafer = \"yes\"\ndeny = [\"{program} prod-{nth}\"]\n"
        )
    };
    let rules: String = (0..100).map(rule).collect();
    format!("version = 1\n{rules}")
}

#[test]
fn a_file_that_has_changed_is_read_anew_and_a_guard_keeps_what_it_has_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("team.toml");
    fs::write(&path, hundred("deploy")).unwrap();
    let times = fs::metadata(&path).unwrap().modified().unwrap();
    let before = commands().rules(&path).unwrap();
    // As long as before, and as old as before: neither says what a file holds.
    fs::write(&path, hundred("launch")).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(times).unwrap();
    let after = commands().rules(&path).unwrap();
    for (guard, refused, allowed) in [
        (&before, "deploy prod-99", "launch prod-99"),
        (&after, "launch prod-99", "deploy prod-99"),
    ] {
        let verdict = guard.judge_blocking(&bash(refused));
        assert!(
            matches!(&verdict, Verdict::SoftDeny(finding) if finding.rule == "team.rule-99"),
            "{refused}: {verdict:?}"
        );
        assert_eq!(guard.judge_blocking(&bash(allowed)), Verdict::Allow);
        assert_eq!(guard.judge_blocking(&bash("tool-7 prod-8")), Verdict::Allow);
    }
}
