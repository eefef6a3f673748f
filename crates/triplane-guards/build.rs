//! Checks the rule files and compiles them, without their cases, into a static table.
//!
//! The table is plain data: a program that judges nothing pays nothing for its rules at start.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default)]
    program: Vec<Program>,
    #[serde(default)]
    rule: Vec<Rule>,
}

/// How the arguments of a program are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    names: Vec<String>,
    /// The subcommand that these options belong to; empty for the program itself.
    #[serde(default)]
    sub: String,
    #[serde(default)]
    style: Option<String>,
    /// Options that take a value of their own.
    #[serde(default)]
    values: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    tier: String,
    programs: Vec<String>,
    #[serde(default)]
    sub: Vec<String>,
    #[serde(default)]
    flags: Vec<Vec<String>>,
    #[serde(default)]
    unless: Vec<String>,
    #[serde(default)]
    on: Option<String>,
    #[serde(default)]
    scope: Vec<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    line: Option<String>,
    #[serde(default)]
    operands_min: usize,
    reason: String,
    safer: String,
    deny: Vec<String>,
    #[serde(default)]
    allow: Vec<String>,
}

const SCOPES: [(&str, u32); 14] = [
    ("inside", 1),
    ("temp", 1 << 1),
    ("workspace", 1 << 2),
    ("above", 1 << 3),
    ("system", 1 << 4),
    ("home", 1 << 5),
    ("outside", 1 << 6),
    ("switch", 1 << 7),
    ("secret", 1 << 8),
    ("device", 1 << 9),
    ("stream", 1 << 10),
    ("remote", 1 << 11),
    ("unknown", 1 << 12),
    ("temp-root", 1 << 13),
];

fn main() {
    println!("cargo::rerun-if-changed=rules");
    let mut files: Vec<PathBuf> = fs::read_dir("rules")
        .expect("the rules folder is part of the crate")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    let mut specs: BTreeMap<(String, String), Program> = BTreeMap::new();
    let mut rules: Vec<Rule> = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a readable rule file");
        let file: File =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(file.version, 1, "{}: unknown version", path.display());
        for program in file.program {
            for name in &program.names {
                let copy = Program {
                    names: Vec::new(),
                    sub: program.sub.clone(),
                    style: program.style.clone(),
                    values: program.values.clone(),
                };
                let earlier = specs.insert((name.clone(), program.sub.clone()), copy);
                assert!(
                    earlier.is_none(),
                    "{name} {} is declared twice",
                    program.sub
                );
            }
        }
        rules.extend(file.rule);
    }
    check(&rules);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("rules.rs");
    fs::write(out, table(&specs, &rules)).expect("OUT_DIR is writable");
}

fn check(rules: &[Rule]) {
    let mut ids = BTreeSet::new();
    for rule in rules {
        let id = &rule.id;
        assert!(ids.insert(id), "rule {id} is declared twice");
        assert!(
            !id.is_empty()
                && id.bytes().all(|byte| byte.is_ascii_lowercase()
                    || byte.is_ascii_digit()
                    || b".-".contains(&byte)),
            "rule {id}: an id is lower case with dots and hyphens"
        );
        assert!(!rule.programs.is_empty(), "rule {id} names no program");
        assert!(
            !rule.allow.iter().any(|case| rule.deny.contains(case)),
            "rule {id} both denies and allows one of its cases"
        );
        assert!(
            !rule.deny.is_empty(),
            "rule {id} has no case that it denies"
        );
        assert!(
            !rule.reason.is_empty() && !rule.safer.is_empty(),
            "rule {id} explains nothing"
        );
        for pattern in rule.text.iter().chain(&rule.line) {
            regex::Regex::new(pattern).unwrap_or_else(|error| panic!("rule {id}: {error}"));
        }
    }
}

fn table(specs: &BTreeMap<(String, String), Program>, rules: &[Rule]) -> String {
    let mut names: BTreeSet<&str> = specs.keys().map(|(name, _)| name.as_str()).collect();
    names.extend(
        rules
            .iter()
            .flat_map(|rule| rule.programs.iter().map(String::as_str)),
    );
    let mut code = String::new();
    code.push_str("pub(crate) static PROGRAMS: &[Program] = &[\n");
    for name in names {
        let own = specs.get(&(name.to_owned(), String::new()));
        let style = match own
            .and_then(|program| program.style.as_deref())
            .unwrap_or("gnu")
        {
            "gnu" => "Style::Gnu",
            "go" => "Style::Go",
            "pairs" => "Style::Pairs",
            "raw" => "Style::Raw",
            other => panic!("{name}: unknown style {other}"),
        };
        let values: &[String] = own.map_or(&[], |program| &program.values);
        let subs: Vec<String> = specs
            .iter()
            .filter(|((owner, sub), _)| owner == name && !sub.is_empty())
            .map(|((_, sub), program)| format!("({sub:?}, {})", strings(&program.values)))
            .collect();
        let indices: Vec<usize> = (0..rules.len())
            .filter(|&index| rules[index].programs.iter().any(|program| program == name))
            .collect();
        let _ = writeln!(
            code,
            "    Program {{ name: {name:?}, style: {style}, values: {}, subs: &[{}], rules: &{indices:?} }},",
            strings(values),
            subs.join(", "),
        );
    }
    code.push_str("];\n\n");
    let _ = writeln!(code, "pub(crate) static RULES: [Rule; {}] = [", rules.len());
    for rule in rules {
        let tier = match rule.tier.as_str() {
            "catastrophic" => "Tier::Catastrophic",
            "dangerous" => "Tier::Dangerous",
            other => panic!("rule {}: unknown tier {other}", rule.id),
        };
        let subs: Vec<String> = rule
            .sub
            .iter()
            .map(|sub| {
                let words: Vec<String> = sub
                    .split_whitespace()
                    .map(|word| strings(&word.split('|').map(str::to_owned).collect::<Vec<_>>()))
                    .collect();
                format!("&[{}]", words.join(", "))
            })
            .collect();
        let flags: Vec<String> = rule.flags.iter().map(|group| strings(group)).collect();
        let scope = rule.scope.iter().fold(0, |set, name| {
            set | SCOPES
                .iter()
                .find(|(scope, _)| scope == name)
                .unwrap_or_else(|| panic!("rule {}: unknown scope {name}", rule.id))
                .1
        });
        let on = match rule.on.as_deref() {
            None | Some("operands") => "On::Operands".to_owned(),
            Some("first") => "On::First".to_owned(),
            Some("last") => "On::Last".to_owned(),
            Some("rest") => "On::Rest".to_owned(),
            Some("sources") => "On::Sources".to_owned(),
            Some(option) => format!("On::Option({option:?})"),
        };
        let _ = writeln!(
            code,
            "    Rule {{ id: {:?}, tier: {tier}, subs: &[{}], flags: &[{}], unless: {}, on: {on}, scope: Scopes({scope}), text: {}, line: {}, operands_min: {}, reason: {:?}, safer: {:?} }},",
            rule.id,
            subs.join(", "),
            flags.join(", "),
            strings(&rule.unless),
            pattern(rule.text.as_deref()),
            pattern(rule.line.as_deref()),
            rule.operands_min,
            rule.reason,
            rule.safer,
        );
    }
    code.push_str("];\n");
    code
}

fn pattern(source: Option<&str>) -> String {
    source.map_or_else(
        || "None".to_owned(),
        |source| format!("Some(Pattern::new({source:?}))"),
    )
}

fn strings(items: &[String]) -> String {
    format!("&{items:?}")
}
