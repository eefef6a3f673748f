//! The Phase 0 matrix (ADR-0120): what must be shown, and the evidence that ran for it.
//!
//! Evidence is scenarios, named tests, checks that kill a process, and suites over a folder of fixtures. A
//! row without evidence that ran blocks, and so does evidence that is named and does not exist or did not
//! run. A row whose plane comes later is due: it is shown as that, and never as passed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Deserialize;
use triplane_kernel::profile::ProfileName;

use crate::evidence::{Ended, Ran, TestName};
use crate::suite::Outcome;

/// The matrix as `matrix.toml` writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Matrix {
    #[serde(rename = "row")]
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    name: String,
    /// Patterns of scenario ids; `*` stands for anything.
    #[serde(default)]
    scenarios: Vec<String>,
    /// Tests of the workspace.
    #[serde(default)]
    tests: Vec<TestName>,
    /// Tests that kill a process and look at what it left.
    #[serde(default)]
    crashes: Vec<TestName>,
    #[serde(default)]
    fixtures: Vec<Fixtures>,
    /// What it waits for, when it is due.
    due: Option<String>,
}

/// A folder of fixtures, and the test that reads it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixtures {
    /// Relative to the workspace.
    folder: PathBuf,
    test: TestName,
}

/// What the run says of the matrix.
pub(crate) struct Judgement {
    pub(crate) table: String,
    /// Rows that block, with the reason.
    pub(crate) blocking: Vec<String>,
    pub(crate) due: usize,
}

impl Matrix {
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file);
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        let matrix: Self = toml::from_str(&text)?;
        matrix.check()?;
        Ok(matrix)
    }

    fn check(&self) -> anyhow::Result<()> {
        for profile in ProfileName::ALL {
            let pattern = format!("{}/*", profile.as_str());
            if !self.rows.iter().any(|row| row.scenarios.contains(&pattern)) {
                bail!(
                    "no row of the matrix has the profile `{}`",
                    profile.as_str()
                );
            }
        }
        for (index, row) in self.rows.iter().enumerate() {
            if self.rows[..index]
                .iter()
                .any(|other| other.name == row.name)
            {
                bail!("two rows of the matrix are called `{}`", row.name);
            }
        }
        Ok(())
    }

    /// The tests that rows name.
    pub(crate) fn tests(&self) -> BTreeSet<TestName> {
        let tests = self.rows.iter().flat_map(Row::named);
        tests.cloned().collect()
    }

    #[cfg(test)]
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// Holds the rows against what ran.
    pub(crate) fn judge(&self, outcomes: &[Outcome], ran: &Ran) -> Judgement {
        let width = self
            .rows
            .iter()
            .map(|row| row.name.len())
            .max()
            .unwrap_or(0);
        let mut judgement = Judgement {
            table: format!(
                "{:width$}  scenarios  tests  pass  fail  divergent  deliberate  due\n",
                "row"
            ),
            blocking: Vec::new(),
            due: 0,
        };
        for row in &self.rows {
            row.judge(outcomes, ran, width, &mut judgement);
        }
        judgement
    }
}

impl Row {
    #[cfg(test)]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    #[cfg(test)]
    pub(crate) fn is_shown_by_scenarios_only(&self) -> bool {
        self.due.is_none() && self.named().next().is_none()
    }

    #[cfg(test)]
    pub(crate) fn names(&self, scenario: &str) -> bool {
        let mut patterns = self.scenarios.iter();
        patterns.any(|pattern| matches(pattern, scenario))
    }

    fn named(&self) -> impl Iterator<Item = &TestName> {
        let suites = self.fixtures.iter().map(|suite| &suite.test);
        self.tests.iter().chain(&self.crashes).chain(suites)
    }

