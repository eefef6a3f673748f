//! `cargo xtask unused`: dependencies that a manifest names and no source uses.
//!
//! A dependency is used where its identifier starts a path: `serde::…`, `use serde`,
//! `#[tokio::test]`, inside macros too, but not in comments. What only tests use is a development
//! dependency; examples in doc comments count as tests. A dependency that is needed without being
//! named in a source is kept by a line in the manifest that says why:
//!
//! ```toml
//! [package.metadata.unused.keep]
//! libsqlite3-sys = "raises the version that sqlx would accept"
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::finding::Finding;
use crate::rust::lexer::{Kind, Token, tokens, tokens_with_docs};
use crate::rust::module_tree::{Extent, ModuleTree};
use crate::rust::source_files::rust_files;
use crate::rust::test_items::part;
use crate::rust::use_tree;
use crate::workspace::{Dependency, DependencyKind, Member, Workspace};

/// Checks the dependency tables of every member and of the workspace.
pub(crate) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inherited = BTreeSet::new();
    for member in &workspace.members {
        let keep = kept(member);
        let dependencies = workspace.dependencies(member);
        inherited.extend(dependencies.iter().map(|dependency| dependency.key.clone()));
        let uses = match Uses::of(workspace, member) {
            Ok(uses) => uses,
            Err(error) => {
                let message = format!("the sources cannot be read: {error:#}");
                findings.push(Finding::fails(&member.manifest.file, 0, message));
                continue;
            }
        };
        for dependency in &dependencies {
            let excuse = keep.get(&dependency.key).and_then(Value::as_str);
            let wrong = uses.fault(dependency).filter(|_| excuse.is_none());
            let needless = excuse.is_some() && uses.fault(dependency).is_none();
            let needless = needless.then(|| "is used; it needs no line in `keep`".to_owned());
            if let Some(fault) = wrong.or(needless) {
                findings.push(finding(member, dependency, &fault));
            }
        }
        for (key, _) in &keep {
            if !dependencies.iter().any(|dependency| dependency.key == *key) {
                let message = format!("`keep` names `{key}`, which is no dependency");
                findings.push(Finding::fails(&member.manifest.file, 0, message));
            }
        }
    }
    for key in workspace
        .shared_dependencies()
        .into_iter()
        .flat_map(Table::keys)
    {
        if !inherited.contains(key) && !is_member(workspace, key) {
            let line = workspace.manifest.line_of("workspace.dependencies", key);
            let message = format!("no member depends on `{key}`");
            findings.push(Finding::fails(&workspace.manifest.file, line, message));
        }
    }
    findings
}

/// The crates of the workspace are all listed, so that a member can be taken up without a search.
fn is_member(workspace: &Workspace, name: &str) -> bool {
    workspace.members.iter().any(|member| member.name == name)
}

fn finding(member: &Member, dependency: &Dependency, fault: &str) -> Finding {
    let table = DependencyKind::TABLES
        .into_iter()
        .find_map(|(kind, table)| (kind == dependency.kind).then_some(table))
        .unwrap_or_default();
    let line = member.manifest.line_of(table, &dependency.key);
    let message = format!("`{}` in [{table}] {fault}", dependency.key);
    Finding::fails(&member.manifest.file, line, message)
}

fn kept(member: &Member) -> Table {
    let package = member.manifest.table.get("package");
    let unused = package.and_then(|package| package.get("metadata")?.get("unused"));
    let keep = unused.and_then(|unused| unused.get("keep")?.as_table());
    keep.cloned().unwrap_or_default()
}

/// The identifiers that start a path, by where they stand.
#[derive(Debug, Default)]
struct Uses {
    shipped: BTreeSet<String>,
    tests: BTreeSet<String>,
    build: BTreeSet<String>,
}

impl Uses {
    fn of(workspace: &Workspace, member: &Member) -> anyhow::Result<Self> {
        let mut uses = Self::default();
        let build_script = build_script(member);
        let shipped = shipped_files(workspace, member)?;
        for file in rust_files(&workspace.root, &member.folder)? {
            let source = fs::read_to_string(workspace.root.join(&file))?;
            let place = file.strip_prefix(&member.folder).unwrap_or(&file);
            let all = tokens(&source);
            if place == build_script || place.starts_with("build") {
                collect(&all, &mut uses.build);
            } else if shipped.contains(&workspace.root.join(&file)) {
                let parted = part(&all);
                collect(&parted.shipped, &mut uses.shipped);
                collect(&parted.tests, &mut uses.tests);
                collect(&tokens(&doc_examples(&source)), &mut uses.tests);
            } else {
                collect(&all, &mut uses.tests);
            }
        }
        for module in modules_of_build_script(workspace, member, &build_script)? {
            collect(&tokens(&module), &mut uses.build);
        }
        let readme = workspace.root.join(&member.folder).join("README.md");
        if let Ok(text) = fs::read_to_string(readme) {
            collect(&tokens(&fenced(text.lines())), &mut uses.tests);
        }
        Ok(uses)
    }

