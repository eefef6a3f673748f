//! Whether the campaign finds bugs: each is planted alone, and must be caught within its budget.

use std::fs;

use serde::Serialize;
use triplane_crash::bug::{BUDGET, BUGS, Bug};

use crate::choice::Choice;
use crate::kills::plan;
use crate::process::End;

/// What became of one bug.
#[derive(Debug, Serialize)]
struct Caught {
    bug: &'static str,
    says: &'static str,
    /// The invariant that did not hold; nothing when the bug was not found.
    #[serde(rename = "caught_by")]
    by: Option<String>,
    /// How many kills it took.
    kills: u64,
    finding: Option<String>,
}

/// Plants every bug; answers whether each was caught.
pub(crate) fn run(choice: &Choice) -> anyhow::Result<bool> {
    let mut all = true;
    for bug in BUGS {
        let caught = hunt(bug, choice.seed)?;
        all &= caught.by.is_some();
        if choice.json {
            println!("{}", serde_json::to_string(&caught)?);
        } else {
            let by = caught.by.as_deref().unwrap_or("NOT CAUGHT");
            println!("{}, {by}, {} kills", bug.name, caught.kills);
        }
        eprintln!(
            "  {}: {}",
            bug.says,
            caught.finding.as_deref().unwrap_or("not found")
        );
    }
    Ok(all)
}

fn hunt(bug: &'static Bug, seed: u64) -> anyhow::Result<Caught> {
    let mut caught = Caught {
        bug: bug.name,
        says: bug.says,
        by: None,
        kills: 0,
        finding: None,
    };
    for n in 0..BUDGET {
        if caught.kills >= BUDGET {
            break;
        }
        let mut plan = plan(seed.wrapping_add(n), Some(bug.name));
        if let Some(label) = bug
            .labels
            .get(usize::try_from(n)? % bug.labels.len().max(1))
        {
            let visit = u32::try_from(n / bug.labels.len() as u64)? + 2;
            plan.ends = vec![End::At(label, visit % 12 + 1)];
            plan.older |= label.starts_with("migrate");
        }
        let report = plan.carry_out()?;
        caught.kills += report.tally.kills;
        if let Some(kept) = &report.kept {
            fs::remove_dir_all(kept)?;
        }
        if let Some(finding) = report.findings.first() {
            caught.by = Some(format!("{:?}", finding.invariant));
            caught.finding = Some(finding.says.clone());
            break;
        }
    }
    Ok(caught)
}