    fn judge(&self, outcomes: &[Outcome], ran: &Ran, width: usize, judgement: &mut Judgement) {
        let matched = |pattern: &str| -> Vec<&Outcome> {
            outcomes
                .iter()
                .filter(|outcome| matches(pattern, &outcome.id))
                .collect()
        };
        let mut block = |reason: String| {
            judgement
                .blocking
                .push(format!("`{}`: {reason}", self.name));
        };
        let mut evidence = Vec::new();
        for pattern in &self.scenarios {
            let found = matched(pattern);
            if found.is_empty() {
                block(format!("no scenario is called `{pattern}`"));
            }
            evidence.extend(found);
        }
        let count = |verdict: &str| {
            let same = evidence
                .iter()
                .filter(|outcome| outcome.verdict.as_str() == verdict);
            same.count()
        };
        for suite in &self.fixtures {
            if !holds_a_file(&suite.folder) {
                block(format!(
                    "there are no fixtures in `{}`",
                    suite.folder.display()
                ));
            }
        }
        let mut tests = [0, 0];
        for test in self.named() {
            match ran.get(test) {
                Some(Ended::Passed) => tests[0] += 1,
                Some(Ended::Failed) => {
                    tests[1] += 1;
                    block(format!("the test `{test}` failed"));
                }
                None => block(format!("the test `{test}` did not run")),
            }
        }
        let [passed, tests_failed] = tests;
        let failed = count("fail");
        let shown = count("pass") + count("deliberate") + count("divergent") + failed;
        match &self.due {
            Some(_) => judgement.due += 1,
            None if shown + passed + tests_failed == 0 => {
                block("nothing that ran shows it".to_owned());
            }
            None => {}
        }
        if failed > 0 {
            block(format!("{failed} scenarios failed"));
        }
        let due = match (&self.due, count("due")) {
            (Some(waits_for), _) => format!("due: {waits_for}"),
            (None, 0) => String::new(),
            (None, due) => due.to_string(),
        };
        let _ = writeln!(
            judgement.table,
            "{:width$}  {:9}  {:5}  {:4}  {:4}  {:9}  {:10}  {due}",
            self.name,
            evidence.len(),
            self.named().count(),
            count("pass") + passed,
            failed + tests_failed,
            count("divergent"),
            count("deliberate"),
        );
    }
}

fn holds_a_file(folder: &Path) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let entries = std::fs::read_dir(root.join(folder));
    entries.is_ok_and(|mut entries| entries.next().is_some())
}

/// Whether a pattern, in which `*` stands for any text, is an id.
fn matches(pattern: &str, id: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == id,
        Some((start, rest)) => id.strip_prefix(start).is_some_and(|id| {
            let ends = id.char_indices().map(|(at, _)| at).chain([id.len()]);
            ends.into_iter().any(|at| matches(rest, &id[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::suite::Verdict;

    fn outcome(id: &str, verdict: Verdict) -> Outcome {
        let profile = id.split('/').next().unwrap_or_default().to_owned();
        Outcome {
            id: id.to_owned(),
            profile,
            verdict,
        }
    }

    fn check(row: &str, outcomes: &[Outcome], blocking: &[&str]) {
        let matrix: Matrix = toml::from_str(&format!("[[row]]\nname = 'r'\n{row}")).unwrap();
        let test = |name: &str| format!("b: {name}").parse::<TestName>().unwrap();
        let ran = Ran::from([
            (test("passes"), Ended::Passed),
            (test("fails"), Ended::Failed),
        ]);
        assert_eq!(matrix.judge(outcomes, &ran).blocking, blocking, "{row}");
    }

    #[test]
    fn a_test_is_evidence_when_it_ran_and_passed() {
        check("tests = ['b: passes']", &[], &[]);
        check("crashes = ['b: passes']", &[], &[]);
        check(
            "tests = ['b: fails']",
            &[],
            &["`r`: the test `b: fails` failed"],
        );
        check(
            "crashes = ['b: gone']",
            &[],
            &[
                "`r`: the test `b: gone` did not run",
                "`r`: nothing that ran shows it",
            ],
        );
        // Evidence that is named must exist, also when the row is due.
        check(
            "due = 'a plane'\ntests = ['b: gone']",
            &[],
            &["`r`: the test `b: gone` did not run"],
        );
        check(
            "fixtures = [{ folder = 'docs', test = 'b: passes' }]",
            &[],
            &[],
        );
        check(
            "fixtures = [{ folder = 'nowhere', test = 'b: passes' }]",
            &[],
            &["`r`: there are no fixtures in `nowhere`"],
        );
    }

    #[test]
    fn a_row_without_evidence_that_ran_blocks() {
        let passed = outcome("p/a", Verdict::Passed);
        check("scenarios = ['p/*']", from_ref(&passed), &[]);
        check(
            "scenarios = ['p/*']",
            &[outcome("p/a", Verdict::Due)],
            &["`r`: nothing that ran shows it"],
        );
        check("", from_ref(&passed), &["`r`: nothing that ran shows it"]);
        check("due = 'a plane'", &[], &[]);
        check(
            "scenarios = ['p/a', 'p/gone']",
            from_ref(&passed),
            &["`r`: no scenario is called `p/gone`"],
        );
        let failed = outcome("p/b", Verdict::Failed(String::new()));
        check(
            "scenarios = ['p/*']",
            &[passed, failed],
            &["`r`: 1 scenarios failed"],
        );
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("*/one_*", "p/one_failure"));
        assert!(matches("p/*", "p/a"));
        assert!(matches("p/a", "p/a"));
        assert!(!matches("p/a", "p/ab"));
        assert!(!matches("*/one_*", "p/two"));
    }
}
