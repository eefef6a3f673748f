//! The Phase 0 matrix (ADR-0120): what must be shown, and the evidence that ran for it.
//!
//! A row without evidence that ran blocks, and so does evidence that is named and does not exist. A row
//! whose plane comes later is due: it is shown as that, and never as passed.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use triplane_kernel::profile::ProfileName;

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
struct Row {
    name: String,
    /// Patterns of scenario ids; `*` stands for anything.
    #[serde(default)]
    scenarios: Vec<String>,
    /// What it waits for, when it is due.
    due: Option<String>,
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

    /// Holds the rows against what ran.
    pub(crate) fn judge(&self, outcomes: &[Outcome]) -> Judgement {
        let width = self
            .rows
            .iter()
            .map(|row| row.name.len())
            .max()
            .unwrap_or(0);
        let mut judgement = Judgement {
            table: format!("{:width$}  scenarios  pass  fail  deliberate  due\n", "row"),
            blocking: Vec::new(),
            due: 0,
        };
        for row in &self.rows {
            row.judge(outcomes, width, &mut judgement);
        }
        judgement
    }
}

impl Row {
    fn judge(&self, outcomes: &[Outcome], width: usize, judgement: &mut Judgement) {
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
        let failed = count("fail");
        let ran = count("pass") + count("deliberate") + failed;
        match &self.due {
            Some(_) => judgement.due += 1,
            None if ran == 0 => block("nothing that ran shows it".to_owned()),
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
            "{:width$}  {:9}  {:4}  {:4}  {:10}  {due}",
            self.name,
            evidence.len(),
            count("pass"),
            failed,
            count("deliberate"),
        );
    }
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
        assert_eq!(matrix.judge(outcomes).blocking, blocking, "{row}");
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
