//! Many random scenarios of several profiles, on as many workers as the machine has cores.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use anyhow::Context as _;
use serde_json::Value as Json;
use triplane::legacy::Value;

use crate::fields::Fields as _;
use crate::live::edit::with;
use crate::live::minimise::minimise;
use crate::live::verdict::{Reference, Verdict, judge};
use crate::python::{Python, target};
use crate::recorder::{Drawn, Recorder};
use crate::written;

/// How many differences of a profile are made smaller; others are counted.
const MINIMISED_MAX: usize = 10;

/// What is drawn and run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) seed: u64,
    /// How many scenarios of each profile.
    pub(crate) count: u64,
    pub(crate) profiles: Vec<&'static str>,
}

/// What came of one profile.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) profile: &'static str,
    pub(crate) same: u64,
    pub(crate) deliberate: u64,
    pub(crate) differing: u64,
    /// Those that were made smaller, in the order of their numbers.
    pub(crate) findings: Vec<Finding>,
}

/// A difference, made as small as it was found to be.
#[derive(Debug)]
pub(crate) struct Finding {
    /// The random scenario.
    pub(crate) id: String,
    pub(crate) handlers: usize,
    pub(crate) operations: usize,
    pub(crate) difference: String,
    /// The file of the smaller scenario.
    pub(crate) file: PathBuf,
}

/// The folder that a campaign writes its findings to.
#[derive(Debug)]
pub(crate) struct Campaign {
    folder: PathBuf,
}

impl Campaign {
    /// A new folder, without what an earlier campaign found.
    pub(crate) fn begin() -> anyhow::Result<Self> {
        Self::within(target().join("live"))
    }

    pub(super) fn within(folder: PathBuf) -> anyhow::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        Ok(Self { folder })
    }

    pub(crate) fn scenarios(&self) -> PathBuf {
        self.folder.join("scenarios")
    }

    pub(crate) fn traces(&self) -> PathBuf {
        self.folder.join("traces")
    }

    /// Runs the scenarios of each profile, and gives each profile's result to `done`.
    ///
    /// # Errors
    ///
    /// `Unavailable` without Python or the package index, and when a random scenario cannot be
    /// recorded: then the generator is wrong.
    pub(crate) fn run(&self, live: &Live, done: &mut dyn FnMut(&Found)) -> anyhow::Result<()> {
        let python = Python::prepare()?;
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let recorders: anyhow::Result<Vec<_>> = (0..workers)
            .map(|_| Recorder::start(&python).map(Mutex::new))
            .collect();
        let recorders = recorders?;
        for profile in &live.profiles {
            done(&self.profile(live, profile, &recorders)?);
        }
        Ok(())
    }

    fn profile(
        &self,
        live: &Live,
        profile: &'static str,
        recorders: &[Mutex<Recorder>],
    ) -> anyhow::Result<Found> {
        let (next, minimised) = (AtomicU64::new(0), AtomicUsize::new(0));
        let found = Mutex::new(Found::none(profile));
        let work = |recorder: &Mutex<Recorder>| -> anyhow::Result<()> {
            let mut recorder = recorder.lock().expect("no panic holds the lock");
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= live.count {
                    return Ok(());
                }
                let Drawn { scenario, recorded } = recorder.draw(profile, live.seed, index)?;
                let verdict = judge(&scenario, &recorded, &mut *recorder)?;
                let differs = matches!(verdict, Verdict::Differs(_) | Verdict::Broken(_));
                let finding =
                    if differs && minimised.fetch_add(1, Ordering::Relaxed) < MINIMISED_MAX {
                        Some(self.reduce(&scenario, &verdict, &mut *recorder)?)
                    } else {
                        None
                    };
                let mut found = found.lock().expect("no panic holds the lock");
                found.count(&verdict);
                found.findings.extend(finding);
            }
        };
        thread::scope(|scope| {
            let work = &work;
            let running: Vec<_> = recorders
                .iter()
                .map(|recorder| scope.spawn(move || work(recorder)))
                .collect();
            for worker in running {
                worker.join().expect("a scenario that panics is caught")?;
            }
            anyhow::Ok(())
        })?;
        let mut found = found.into_inner().expect("no panic holds the lock");
        found.findings.sort_by(|one, two| one.id.cmp(&two.id));
        Ok(found)
    }

    /// Makes a scenario smaller that came to `verdict`, and writes it.
    pub(super) fn reduce(
        &self,
        scenario: &Value,
        verdict: &Verdict,
        reference: &mut dyn Reference,
    ) -> anyhow::Result<Finding> {
        let kind = std::mem::discriminant(verdict);
        let smallest = minimise(scenario, &mut |candidate| {
            let Ok(recorded) = reference.trace(candidate) else {
                return Ok(false);
            };
            let verdict = judge(candidate, &recorded, reference)?;
            Ok(std::mem::discriminant(&verdict) == kind)
        })?;
        let id = scenario.text("id").to_owned();
        let smallest = with(
            &smallest,
            "id",
            Some(Value::text(format!("{id}_minimised"))),
        );
        let recorded = reference.trace(&smallest)?;
        let difference = match judge(&smallest, &recorded, reference)? {
            Verdict::Differs(difference) | Verdict::Broken(difference) => difference,
            Verdict::Same | Verdict::Deliberate => String::new(),
        };
        let file = self.write(&smallest, &recorded)?;
        Ok(Finding {
            id,
            handlers: smallest
                .field("handlers")
                .map_or(0, |all| all.fields().len()),
            operations: smallest.list("script").len(),
            difference,
            file,
        })
    }

    /// Writes a scenario with its trace, to be run again.
    fn write(&self, scenario: &Value, recorded: &Json) -> anyhow::Result<PathBuf> {
        let place = format!("{}.json", scenario.text("id"));
        let file = self.scenarios().join(&place);
        write(&file, &written::file(scenario))?;
        write(&self.traces().join(&place), &format!("{recorded}\n"))?;
        Ok(file)
    }
}

impl Found {
    fn none(profile: &'static str) -> Self {
        Self {
            profile,
            same: 0,
            deliberate: 0,
            differing: 0,
            findings: Vec::new(),
        }
    }

    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Same => self.same += 1,
            Verdict::Deliberate => self.deliberate += 1,
            Verdict::Differs(_) | Verdict::Broken(_) => self.differing += 1,
        }
    }
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().context("a file has a folder")?;
    fs::create_dir_all(folder)?;
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}