    /// What is wrong with `dependency`, if anything is.
    fn fault(&self, dependency: &Dependency) -> Option<String> {
        let identifier = dependency.key.replace('-', "_");
        let (found, elsewhere, other_table) = match dependency.kind {
            DependencyKind::Normal => (&self.shipped, &self.tests, "dev-dependencies"),
            DependencyKind::Dev => (&self.tests, &self.shipped, "dependencies"),
            DependencyKind::Build => (&self.build, &self.shipped, "dependencies"),
        };
        if found.contains(&identifier) {
            return None;
        }
        if dependency.kind == DependencyKind::Normal && elsewhere.contains(&identifier) {
            return Some(format!(
                "is used by tests only; it belongs in [{other_table}]"
            ));
        }
        Some("is not used".to_owned())
    }
}

/// The files of the library and the programs, without those that hold tests only.
fn shipped_files(workspace: &Workspace, member: &Member) -> anyhow::Result<BTreeSet<PathBuf>> {
    let source = workspace.root.join(&member.folder).join("src");
    let mut roots = vec![source.join("lib.rs"), source.join("main.rs")];
    roots.extend(
        rust_files(&source, Path::new("bin"))?
            .into_iter()
            .map(|file| source.join(file)),
    );
    let mut files = BTreeSet::new();
    for root in roots.into_iter().filter(|root| root.is_file()) {
        let tree = ModuleTree::read(&root, Extent::Shipped)?;
        files.extend(tree.modules.into_iter().map(|module| module.file));
    }
    Ok(files)
}

fn build_script(member: &Member) -> PathBuf {
    let package = member.manifest.table.get("package");
    let named = package.and_then(|package| package.get("build")?.as_str());
    PathBuf::from(named.unwrap_or("build.rs"))
}

/// The sources that a build script brings in from `src` by `#[path = "…"]`.
fn modules_of_build_script(
    workspace: &Workspace,
    member: &Member,
    build_script: &Path,
) -> anyhow::Result<Vec<String>> {
    let file = workspace.root.join(&member.folder).join(build_script);
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let tree = ModuleTree::read(&file, Extent::Shipped)?;
    let files: BTreeSet<_> = tree.modules.iter().map(|module| &module.file).collect();
    files
        .into_iter()
        .map(|file| Ok(fs::read_to_string(file)?))
        .collect()
}

