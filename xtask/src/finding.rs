//! What a check found wrong, and how it is printed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One broken rule, with the place where it is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, relative to the workspace's root.
    pub(crate) file: PathBuf,
    /// The line, from 1; 0 when the finding is about the whole file.
    pub(crate) line: u32,
    /// A sentence that names the rule and the parties.
    pub(crate) message: String,
    /// Whether the check fails because of it.
    pub(crate) weight: Weight,
}

/// Whether a finding fails its check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// The check fails.
    Fails,
    /// It is only reported.
    Noted,
}

impl Finding {
    /// A finding that fails its check.
    pub(crate) fn fails(file: &Path, line: u32, message: String) -> Self {
        Self {
            file: file.to_owned(),
            line,
            message,
            weight: Weight::Fails,
        }
    }

    /// A finding that is only reported.
    pub(crate) fn noted(file: &Path, message: String) -> Self {
        Self {
            weight: Weight::Noted,
            ..Self::fails(file, 0, message)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        match self.weight {
            Weight::Fails => write!(f, ": {}", self.message),
            Weight::Noted => write!(f, ": note: {}", self.message),
        }
    }
}

/// Prints the findings of `check` and tells how it ended.
pub(crate) fn report(check: &str, findings: &[Finding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    let failures = failures(findings);
    if failures == 0 {
        println!("{check}: ok");
        return ExitCode::SUCCESS;
    }
    println!("{check}: {failures} broken");
    ExitCode::FAILURE
}

/// How many of the findings fail their check.
pub(crate) fn failures(findings: &[Finding]) -> usize {
    let fails = |finding: &&Finding| finding.weight == Weight::Fails;
    findings.iter().filter(fails).count()
}
