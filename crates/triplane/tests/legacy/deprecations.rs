//! `docs/deprecations.md` beside the code.

use std::collections::BTreeSet;

use crate::page::{code, rows, sources, text};

/// The names that the room of the old names exports.
fn exported() -> BTreeSet<String> {
    let door = text("crates/triplane/src/legacy/mod.rs");
    let exports = door.split("pub use ").skip(1);
    let names = exports.flat_map(|export| {
        let (_, names) = export.split_once("::").expect("a path");
        let (names, _) = names.split_once(';').expect("an end");
        let names = names.trim_matches(['{', '}']).split(',');
        names.map(|name| name.trim().to_owned()).collect::<Vec<_>>()
    });
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn every_exported_name_has_a_row_and_every_row_a_name() {
    let page = text("docs/deprecations.md");
    let listed: Vec<_> = rows(&page)
        .iter()
        .map(|row| code(&row[0]).concat())
        .collect();
    let once: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(once.len(), listed.len(), "a name is listed twice");
    assert_eq!(once, exported());
}

#[test]
fn every_row_says_what_is_new_since_when_and_what_must_pass() {
    let version = env!("CARGO_PKG_VERSION");
    let (since, _) = version.rsplit_once('.').expect("three numbers");
    let sources = sources();
    let is_item = |name: &str| {
        let kinds = ["struct", "enum", "trait", "fn", "type"];
        sources
            .iter()
            .filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "legacy"))
            .any(|(_, source)| {
                let mut kinds = kinds.iter();
                kinds.any(|kind| {
                    source
                        .match_indices(&format!("pub {kind} {name}"))
                        .any(|(at, found)| {
                            !source[at + found.len()..]
                                .starts_with(|next: char| next.is_alphanumeric() || next == '_')
                        })
                })
            })
    };
    for row in rows(&text("docs/deprecations.md")) {
        let [name, new, plane, first, removal, gates] = row.as_slice() else {
            panic!("a row has six cells: {row:?}");
        };
        if !new.starts_with("none") && new != "a delivery" {
            assert!(!code(new).is_empty(), "{name}: `{new}` names nothing");
        }
        for successor in code(new) {
            assert!(is_item(successor), "{name}: there is no `{successor}`");
        }
        for plane in plane.split(", ") {
            assert!(
                ["interception", "observation", "delivery"].contains(&plane),
                "{name}: {plane}"
            );
        }
        assert_eq!((first.as_str(), removal.as_str()), (since, "1.0"), "{name}");
        let gates: Vec<_> = gates.split(", ").collect();
        assert_eq!(gates.first(), Some(&"import"), "{name}");
        for gate in gates {
            assert!(
                ["import", "runtime", "stored payload"].contains(&gate),
                "{name}: {gate}"
            );
        }
    }
}

#[test]
fn what_the_compiler_warns_of_is_what_the_page_says() {
    let warned: Vec<_> = sources()
        .into_iter()
        .filter(|(path, _)| path.components().any(|part| part.as_os_str() == "legacy"))
        .filter(|(_, source)| source.contains("\n#[deprecated("))
        .map(|(path, _)| path.file_stem().expect("a name").to_owned())
        .collect();
    assert_eq!(warned, ["broadcaster"]);
    let page = text("docs/deprecations.md");
    assert!(page.contains("`Broadcaster` alone carries"));
}
