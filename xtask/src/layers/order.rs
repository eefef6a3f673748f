//! The order of modules: a module imports only what is declared above it.
//!
//! The `mod` list of a crate's root, and of every door below it, is the reading order. Two modules
//! are compared where their paths part: there, the importing one must be declared later. A parent
//! may name its children, as a door does, and a child its parent.

use std::path::{Path, PathBuf};

use crate::finding::Finding;
use crate::rust::module_tree::{Extent, ModuleId, ModuleTree};
use crate::rust::resolve::modules_of;
use crate::rust::use_tree::{Brings, Import};
use crate::workspace::Workspace;

/// Checks the library and the program of every member.
pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        for root_file in ["src/lib.rs", "src/main.rs"] {
            let root_file = workspace.root.join(&member.folder).join(root_file);
            if !root_file.is_file() {
                continue;
            }
            match ModuleTree::read(&root_file, Extent::Shipped) {
                Ok(tree) => check_tree(&workspace.root, &tree, &mut findings),
                Err(error) => {
                    let file = relative(&workspace.root, &root_file);
                    findings.push(Finding::fails(&file, 0, format!("{error:#}")));
                }
            }
        }
    }
    findings
}

fn check_tree(root: &Path, tree: &ModuleTree, findings: &mut Vec<Finding>) {
    for (from, module) in tree.modules.iter().enumerate() {
        let file = relative(root, &module.file);
        for import in module.imports.iter().chain(&module.paths) {
            if is_glob_of_parent(import) {
                let message = "`use super::*` hides what is imported; name it by its full path";
                findings.push(Finding::fails(&file, import.line, message.to_owned()));
            }
            let reached = modules_of(tree, from, import);
            let is_door_to_another = |to: &ModuleId| {
                let below = |other: &&ModuleId| *other != to && tree.ancestry(**other).contains(to);
                reached.iter().find(below).is_some()
            };
            for &to in reached.iter().filter(|to| !is_door_to_another(to)) {
                if let Some(message) = upward(tree, from, to) {
                    findings.push(Finding::fails(&file, import.line, message));
                }
            }
        }
    }
}

fn is_glob_of_parent(import: &Import) -> bool {
    let starts_at_parent = import
        .segments
        .first()
        .is_some_and(|segment| segment == "super");
    starts_at_parent && import.brings == Brings::Everything
}

/// The sentence for an import from `from` to `to` that goes against the order.
fn upward(tree: &ModuleTree, from: ModuleId, to: ModuleId) -> Option<String> {
    let from_line = tree.ancestry(from);
    let to_line = tree.ancestry(to);
    let shared = from_line
        .iter()
        .zip(&to_line)
        .take_while(|(a, b)| a == b)
        .count();
    let (reader, read) = (*from_line.get(shared)?, *to_line.get(shared)?);
    let door = &tree.modules[from_line[shared - 1]];
    let position = |child| door.children.iter().position(|&each| each == child);
    if position(read) < position(reader) {
        return None;
    }
    Some(format!(
        "`{}` imports `{}`, but {} declares `{}` (line {}) above `{}` (line {})",
        tree.modules[from].path,
        tree.modules[to].path,
        file_name(&door.file).display(),
        tree.modules[reader].name(),
        tree.modules[reader].declared,
        tree.modules[read].name(),
        tree.modules[read].declared,
    ))
}

fn relative(root: &Path, file: &Path) -> PathBuf {
    file.strip_prefix(root).unwrap_or(file).to_owned()
}

