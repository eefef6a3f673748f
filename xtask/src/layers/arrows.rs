//! The arrows between crates: what each may depend on.

use std::fs;

use crate::finding::Finding;
use crate::rust::lexer::tokens;
use crate::rust::source_files::rust_files;
use crate::workspace::{DependencyKind, Workspace};

/// What a crate may name in its dependencies and build dependencies, of ours.
///
/// Development dependencies are free: a test may bring together what the code may not.
const ARROWS: &[(&str, &[Arrow])] = &[
    ("triplane-kernel", &[]),
    ("triplane-interception", &[to("triplane-kernel")]),
    ("triplane-signals", &[to("triplane-kernel")]),
    (
        "triplane-state",
        &[to("triplane-kernel"), to("triplane-signals")],
    ),
    ("triplane-process", &[to("triplane-kernel")]),
    (
        "triplane-guards",
        &[to("triplane-kernel"), to("triplane-interception")],
    ),
    (
        "triplane-external-hooks",
        &[
            to("triplane-kernel"),
            to("triplane-interception"),
            to("triplane-signals"),
            to("triplane-process"),
        ],
    ),
    (
        "triplane-sinks",
        &[ports_of("triplane-state"), to("triplane-process")],
    ),
    (
        "triplane",
        &[
            to("triplane-kernel"),
            to("triplane-interception"),
            to("triplane-signals"),
            to("triplane-state"),
            feature("triplane-guards"),
            feature("triplane-sinks"),
        ],
    ),
    ("triplane-cli", EVERYTHING),
    (
        "triplane-testkit",
        &[
            to("triplane-kernel"),
            to("triplane-interception"),
            to("triplane-signals"),
            to("triplane-state"),
        ],
    ),
    ("triplane-conformance", EVERYTHING),
    ("triplane-referee", &[]),
    ("triplane-crash", &CRASH),
    ("triplane-tests", EVERYTHING),
    ("triplane-bench", EVERYTHING),
    ("triplane-bench-state", EVERYTHING),
    ("xtask", EVERYTHING),
];

/// What the crash campaign kills, and who judges it afterwards.
const CRASH: [Arrow; 6] = [
    to("triplane-kernel"),
    to("triplane-signals"),
    to("triplane-state"),
    to("triplane-process"),
    to("triplane-sinks"),
    to("triplane-referee"),
];

const TESTKIT: &str = "triplane-testkit";

const EVERYTHING: &[Arrow] = &[
    to("triplane-kernel"),
    to("triplane-interception"),
    to("triplane-signals"),
    to("triplane-state"),
    to("triplane-process"),
    to("triplane-guards"),
    to("triplane-external-hooks"),
    to("triplane-sinks"),
    to("triplane"),
];

/// An allowed arrow and what it must look like.
#[derive(Debug, Clone, Copy)]
struct Arrow {
    to: &'static str,
    shape: Shape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    /// Only behind a feature of the crate that depends.
    Optional,
    /// Only the ports: no default features, and no database.
    PortsOnly,
}

const fn to(to: &'static str) -> Arrow {
    Arrow {
        to,
        shape: Shape::Plain,
    }
}

const fn feature(to: &'static str) -> Arrow {
    Arrow {
        to,
        shape: Shape::Optional,
    }
}

const fn ports_of(to: &'static str) -> Arrow {
    Arrow {
        to,
        shape: Shape::PortsOnly,
    }
}

/// Checks every arrow of every member, and the order of the members.
pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let position = |name: &str| {
        workspace
            .members
            .iter()
            .position(|member| member.name == name)
    };
    for (index, member) in workspace.members.iter().enumerate() {
        let manifest = &member.manifest;
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == member.name) else {
            let message = format!("crate `{}` has no line in the table of arrows", member.name);
            findings.push(Finding::fails(&manifest.file, 0, message));
            continue;
        };
        for dependency in workspace.dependencies(member) {
            let Some(target) = position(&dependency.package) else {
                continue;
            };
            let (from, to) = (&member.name, &dependency.package);
            let mut broken = |rule: &str| {
                let (_, table) = DependencyKind::TABLES
                    .into_iter()
                    .find(|(kind, _)| *kind == dependency.kind)
                    .unwrap_or(DependencyKind::TABLES[0]);
                let line = manifest.line_of(table, &dependency.key);
                let message = format!("`{from}` -> `{to}`: {rule}");
                findings.push(Finding::fails(&manifest.file, line, message));
            };
            if dependency.kind == DependencyKind::Dev {
                continue;
            }
            let Some(arrow) = allowed.iter().find(|arrow| arrow.to == *to) else {
                broken("this arrow is not allowed");
                continue;
            };
            if target >= index {
                broken("the members of the root manifest stand in dependency order");
            }
            if arrow.shape == Shape::Optional && !dependency.optional {
                broken("allowed only as an optional dependency behind a feature");
            }
            let brings_database =
                dependency.default_features || dependency.features.iter().any(|f| f == "sqlite");
            if arrow.shape == Shape::PortsOnly && brings_database {
                broken("allowed only without default features and without `sqlite`");
            }
        }
    }
    findings
}

