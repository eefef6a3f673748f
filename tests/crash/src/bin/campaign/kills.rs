//! The kills: every label in turn, several visits of each, and random instants.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use triplane_crash::label::LABELS;

use crate::choice::Choice;
use crate::dice::Dice;
use crate::process::End;
use crate::run::{Plan, Report};
use crate::tally::Tally;

/// How many kills one store takes before it is let recover.
const KILLS_PER_RUN: u64 = 3;
/// A child's work takes about this long; random kills fall within it.
const WORK_US: u64 = 220_000;
/// How many runs pass between two lines of progress.
const PROGRESS_EVERY: u64 = 25;

/// What all lanes have done.
#[derive(Default)]
struct Sum {
    tally: Tally,
    killed_at: BTreeMap<&'static str, u64>,
}

/// Runs the campaign; answers whether nothing is wrong.
pub(crate) fn run(choice: &Choice) -> anyhow::Result<bool> {
    let started = Instant::now();
    let next = AtomicU64::new(0);
    let kills = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let sum = Mutex::new(Sum::default());
    std::thread::scope(|scope| {
        let lane = || -> anyhow::Result<()> {
            while kills.load(Ordering::Relaxed) < choice.iterations && !stop.load(Ordering::Relaxed)
            {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let plan = plan(choice.seed.wrapping_add(n), choice.bug);
                let report = plan
                    .carry_out()
                    .inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                let done = kills.fetch_add(report.tally.kills, Ordering::Relaxed);
                tell(&report, choice.json);
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                sum.tally.add(&report.tally);
                for label in &report.killed_at {
                    *sum.killed_at.entry(label).or_default() += 1;
                }
                if n.is_multiple_of(PROGRESS_EVERY) {
                    let after = started.elapsed().as_secs();
                    eprintln!("{done} of {} kills, {after} s", choice.iterations);
                }
            }
            Ok(())
        };
        let lanes: Vec<_> = (0..choice.lanes).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().try_for_each(|lane| match lane.join() {
            Ok(ended) => ended,
            Err(_panic) => anyhow::bail!("a lane has panicked"),
        })
    })?;
    let sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missed: Vec<_> = LABELS
        .iter()
        .filter(|label| !sum.killed_at.contains_key(*label))
        .collect();
    eprintln!(
        "{} of {} labels were killed at, in {} s{}",
        LABELS.len() - missed.len(),
        LABELS.len(),
        started.elapsed().as_secs(),
        if missed.is_empty() {
            String::new()
        } else {
            format!("; not at {missed:?}")
        },
    );
    println!("{}", serde_json::to_string(&sum.tally)?);
    Ok(sum.tally.is_clean())
}

/// The plan of the run with this seed: it follows from the seed alone.
pub(crate) fn plan(seed: u64, bug: Option<&'static str>) -> Plan {
    let mut dice = Dice::new(seed ^ 0x5eed);
    let label = |turn: u64| LABELS[usize::try_from(turn % LABELS.len() as u64).unwrap_or_default()];
    let mut ends = Vec::new();
    for n in 0..KILLS_PER_RUN {
        // The first child goes through the labels one by one; the others skip, and what happens once
        // in the life of a store is not met by them.
        let label = match n {
            0 => label(seed),
            _ => label(seed.wrapping_mul(7).wrapping_add(n * 11)),
        };
        if dice.below(4) == 0 || n > 0 && label.starts_with("create.") {
            ends.push(End::After(2_000 + dice.below(WORK_US)));
            continue;
        }
        if label.starts_with("lease.") {
            ends.push(End::At("send.before", 1));
        }
        let visit = match dice.below(3) {
            0 => 1,
            _ => 1 + dice.below(5),
        };
        ends.push(End::At(label, u32::try_from(visit).unwrap_or(1)));
    }
    let migrates = |end: &End| matches!(end, End::At(label, _) if label.starts_with("migrate"));
    let creates = |end: &End| matches!(end, End::At(label, _) if label.starts_with("create."));
    let older = match ends.first() {
        Some(end) if migrates(end) => dice.below(2) == 0,
        Some(end) if creates(end) => false,
        _ => dice.below(6) == 0,
    };
    Plan {
        seed,
        ends,
        bug,
        road: None,
        older,
    }
}

/// Prints the line of a run, and where it is kept when something is wrong.
pub(crate) fn tell(report: &Report, json: bool) {
    if json {
        match serde_json::to_string(report) {
            Ok(line) => println!("{line}"),
            Err(error) => eprintln!("error: {error}"),
        }
    } else {
        let Tally {
            lost,
            invented,
            torn,
            reordered,
            dup_same_attempt,
            dup_extra_attempts,
            stuck,
            ..
        } = report.tally;
        println!(
            "{}, {}, {lost}, {invented}, {torn}, {reordered}, {dup_same_attempt}, \
             {dup_extra_attempts}, {stuck}",
            report.seed, report.step
        );
    }
    if let Some(kept) = &report.kept {
        for finding in report.findings.iter().take(8) {
            eprintln!("  {:?}: {}", finding.invariant, finding.says);
        }
        eprintln!("  kept in {}", kept.display());
        eprintln!(
            "  again: cargo xtask crash --seed {} --iterations 1",
            report.seed
        );
    }
}

/// Works through stores without a kill, and says which labels were never visited.
pub(crate) fn labels(choice: &Choice) -> anyhow::Result<bool> {
    let mut visited = BTreeMap::new();
    let mut clean = true;
    let leased = vec![End::At("send.before", 1), End::Done];
    let plans = [
        (vec![End::Done, End::Done], true),
        (vec![End::Done], false),
        (leased, false),
    ];
    for (n, (ends, older)) in plans.into_iter().enumerate() {
        let plan = Plan {
            seed: choice.seed.wrapping_add(n as u64),
            ends,
            bug: None,
            road: None,
            older,
        };
        let report = plan.carry_out()?;
        clean &= report.is_clean();
        tell(&report, choice.json);
        visited.extend(report.visits);
    }
    let missed: Vec<_> = LABELS
        .iter()
        .filter(|label| !visited.contains_key(**label))
        .collect();
    let unknown: Vec<_> = visited
        .keys()
        .filter(|it| !LABELS.contains(&it.as_str()))
        .collect();
    eprintln!(
        "{} of {} labels visited",
        LABELS.len() - missed.len(),
        LABELS.len()
    );
    for label in &missed {
        println!("never visited: {label}");
    }
    for label in &unknown {
        println!("not in the list: {label}");
    }
    Ok(clean && missed.is_empty() && unknown.is_empty())
}
