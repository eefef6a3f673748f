//! `cargo xtask layers`: who may know whom.
//!
//! Fails on an arrow between crates that is not allowed, on a module that imports one declared
//! below it, on a source file that no module declares, on a path in ARCHITECTURE.md that does not
//! exist, on a legacy name that runs handlers by itself, and on anyone but the conformance runner who
//! asks for altered policies. Long files are only reported.

mod arrows;
mod order;
mod orphans;
mod concepts;
mod legacy;
mod seam;
mod length;

use crate::finding::Finding;
use crate::workspace::Workspace;

/// Runs every check; the findings are in the order of the checks, then by place.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for mut part in [
        arrows::check(workspace),
        arrows::testkit_stays_in_integration_tests(workspace)?,
        order::check(workspace),
        orphans::check(workspace)?,
        concepts::check(workspace)?,
        legacy::check(workspace)?,
        seam::check(workspace),
        length::check(workspace)?,
    ] {
        part.sort();
        part.dedup();
        findings.append(&mut part);
    }
    Ok(findings)
}
