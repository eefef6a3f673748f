//! Every labelled command gets its label.

use serde::Deserialize;
use triplane_guards::commands;
use triplane_interception::Verdict;

use crate::support::{bash, explained, refused_by, rows};

#[derive(Deserialize)]
struct Row {
    id: String,
    command: String,
    verdict: String,
    why: String,
}

#[test]
fn every_labelled_command_gets_its_verdict() {
    let rows: Vec<Row> = rows("commands.jsonl");
    assert!(rows.len() >= 296);
    let misses: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let rule = refused_by(&row.command);
            (rule.is_some() != (row.verdict == "deny")).then(|| {
                format!("{} {:?} is {}: {} ({rule:?})", row.id, row.command, row.verdict, row.why)
            })
        })
        .collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn every_denial_points_into_the_command() {
    for row in rows::<Row>("commands.jsonl") {
        for objection in explained(&row.command).objections {
            assert!(
                row.command.get(objection.span.clone()).is_some_and(|text| !text.is_empty()),
                "{} {:?}: {} at {:?}",
                row.id,
                row.command,
                objection.rule.id,
                objection.span
            );
        }
    }
}

#[test]
fn a_finding_names_the_rule_the_part_and_a_safer_way() {
    let Verdict::HardDeny(finding) = commands().judge_blocking(&bash("cd /tmp && sudo rm -rf /etc"))
    else {
        panic!("a catastrophic command is refused in every mode");
    };
    assert_eq!(finding.rule, "rm.recursive-system");
    let offence = finding.offence.unwrap();
    assert_eq!((offence.text.as_str(), offence.span), ("/etc", Some(23..27)));
    assert!(finding.safer.is_some());
}
