//! The cases beside each rule are its tests.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use triplane_guards::command::explain::Explanation;
use triplane_guards::{Set, commands};

use crate::support::place;

/// What the set that a rule belongs to finds in `command`.
fn explained(set: Set, command: &str) -> Explanation {
    commands().set(set).explain(command, &place()).unwrap()
}

fn refused_by(set: Set, command: &str) -> Option<String> {
    let explanation = explained(set, command);
    match explanation.refusal {
        Some(refusal) => Some(refusal.to_string()),
        None => explanation
            .severest()
            .map(|objection| objection.rule.id.to_string()),
    }
}

#[derive(Deserialize)]
struct File {
    rule: Vec<Rule>,
}

#[derive(Clone, Deserialize)]
struct Rule {
    id: String,
    #[serde(default)]
    set: Set,
    deny: Vec<String>,
    #[serde(default)]
    allow: Vec<String>,
}

fn rules() -> Vec<Rule> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            toml::from_str::<File>(&text).unwrap().rule
        })
        .collect()
}

#[test]
fn each_rule_speaks_against_its_own_cases() {
    let silent: Vec<String> = rules()
        .iter()
        .flat_map(|rule| rule.deny.iter().map(move |command| (rule, command)))
        .filter(|(rule, command)| {
            let spoke = explained(rule.set, command).objections;
            !spoke.iter().any(|objection| objection.rule.id == rule.id)
        })
        .map(|(rule, command)| {
            format!(
                "{}: {command:?} ({:?})",
                rule.id,
                refused_by(rule.set, command)
            )
        })
        .collect();
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn the_cases_beside_a_rule_that_are_allowed_are_allowed() {
    let refused: Vec<String> = rules()
        .iter()
        .flat_map(|rule| rule.allow.iter().map(move |command| (rule, command)))
        .filter_map(|(rule, command)| {
            let by = refused_by(rule.set, command)?;
            Some(format!("{}: {command:?} by {by}", rule.id))
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
