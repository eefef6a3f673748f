//! The cases beside each rule are its tests.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::support::{explained, refused_by};

#[derive(Deserialize)]
struct File {
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    id: String,
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
            let spoke = explained(command).objections;
            !spoke.iter().any(|objection| objection.rule.id == rule.id)
        })
        .map(|(rule, command)| format!("{}: {command:?} ({:?})", rule.id, refused_by(command)))
        .collect();
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn the_cases_beside_a_rule_that_are_allowed_are_allowed() {
    let refused: Vec<String> = rules()
        .iter()
        .flat_map(|rule| rule.allow.iter().map(move |command| (rule, command)))
        .filter_map(|(rule, command)| {
            let by = refused_by(command)?;
            Some(format!("{}: {command:?} by {by}", rule.id))
        })
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