/// Adds every identifier that starts a path, in an import or in the code.
fn collect(tokens: &[Token<'_>], into: &mut BTreeSet<String>) {
    let is = |at: usize, text| {
        tokens
            .get(at)
            .is_some_and(|token: &Token<'_>| token.is(text))
    };
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is("use") {
            let (imports, end) = use_tree::parse(tokens, at + 1);
            let heads = imports.into_iter().filter_map(|import| {
                import
                    .segments
                    .into_iter()
                    .find(|segment| !segment.is_empty())
            });
            into.extend(heads);
            at = end;
            continue;
        }
        let is_whole_crate = at > 1 && is(at - 1, "crate") && is(at - 2, "extern");
        // After `a::` an identifier belongs to `a`; after a bare `::` it is the crate itself.
        let belongs =
            at > 1 && is(at - 1, "::") && (tokens[at - 2].kind == Kind::Ident || is(at - 2, ">"));
        if token.kind == Kind::Ident && (is(at + 1, "::") || is_whole_crate) && !belongs {
            into.insert(token.text.to_owned());
        }
        at += 1;
    }
}

/// The code of the examples in the doc comments of `source`.
fn doc_examples(source: &str) -> String {
    let docs = tokens_with_docs(source);
    let docs = docs.iter().filter(|token| token.kind == Kind::Doc);
    let lines: Vec<_> = docs.flat_map(|token| token.text.lines()).collect();
    fenced(lines.into_iter())
}

/// The lines between fences that hold Rust.
fn fenced<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    let mut code = String::new();
    let mut fence: Option<bool> = None;
    for line in lines {
        let text = line.trim_start().trim_start_matches("* ");
        if let Some(language) = text.strip_prefix("```") {
            let other = ["text", "toml", "json", "sh", "console", "sql", "bash"];
            let is_rust = !other.contains(&language.trim());
            fence = fence.is_none().then_some(is_rust);
        } else if fence == Some(true) {
            code.push_str(text.strip_prefix("# ").unwrap_or(text));
            code.push('\n');
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use crate::workspace::fixture;

    /// Checks a crate with these dependency tables and files against the faults found.
    fn check(tables: &str, files: &[(&str, &str)], wanted: &[&str]) {
        let manifest = format!("[package]\nname = 'a'\n{tables}");
        let mut all = vec![
            ("Cargo.toml".to_owned(), "[workspace]\nmembers = ['a']\n"),
            ("a/Cargo.toml".to_owned(), &manifest),
        ];
        all.extend(
            files
                .iter()
                .map(|(file, content)| (format!("a/{file}"), *content)),
        );
        let all: Vec<_> = all
            .iter()
            .map(|(file, content)| (file.as_str(), *content))
            .collect();
        let fixture = fixture::workspace(&all);
        let findings = super::check(&fixture.workspace);
        let got: Vec<_> = findings
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(got, wanted);
    }

    #[test]
    fn a_dependency_is_used_where_its_identifier_starts_a_path() {
        let tables = "[dependencies]\nserde-json = '1'\n";
        let used = |source| check(tables, &[("src/lib.rs", source)], &[]);
        used("fn f() { serde_json::to_string(1) }");
        used("use serde_json as json;");
        used("use {a, serde_json};");
        used("use ::serde_json::{a, b};");
        used("extern crate serde_json;");
        used("fn f() { ::serde_json::x() }");
        used("#[serde_json::attribute] fn f() {}");
        used("fn f() { println!(\"{}\", serde_json::x()) }");
        used("fn f() -> Vec<serde_json::Value> { }");
        let unused = |source| {
            check(
                tables,
                &[("src/lib.rs", source)],
                &["`serde-json` in [dependencies] is not used"],
            );
        };
        unused("// use serde_json;\nconst A: &str = \"serde_json::x\";");
        unused("use crate::serde_json::x;");
        unused("use crate::x::{a, serde_json};");
        unused("let serde_json = 1;");
    }

    #[test]
    fn a_renamed_dependency_goes_by_its_new_name() {
        let tables = "[dependencies]\nnew = { package = 'old', version = '1' }\n";
        check(tables, &[("src/lib.rs", "use new::X;")], &[]);
        check(
            tables,
            &[("src/lib.rs", "use old::X;")],
            &["`new` in [dependencies] is not used"],
        );
    }

    #[test]
    fn each_table_is_held_against_its_own_sources() {
        let tables = "[dependencies]\nx = '1'\n";
        let test = "#[cfg(test)] mod tests { use x::Y; }";
        let misplaced =
            "`x` in [dependencies] is used by tests only; it belongs in [dev-dependencies]";
        check(tables, &[("src/lib.rs", test)], &[misplaced]);
        let tables = "[dev-dependencies]\nx = '1'\n";
        check(tables, &[("src/lib.rs", test)], &[]);
        let apart = [
            ("src/lib.rs", "#[cfg(test)] mod tests;"),
            ("src/tests.rs", "use x::Y;"),
        ];
        check(tables, &apart, &[]);
        check(tables, &[("tests/a.rs", "use x::Y;")], &[]);
        check(tables, &[("benches/a.rs", "use x::Y;")], &[]);
        check(
            tables,
            &[("src/lib.rs", "//! ```\n//! # use x::Y;\n//! ```\n")],
            &[],
        );
        check(tables, &[("README.md", "```rust\nuse x::Y;\n```\n")], &[]);
        check(
            tables,
            &[("src/lib.rs", "use x::Y;")],
            &["`x` in [dev-dependencies] is not used"],
        );
        check(
            tables,
            &[("src/lib.rs", "//! ```text\n//! use x::Y;\n//! ```\n")],
            &["`x` in [dev-dependencies] is not used"],
        );
        let tables = "[build-dependencies]\nx = '1'\n";
        check(tables, &[("build.rs", "fn main() { x::y() }")], &[]);
        let shared = [
            ("build.rs", "#[path = \"src/z.rs\"] mod z;"),
            ("src/z.rs", "use x::Y;"),
        ];
        check(tables, &shared, &[]);
        check(
            tables,
            &[("src/lib.rs", "use x::Y;")],
            &["`x` in [build-dependencies] is not used"],
        );
    }

    #[test]
    fn a_kept_dependency_says_why_and_must_need_it() {
        let keep =
            "[dependencies]\nx = '1'\n[package.metadata.unused.keep]\nx = 'links a library'\n";
        check(keep, &[("src/lib.rs", "")], &[]);
        let needless = "`x` in [dependencies] is used; it needs no line in `keep`";
        check(keep, &[("src/lib.rs", "use x::Y;")], &[needless]);
        let stale = "[package.metadata.unused.keep]\nx = 'gone'\n";
        check(
            stale,
            &[("src/lib.rs", "")],
            &["`keep` names `x`, which is no dependency"],
        );
    }

    #[test]
    fn an_entry_of_the_workspace_that_nobody_takes_is_named() {
        let fixture = fixture::workspace(&[(
            "Cargo.toml",
            "[workspace]\nmembers = []\n[workspace.dependencies]\nx = '1'\n",
        )]);
        let findings = super::check(&fixture.workspace);
        let got: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(got, ["Cargo.toml:4: no member depends on `x`"]);
    }
}
