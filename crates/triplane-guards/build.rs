//! Checks the shipped rule files and compiles them, without their cases, into a static table.
//!
//! The table is plain data: a program that judges nothing pays nothing for its rules at start.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use declared::{On, Program, Rule, ScopeName, line_column};

#[path = "src/command/rules/declared.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the crate reads more of a file than the build does"
)]
mod declared;

type Programs = BTreeMap<(String, String), Program>;

fn main() {
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=src/command/rules/declared.rs");
    let mut files: Vec<PathBuf> = fs::read_dir("rules")
        .expect("the rules folder is part of the crate")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    files.sort();
    let mut programs = Programs::new();
    let mut rules: Vec<Rule> = Vec::new();
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for path in files {
        let shown = path.display().to_string();
        let text = fs::read_to_string(&path).expect("a readable rule file");
        let file = declared::read(&text, |pattern| {
            regex::Regex::new(pattern)
                .map(drop)
                .map_err(|error| error.to_string())
        })
        .unwrap_or_else(|wrong| {
            let (line, column) = line_column(&text, wrong.span.start);
            panic!("{shown}:{line}:{column}: {}", wrong.message)
        });
        assert!(
            file.allow.is_empty(),
            "{shown}: no shipped rule is let through"
        );
        for program in file.program {
            for name in program.names.get_ref() {
                let key = (name.clone(), program.sub.clone());
                let copy = Program {
                    names: program.names.clone(),
                    sub: program.sub.clone(),
                    style: program.style,
                    values: program.values.clone(),
                    help: program.help.clone(),
                    help_anywhere: program.help_anywhere,
                };
                let earlier = programs.insert(key, copy);
                assert!(
                    earlier.is_none(),
                    "{shown}: {name} {} is declared twice",
                    program.sub
                );
            }
        }
        for rule in &file.rule {
            if let Some(first) = ids.insert(rule.id.get_ref().clone(), shown.clone()) {
                panic!("{shown}: rule {} is declared in {first}", rule.id.get_ref());
            }
        }
        rules.extend(file.rule);
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("rules.rs");
    fs::write(out, table(&programs, &rules)).expect("OUT_DIR is writable");
}

fn table(programs: &Programs, rules: &[Rule]) -> String {
    let mut names: BTreeSet<&str> = programs.keys().map(|(name, _)| name.as_str()).collect();
    names.extend(
        rules
            .iter()
            .flat_map(|rule| rule.programs.get_ref().iter().map(String::as_str)),
    );
    let mut code = String::new();
    code.push_str("static PROGRAMS: &[Program] = &[\n");
    for name in names {
        let own = programs.get(&(name.to_owned(), String::new()));
        let subs: Vec<String> = programs
            .iter()
            .filter(|((owner, sub), _)| owner == name && !sub.is_empty())
            .map(|((_, sub), program)| format!("({}, {})", text(sub), texts(&program.values)))
            .collect();
        let indices: Vec<usize> = (0..rules.len())
            .filter(|&index| {
                rules[index]
                    .programs
                    .get_ref()
                    .iter()
                    .any(|program| program == name)
            })
            .collect();
        let _ = writeln!(
            code,
            "    Program {{ name: {}, style: Style::{:?}, values: {}, subs: {}, help: {}, help_anywhere: {}, rules: Cow::Borrowed(&{indices:?}) }},",
            text(name),
            own.map(|program| program.style).unwrap_or_default(),
            texts(own.map_or(&[], |program| &program.values)),
            list(&subs),
            texts(own.map_or(&[], |program| &program.help)),
            own.is_some_and(|program| program.help_anywhere),
        );
    }
    code.push_str("];\n\n");
    let _ = writeln!(code, "static RULES: [Rule; {}] = [", rules.len());
    for rule in rules {
        let subs: Vec<String> = rule
            .sub
            .iter()
            .map(|sub| {
                let words: Vec<String> = sub
                    .split_whitespace()
                    .map(|word| texts(&word.split('|').map(str::to_owned).collect::<Vec<_>>()))
                    .collect();
                list(&words)
            })
            .collect();
        let flags: Vec<String> = rule.flags.iter().map(|group| texts(group)).collect();
        let on = match &rule.on {
            On::Option(option) => format!("On::Option({})", text(option)),
            place => format!("On::{place:?}"),
        };
        let _ = writeln!(
            code,
            "    Rule {{ id: {}, tier: Tier::{:?}, set: Set::{:?}, subs: {}, flags: {}, unless: {}, on: {on}, scope: Scopes({}), text: {}, line: {}, operands_min: {}, reason: {}, safer: {} }},",
            text(rule.id.get_ref()),
            rule.tier,
            rule.set,
            list(&subs),
            list(&flags),
            texts(&rule.unless),
            ScopeName::bits(&rule.scope),
            pattern(rule.text.as_ref().map(|text| text.get_ref().as_str())),
            pattern(rule.line.as_ref().map(|line| line.get_ref().as_str())),
            rule.operands_min,
            text(rule.reason.get_ref()),
            text(rule.safer.get_ref()),
        );
    }
    code.push_str("];\n");
    code
}

fn pattern(source: Option<&str>) -> String {
    source.map_or_else(
        || "None".to_owned(),
        |source| format!("Some(Pattern::new({}))", text(source)),
    )
}

fn text(text: &str) -> String {
    format!("Cow::Borrowed({text:?})")
}

fn texts(items: &[String]) -> String {
    list(&items.iter().map(|item| text(item)).collect::<Vec<_>>())
}

fn list(items: &[String]) -> String {
    format!("Cow::Borrowed(&[{}])", items.join(", "))
}
