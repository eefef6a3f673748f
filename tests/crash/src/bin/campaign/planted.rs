//! Whether the campaign finds bugs: each is planted alone, and must be caught within its budget.

use std::fs;

use anyhow::bail;
use serde::Serialize;
use triplane_crash::bug::{BUDGET, BUGS, Bug, Road};

use crate::choice::Choice;
use crate::kills::plan;
use crate::process::End;

/// What became of one bug.
#[derive(Debug, Serialize)]
struct Caught {
    bug: &'static str,
    says: &'static str,
    /// The road to the disk that it is planted on.
    road: &'static str,
    /// The invariant that did not hold; nothing when the bug was not found.
    #[serde(rename = "caught_by")]
    by: Option<String>,
    /// How many kills it took.
    kills: u64,
    finding: Option<String>,
}

/// Plants every bug; answers whether each was caught.
pub(crate) fn run(choice: &Choice) -> anyhow::Result<bool> {
    for road in [Road::Ordinary, Road::Direct] {
        let mut plan = plan(choice.seed, None);
        plan.road = Some(road);
        let report = plan.carry_out()?;
        if let Some(finding) = report.findings.first() {
            // Whatever is found then would be no planted bug.
            bail!("without any bug: {:?}: {}", finding.invariant, finding.says);
        }
    }
    let mut all = true;
    let roads = BUGS
        .iter()
        .flat_map(|bug| bug.roads.iter().map(move |road| (bug, *road)));
    for (bug, road) in roads {
        let caught = hunt(bug, road, choice.seed)?;
        all &= caught.by.is_some();
        if choice.json {
            println!("{}", serde_json::to_string(&caught)?);
        } else {
            let by = caught.by.as_deref().unwrap_or("NOT CAUGHT");
            println!(
                "{}, {}, {by}, {} kills",
                bug.name, caught.road, caught.kills
            );
        }
        eprintln!(
            "  {}: {}",
            bug.says,
            caught.finding.as_deref().unwrap_or("not found")
        );
    }
    Ok(all)
}

fn hunt(bug: &'static Bug, road: Road, seed: u64) -> anyhow::Result<Caught> {
    let mut caught = Caught {
        bug: bug.name,
        says: bug.says,
        road: road.as_str(),
        by: None,
        kills: 0,
        finding: None,
    };
    for n in 0..BUDGET {
        if caught.kills >= BUDGET {
            break;
        }
        let mut plan = plan(seed.wrapping_add(n), Some(bug.name));
        plan.road = Some(road);
        let labels: Vec<_> = bug.labels.iter().filter(|it| road.has(it)).collect();
        if let Some(label) = labels.get(usize::try_from(n)? % labels.len().max(1)) {
            let visit = u32::try_from(n / labels.len() as u64)? + 2;
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