/// Checks that no unit test of a crate below the testkit uses it.
///
/// A unit test is compiled into its crate, the testkit against the crate as a library: their types
/// would look the same and be two.
pub(super) fn testkit_stays_in_integration_tests(
    workspace: &Workspace,
) -> anyhow::Result<Vec<Finding>> {
    let identifier = TESTKIT.replace('-', "_");
    let mut findings = Vec::new();
    for member in workspace
        .members
        .iter()
        .filter(|member| below_the_testkit(&member.name))
    {
        for file in rust_files(&workspace.root, &member.folder.join("src"))? {
            let source = fs::read_to_string(workspace.root.join(&file))?;
            let used = tokens(&source)
                .into_iter()
                .find(|token| token.is(&identifier));
            if let Some(token) = used {
                let message = "the testkit is for integration tests; a unit test would meet its \
                               own crate twice";
                findings.push(Finding::fails(&file, token.line, message.to_owned()));
            }
        }
    }
    Ok(findings)
}

fn below_the_testkit(name: &str) -> bool {
    let arrows = ARROWS.iter().find(|(from, _)| *from == TESTKIT);
    arrows.is_some_and(|(_, arrows)| arrows.iter().any(|arrow| arrow.to == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::fixture;

    const ROOT: &str =
        "[workspace]\nmembers = ['kernel', 'signals', 'state', 'sinks', 'facade', 'testkit']\n";
    const SIGNALS: &str = "triplane-kernel = { path = '../kernel' }\n";
    const STATE: &str = "triplane-signals = { path = '../signals' }\n";

    fn manifest(name: &str, dependencies: &str) -> String {
        format!("[package]\nname = '{name}'\n[dependencies]\n{dependencies}")
    }

    fn check_arrows(crates: &[(&str, &str)], wanted: &[&str]) {
        let names = [
            ("kernel", "triplane-kernel"),
            ("signals", "triplane-signals"),
            ("state", "triplane-state"),
            ("sinks", "triplane-sinks"),
            ("facade", "triplane"),
            ("testkit", "triplane-testkit"),
        ];
        let mut files = vec![("Cargo.toml".to_owned(), ROOT.to_owned())];
        for (folder, name) in names {
            let given = crates.iter().find(|(of, _)| *of == folder);
            let dependencies = given.map_or("", |(_, dependencies)| dependencies);
            files.push((format!("{folder}/Cargo.toml"), manifest(name, dependencies)));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(f, c)| (f.as_str(), c.as_str()))
            .collect();
        let fixture = fixture::workspace(&files);
        let got: Vec<_> = check(&fixture.workspace)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(got, wanted);
    }

    #[test]
    fn an_allowed_arrow_is_fine_and_any_other_is_named_with_its_line() {
        check_arrows(&[("signals", SIGNALS), ("state", STATE)], &[]);
        check_arrows(
            &[(
                "kernel",
                "serde = '1'\ntriplane-signals.path = '../signals'\n",
            )],
            &[
                "kernel/Cargo.toml:5: `triplane-kernel` -> `triplane-signals`: this arrow is not allowed",
            ],
        );
        check_arrows(
            &[(
                "signals",
                "[build-dependencies]\nx = { path = '../state', package = 'triplane-state' }\n",
            )],
            &[
                "signals/Cargo.toml:5: `triplane-signals` -> `triplane-state`: this arrow is not allowed",
            ],
        );
    }

    #[test]
    fn a_test_may_bring_together_what_the_code_may_not() {
        check_arrows(
            &[(
                "signals",
                "[dev-dependencies]\ntriplane-testkit.path = '../testkit'\n",
            )],
            &[],
        );
    }

    #[test]
    fn the_facade_takes_sinks_behind_a_feature_only() {
        check_arrows(
            &[(
                "facade",
                "triplane-sinks = { path = '', optional = true }\n",
            )],
            &[],
        );
        check_arrows(
            &[("facade", "triplane-sinks.path = ''\n")],
            &[
                "facade/Cargo.toml:4: `triplane` -> `triplane-sinks`: allowed only as an optional dependency behind a feature",
            ],
        );
    }

    #[test]
    fn a_sink_takes_the_ports_without_the_database() {
        check_arrows(
            &[(
                "sinks",
                "triplane-state = { path = '', default-features = false }\n",
            )],
            &[],
        );
        let broken = "sinks/Cargo.toml:4: `triplane-sinks` -> `triplane-state`: allowed only \
                      without default features and without `sqlite`";
        check_arrows(&[("sinks", "triplane-state.path = ''\n")], &[broken]);
        check_arrows(
            &[(
                "sinks",
                "triplane-state = { path = '', default-features = false, features = ['sqlite'] }\n",
            )],
            &[broken],
        );
    }

    #[test]
    fn a_unit_test_below_the_testkit_may_not_use_it() {
        let root = "[workspace]\nmembers = ['a', 'b']\n";
        let unit = "#[cfg(test)]\nmod tests { use triplane_testkit::x; }\n";
        let fixture = fixture::workspace(&[
            ("Cargo.toml", root),
            ("a/Cargo.toml", "[package]\nname = 'triplane-signals'\n"),
            ("a/src/lib.rs", unit),
            ("b/Cargo.toml", "[package]\nname = 'triplane'\n"),
            ("b/src/lib.rs", unit),
            ("a/tests/b.rs", "use triplane_testkit::x;"),
        ]);
        let findings = testkit_stays_in_integration_tests(&fixture.workspace).expect("readable");
        let places: Vec<_> = findings
            .iter()
            .map(|finding| (&finding.file, finding.line))
            .collect();
        assert_eq!(places, [(&std::path::PathBuf::from("a/src/lib.rs"), 2)]);
    }
}
