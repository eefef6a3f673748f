//! One run: a store, a few kills, a recovery, and the judgement after each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;
use tempfile::TempDir;
use triplane_crash::bug::Road;
use triplane_crash::order;
use triplane_referee::{Extent, Finding, Invariant, Verdict, judge};

use crate::dice::Dice;
use crate::process::{End, Ended, Order};
use crate::tally::Tally;

/// What is done to one store.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// How its children end, one after the other.
    pub(crate) ends: Vec<End>,
    pub(crate) bug: Option<&'static str>,
    /// The road to the disk; without it, the seeds of the children decide.
    pub(crate) road: Option<Road>,
    /// Whether it begins with a store of an older program.
    pub(crate) older: bool,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    /// Where its children were killed.
    pub(crate) step: String,
    #[serde(flatten)]
    pub(crate) tally: Tally,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Finding>,
    /// Where the store and the journals are kept, when something is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<PathBuf>,
    /// How often the children that came to their end visited each label.
    #[serde(skip)]
    pub(crate) visits: BTreeMap<String, u32>,
    /// The labels that children were killed at.
    #[serde(skip)]
    pub(crate) killed_at: Vec<&'static str>,
}

/// Where the clocks of a run start, and how much later each child's: longer than any child moves it.
pub(crate) const CLOCK_START_US: i64 = 1_700_000_000_000_000;
pub(crate) const CLOCK_STEP_US: i64 = 400 * 3_600 * 1_000_000;

impl Plan {
    pub(crate) fn carry_out(&self) -> anyhow::Result<Report> {
        let folder = tempfile::Builder::new()
            .prefix("triplane-crash-")
            .tempdir()?;
        let mut report = Report::new(self.seed);
        self.in_folder(folder.path(), &mut report)?;
        keep(folder, &mut report);
        Ok(report)
    }

    fn in_folder(&self, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
        let mut dice = Dice::new(self.seed);
        let mut clock_us = CLOCK_START_US;
        let mut start = |task, end: &End, bug| {
            clock_us += CLOCK_STEP_US;
            let seed = dice.below(1_000);
            let order = Order {
                seed,
                bug,
                road: self.road,
                end,
                ..Order::new(folder, task, clock_us)
            };
            order.carry_out()
        };
        if self.older {
            let made = start("older", &End::Done, None)?;
            anyhow::ensure!(
                made == Ended::Done,
                "no older store could be made: {made:?}"
            );
        }
        let mut steps = Vec::new();
        for (n, end) in self.ends.iter().enumerate() {
            // Recoveries are killed too.
            let task = if n % 3 == 2 { "recover" } else { "work" };
            let mut end = end.clone();
            let mut ended = start(task, &end, self.bug)?;
            if let (Ended::Done, End::At(label, 2..)) = (&ended, &end) {
                // There are not so many visits; one there is, mostly.
                end = End::At(label, 1);
                ended = start(task, &end, self.bug)?;
            }
            match ended {
                Ended::Killed => {
                    report.tally.kills += 1;
                    steps.push(end.to_text());
                    if let End::At(label, _) = end {
                        report.killed_at.push(label);
                    }
                }
                Ended::Done => {
                    steps.push("done".to_owned());
                    report.read_visits(folder)?;
                }
                other => report.failed(&other),
            }
            report.judge(folder, folder, Extent::AfterKill)?;
            if !report.findings.is_empty() {
                break;
            }
        }
        report.step = steps.join(", ");
        if report.findings.is_empty() {
            match start("recover", &End::Done, self.bug)? {
                Ended::Done => report.read_visits(folder)?,
                other => report.failed(&other),
            }
            let verdict = report.judge(folder, folder, Extent::Recovered)?;
            report.tally.facts = verdict.facts;
            report.tally.dup_extra_attempts = verdict.extra_attempts;
        }
        Ok(())
    }
}

impl Report {
    pub(crate) const fn new(seed: u64) -> Self {
        Self {
            seed,
            step: String::new(),
            tally: Tally::new(),
            findings: Vec::new(),
            kept: None,
            visits: BTreeMap::new(),
            killed_at: Vec::new(),
        }
    }

    pub(crate) fn judge(
        &mut self,
        folder: &Path,
        store: &Path,
        extent: Extent,
    ) -> anyhow::Result<Verdict> {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let judged = runtime.block_on(judge(folder, store, extent, order::LEASE_US));
        let verdict = judged.with_context(|| format!("{}", folder.display()))?;
        self.tally.judged(&verdict);
        self.findings.extend(verdict.findings.iter().cloned());
        Ok(verdict)
    }

    /// A child that failed or came to no end.
    pub(crate) fn failed(&mut self, ended: &Ended) {
        self.tally.stuck += 1;
        self.findings.push(Finding {
            invariant: Invariant::I7Bounded,
            says: format!("a child: {ended:?}"),
        });
    }

    fn read_visits(&mut self, folder: &Path) -> anyhow::Result<()> {
        let text = fs::read_to_string(folder.join("visits.json"))?;
        let visits: BTreeMap<String, u32> = serde_json::from_str(&text)?;
        for (label, count) in visits {
            *self.visits.entry(label).or_default() += count;
        }
        Ok(())
    }

    /// Whether nothing is wrong.
    pub(crate) fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Keeps the folder when something was found in it.
pub(crate) fn keep(folder: TempDir, report: &mut Report) {
    if !report.is_clean() {
        report.kept = Some(folder.keep());
    }
}
