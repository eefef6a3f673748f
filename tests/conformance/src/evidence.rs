//! Evidence beside the scenarios: tests of the workspace, by name, that are run here and now.
//!
//! A name that cargo does not find, and a test that is ignored, did not run: that is no evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;

use anyhow::{Context as _, bail};
use serde::Deserialize;

/// A test by the binary that holds it and its name in there, written `legacy: exported::every_name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct TestName {
    binary: String,
    name: String,
}

impl FromStr for TestName {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let Some((binary, name)) = text.split_once(": ") else {
            bail!("`{text}` names no test: it is written `binary: path::of::the_test`");
        };
        Ok(Self {
            binary: binary.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl TryFrom<String> for TestName {
    type Error = anyhow::Error;

    fn try_from(text: String) -> anyhow::Result<Self> {
        text.parse()
    }
}

impl std::fmt::Display for TestName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.binary, self.name)
    }
}

/// How a test that ran ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    Failed,
}

/// The tests that ran. What is not in here did not.
pub(crate) type Ran = BTreeMap<TestName, Ended>;

/// Runs the tests, those of one binary together.
///
/// # Errors
///
/// When cargo cannot be started.
pub(crate) fn run(tests: &BTreeSet<TestName>) -> anyhow::Result<Ran> {
    let mut ran = Ran::new();
    let binaries: BTreeSet<_> = tests.iter().map(|test| &test.binary).collect();
    for binary in binaries {
        let names = tests.iter().filter(|test| test.binary == *binary);
        let names: Vec<_> = names.map(|test| test.name.as_str()).collect();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let said = Command::new(cargo)
            // The choice of features under which everything else is tested, too.
            .args(["test", "--locked", "--workspace", "--all-features"])
            .args(["--test", binary, "--", "--exact"])
            .args(names)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .context("cannot start cargo")?;
        ran.extend(ended(binary, &String::from_utf8_lossy(&said.stdout)));
    }
    Ok(ran)
}

/// What a test binary says of each test that it ran.
fn ended(binary: &str, said: &str) -> Ran {
    let lines = said.lines().filter_map(|line| {
        let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let end = match end {
            "ok" => Ended::Passed,
            "FAILED" => Ended::Failed,
            _ => return None,
        };
        let test = TestName {
            binary: binary.to_owned(),
            name: name.to_owned(),
        };
        Some((test, end))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_test_did_not_run() {
        let said = "\nrunning 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\
                    test a::d ... ignored, why\n\ntest result: FAILED. 1 passed\n";
        let ran = ended("kernel", said);
        let test = |name: &str| format!("kernel: a::{name}").parse::<TestName>().unwrap();
        assert_eq!(
            ran.into_iter().collect::<Vec<_>>(),
            [(test("b"), Ended::Passed), (test("c"), Ended::Failed)]
        );
        assert!("a::b".parse::<TestName>().is_err());
    }
}
