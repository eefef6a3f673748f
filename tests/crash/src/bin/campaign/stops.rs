//! Two and four workers on one store, each stopped at random for up to three leases and let go again.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use triplane_crash::order;
use triplane_referee::Extent;

use crate::choice::Choice;
use crate::dice::Dice;
use crate::kills::tell;
use crate::process::{Ended, Order, ended};
use crate::run::{Report, keep};

/// The longest lease: that of a whole batch.
const BATCH: i64 = 64;
/// Whoever has not come to its end by then is stuck.
const TIME_MAX: Duration = Duration::from_mins(4);

/// Lets them work; answers whether nothing is wrong.
pub(crate) fn run(choice: &Choice) -> anyhow::Result<bool> {
    let mut clean = true;
    for workers in [2, 4] {
        let report = together(choice, workers)?;
        tell(&report, choice.json);
        println!("{}", serde_json::to_string(&report.tally)?);
        clean &= report.is_clean();
    }
    Ok(clean)
}

fn together(choice: &Choice, workers: usize) -> anyhow::Result<Report> {
    let folder = tempfile::Builder::new()
        .prefix("triplane-crash-")
        .tempdir()?;
    let path = folder.path();
    let mut report = Report::new(choice.seed);
    let order = |task| Order {
        count: choice.intents,
        ..Order::new(path, task, 0)
    };
    let filled = order("fill").carry_out()?;
    anyhow::ensure!(
        filled == Ended::Done,
        "the store was not filled: {filled:?}"
    );
    let mut children = Vec::new();
    for n in 0..workers {
        let log = path.join(format!("worker-{n}.log"));
        children.push((order("share").start(&log)?, log));
    }
    let mut dice = Dice::new(choice.seed);
    let lease_us = (order::LEASE_US * BATCH / order::FASTER).unsigned_abs();
    let (started, mut stops) = (Instant::now(), 0);
    while !children.is_empty() {
        let at = usize::try_from(dice.below(children.len() as u64))?;
        let (child, _) = &mut children[at];
        let id = i32::try_from(child.id())?;
        let pid = Pid::from_raw(id).context("a process has an id")?;
        if child.try_wait()?.is_none() {
            kill_process(pid, Signal::STOP)?;
            std::thread::sleep(Duration::from_micros(dice.below(3 * lease_us)));
            kill_process(pid, Signal::CONT)?;
            stops += 1;
        }
        std::thread::sleep(Duration::from_micros(dice.below(lease_us / 4)));
        if started.elapsed() > TIME_MAX {
            for (child, _) in &mut children {
                child.kill()?;
                child.wait()?;
            }
            report.failed(&Ended::Stuck);
            break;
        }
        let mut left = Vec::new();
        for (mut child, log) in children {
            match child.try_wait()? {
                None => left.push((child, log)),
                Some(status) => match ended(status, &log)? {
                    Ended::Done => {}
                    other => report.failed(&other),
                },
            }
        }
        children = left;
    }
    report.step = format!("{workers} workers, {stops} stops");
    let verdict = report.judge(path, path, Extent::Shared)?;
    report.tally.facts = verdict.facts;
    report.tally.dup_extra_attempts = verdict.extra_attempts;
    if verdict.facts != choice.intents {
        anyhow::bail!("{} of {} intents are there", verdict.facts, choice.intents);
    }
    keep(folder, &mut report);
    Ok(report)
}