fn file_name(file: &Path) -> PathBuf {
    file.file_name().map(PathBuf::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::workspace::fixture;

    /// Checks a crate of these files (below `a/src`) against findings `file:line importer imported`.
    fn check(files: &[(&str, &str)], wanted: &[&str]) {
        let mut all = vec![
            ("Cargo.toml".to_owned(), "[workspace]\nmembers = ['a']\n"),
            ("a/Cargo.toml".to_owned(), "[package]\nname = 'a'\n"),
        ];
        all.extend(
            files
                .iter()
                .map(|(file, content)| (format!("a/src/{file}"), *content)),
        );
        let all: Vec<_> = all
            .iter()
            .map(|(file, content)| (file.as_str(), *content))
            .collect();
        let fixture = fixture::workspace(&all);
        let findings = super::check(&fixture.workspace);
        let got: Vec<_> = findings
            .iter()
            .map(|finding| {
                let mut quoted = finding.message.split('`').skip(1).step_by(2);
                let file = finding
                    .file
                    .strip_prefix("a/src")
                    .expect("below the crate")
                    .display();
                let (reader, read) = (quoted.next(), quoted.next());
                let read = read.map(|name| format!(" {name}")).unwrap_or_default();
                format!(
                    "{file}:{} {}{read}",
                    finding.line,
                    reader.unwrap_or_default()
                )
            })
            .collect();
        assert_eq!(got, wanted);
    }

    #[test]
    fn a_module_may_import_only_what_is_declared_above_it() {
        let lib = ("lib.rs", "mod one;\nmod two;\n");
        check(
            &[lib, ("one.rs", ""), ("two.rs", "use crate::one::X;")],
            &[],
        );
        check(
            &[lib, ("one.rs", "\nuse crate::two::X;"), ("two.rs", "")],
            &["one.rs:2 one two"],
        );
        check(
            &[
                lib,
                ("one.rs", "use crate::{\n    two::X,\n};"),
                ("two.rs", ""),
            ],
            &["one.rs:2 one two"],
        );
        check(
            &[
                lib,
                ("one.rs", "fn f() { crate::two::g() }"),
                ("two.rs", ""),
            ],
            &["one.rs:1 one two"],
        );
        check(
            &[lib, ("one.rs", "use super::two::X;"), ("two.rs", "")],
            &["one.rs:1 one two"],
        );
        check(
            &[
                lib,
                ("one.rs", "fn f() { log!(\"{}\", super::two::N) }"),
                ("two.rs", ""),
            ],
            &["one.rs:1 one two"],
        );
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        let lib = ("lib.rs", "mod one;\nmod two;\n");
        let one = "//! [`crate::two`]\n// use crate::two::X;\nconst A: &str = \"crate::two::X\";\n\
                   #[cfg(test)]\nmod tests { use super::*; use crate::two::X; }";
        check(&[lib, ("one.rs", one), ("two.rs", "")], &[]);
    }

    #[test]
    fn a_name_that_a_door_passes_on_counts_where_it_is_defined() {
        let lib = ("lib.rs", "mod one;\nmod two;\npub use two::X;\n");
        check(
            &[
                lib,
                ("one.rs", "use crate::X;"),
                ("two.rs", "pub struct X;"),
            ],
            &["one.rs:1 one two"],
        );
        let glob = ("lib.rs", "mod one;\nmod two;\npub use two::*;\n");
        check(
            &[
                glob,
                ("one.rs", "use crate::X;"),
                ("two.rs", "pub struct X;"),
            ],
            &["one.rs:1 one two"],
        );
        check(
            &[
                glob,
                ("one.rs", "pub struct X;"),
                ("two.rs", "use crate::one::X;"),
            ],
            &[],
        );
    }

    #[test]
    fn nested_modules_are_compared_where_their_paths_part() {
        let lib = ("lib.rs", "mod low;\nmod room;\nmod high;\n");
        let door = ("room/mod.rs", "mod one;\nmod two;\npub use two::X;\n");
        let two = (
            "room/two.rs",
            "use crate::room::one::Y;\nuse crate::low::Z;\npub struct X;",
        );
        let rest = [("low.rs", ""), ("high.rs", "use crate::room::X;")];
        check(
            &[
                lib,
                door,
                two,
                rest[0],
                rest[1],
                ("room/one.rs", "pub struct Y;"),
            ],
            &[],
        );
        let one = "use crate::room::X;\nuse crate::high::Q;\nuse super::two::X;";
        check(
            &[lib, door, two, rest[0], rest[1], ("room/one.rs", one)],
            &[
                "room/one.rs:1 room::one room::two",
                "room/one.rs:2 room::one high",
                "room/one.rs:3 room::one room::two",
            ],
        );
        let by_alias =
            "use crate::room;\nuse crate::low as deep;\nfn f() { deep::g(room::two::g) }";
        check(
            &[lib, door, two, rest[0], rest[1], ("room/one.rs", by_alias)],
            &["room/one.rs:3 room::one room::two"],
        );
        check(
            &[
                lib,
                door,
                two,
                ("low.rs", "use crate::room::one::Y;"),
                rest[1],
                ("room/one.rs", ""),
            ],
            &["low.rs:1 low room::one"],
        );
    }

    #[test]
    fn inline_modules_and_a_parent_with_its_children_are_followed() {
        let lib =
            "mod one { fn f() -> crate::two::X { } }\nmod two { pub struct X; }\npub use one::Y;\n";
        check(&[("lib.rs", lib)], &["lib.rs:1 one two"]);
    }

    #[test]
    fn a_glob_of_the_parent_is_refused_outside_tests() {
        check(
            &[("lib.rs", "mod one;\n"), ("one.rs", "use super::*;")],
            &["one.rs:1 use super::*"],
        );
    }
}
