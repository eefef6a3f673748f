//! The seam of the conformance runner stays its own: nobody else asks for the feature behind it.
//!
//! Under `altered-policies` a legacy name can be made with another policy than its profile. A crate that
//! asked for it would ship what no recording stands for.

use std::path::Path;

use toml::{Table, Value};

use crate::finding::Finding;
use crate::workspace::Workspace;

const FEATURE: &str = "altered-policies";
const RUNNER: &str = "tests/conformance";

/// Checks the dependencies of every member, the shared ones, and the features that stand for others.
pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let shared = workspace.shared_dependencies().into_iter().flatten();
    for (key, value) in shared {
        if listed(value.get("features")).any(|feature| feature == FEATURE) {
            let manifest = &workspace.manifest;
            let line = manifest.line_of("workspace.dependencies", key);
            findings.push(refused(&manifest.file, line));
        }
    }
    for member in &workspace.members {
        let manifest = &member.manifest;
        if member.folder != Path::new(RUNNER) {
            for dependency in workspace.dependencies(member) {
                if dependency.features.iter().any(|name| name == FEATURE) {
                    let line = manifest.line_of("dependencies", &dependency.key);
                    findings.push(refused(&manifest.file, line));
                }
            }
        }
        let features = manifest.table.get("features").and_then(Value::as_table);
        for (name, enables) in features.into_iter().flat_map(Table::iter) {
            let seam = |enabled: &str| enabled.rsplit('/').next() == Some(FEATURE);
            if listed(Some(enables)).any(seam) {
                let line = manifest.line_of("features", name);
                findings.push(refused(&manifest.file, line));
            }
        }
    }
    findings
}

fn listed(features: Option<&Value>) -> impl Iterator<Item = &str> {
    let features = features.and_then(Value::as_array).into_iter().flatten();
    features.filter_map(Value::as_str)
}

fn refused(file: &Path, line: u32) -> Finding {
    let message = format!("`{FEATURE}` is the seam of {RUNNER}; nobody else may ask for it");
    Finding::fails(file, line, message)
}

#[cfg(test)]
mod tests {
    use crate::workspace::fixture;

    fn check(root: &str, runner: &str, product: &str, wanted: &[&str]) {
        let root = format!("[workspace]\nmembers = ['tests/conformance', 'p']\n{root}");
        let named = |name: &str, rest: &str| format!("[package]\nname = '{name}'\n{rest}");
        let fixture = fixture::workspace(&[
            ("Cargo.toml", &root),
            ("tests/conformance/Cargo.toml", &named("c", runner)),
            ("p/Cargo.toml", &named("p", product)),
        ]);
        let found = super::check(&fixture.workspace);
        let places = found
            .iter()
            .map(|finding| format!("{}:{}", finding.file.display(), finding.line));
        assert_eq!(places.collect::<Vec<_>>(), wanted, "{found:?}");
    }

    #[test]
    fn only_the_runner_may_ask_for_altered_policies() {
        let asks =
            "[dependencies]\ntriplane = { version = '1', features = ['altered-policies'] }\n";
        check("", asks, "", &[]);
        check("", asks, asks, &["p/Cargo.toml:4"]);
        let dev = asks.replace("[dep", "[dev-dep");
        check("", "", &dev, &["p/Cargo.toml:4"]);
        let by_feature = "[features]\nall = ['triplane/altered-policies']\n";
        check("", "", by_feature, &["p/Cargo.toml:4"]);
        let shared = asks.replace("[dep", "[workspace.dep");
        check(&shared, "", "", &["Cargo.toml:4"]);
        let declared = "[features]\naltered-policies = []\n";
        check("", "", declared, &[]);
    }
}
