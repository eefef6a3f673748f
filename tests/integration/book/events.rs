//! The page on observability, against the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::workspace;

const LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];

#[test]
fn the_page_on_observability_lists_every_event_of_the_sources_and_no_other() {
    let page = fs::read_to_string(workspace().join("docs/observability.md")).expect("a page");
    let told: BTreeSet<String> = page
        .lines()
        .filter(|line| {
            LEVELS
                .iter()
                .any(|level| line.starts_with(&format!("| {level} |")))
        })
        .map(str::to_owned)
        .collect();
    let mut found = BTreeSet::new();
    for file in sources(&workspace().join("crates")) {
        let source = fs::read_to_string(&file).expect("a source");
        let place = file.display();
        for span in ["span!(", "#[instrument", "tracing::instrument"] {
            assert!(
                !source.contains(span),
                "{place}: the page says that there are no spans"
            );
        }
        found.extend(events(&source, &target(&file)));
    }
    assert_eq!(
        told.iter().collect::<Vec<_>>(),
        found.iter().collect::<Vec<_>>(),
        "left: docs/observability.md, right: the sources"
    );
}

/// The Rust files of every crate's `src`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && path.components().any(|part| part.as_os_str() == "src")
        {
            files.push(path);
        }
    }
    files
}

/// The path of the module in `file`, which is the target of its events.
fn target(file: &Path) -> String {
    let file = file
        .strip_prefix(workspace().join("crates"))
        .expect("below");
    let file = file.with_extension("").to_string_lossy().replace('-', "_");
    let path = file.replace("/src/", "/").replace('/', "::");
    let path = path.trim_end_matches("::mod").trim_end_matches("::lib");
    path.to_owned()
}

/// The rows of a source: level, target, message, fields.
fn events(source: &str, target: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for level in LEVELS {
        for at in source.split(&format!("tracing::{level}!(")).skip(1) {
            let mut fields = Vec::new();
            let mut message = String::new();
            for argument in arguments(at) {
                match argument.strip_prefix('"') {
                    Some(text) => text.trim_end_matches('"').clone_into(&mut message),
                    None => fields.push(field(&argument)),
                }
            }
            let fields = fields.join(", ");
            rows.push(format!("| {level} | `{target}` | {message} | {fields} |"));
        }
    }
    rows
}

/// The name of a field: `%error`, `failure = …`, `?x`.
fn field(argument: &str) -> String {
    let name = argument.split('=').next().unwrap_or_default();
    format!("`{}`", name.trim().trim_start_matches(['%', '?']))
}

/// The arguments of a macro whose opening parenthesis stands before `text`.
fn arguments(text: &str) -> Vec<String> {
    let mut arguments = vec![String::new()];
    let mut depth = 0_u32;
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted && depth == 0 => break,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        arguments.last_mut().expect("one").push(character);
    }
    let trimmed = arguments.iter().map(|argument| argument.trim().to_owned());
    trimmed.filter(|argument| !argument.is_empty()).collect()
}

#[test]
fn an_event_is_read_from_its_macro() {
    let source = "x; tracing::warn!(%error, n = names.len(), \"it failed, (again)\"); y";
    assert_eq!(
        events(source, "a::b"),
        ["| warn | `a::b` | it failed, (again) | `error`, `n` |"]
    );
}
