//! A tree of scenarios beside a tree of recorded traces.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::Context as _;
use serde_json::Value as Json;
use triplane::legacy::Value;

use crate::adapter::PROFILES;
use crate::compare::difference;
use crate::fields::Fields as _;
use crate::script;

/// Where scenarios, what was recorded of them, and what is wanted instead are.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) scenarios: PathBuf,
    pub(crate) traces: PathBuf,
    /// Traces of scenarios in which the project differs on purpose.
    pub(crate) deliberate: Option<PathBuf>,
}

/// What came of one scenario.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) id: String,
    pub(crate) profile: String,
    pub(crate) verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is as recorded.
    Passed,
    /// It differs from what was recorded, on purpose, and is as wanted.
    Deliberate,
    /// It differs, and how; or it could not be run.
    Failed(String),
    /// Its profile has no legacy name yet.
    Due,
}

impl Verdict {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Deliberate => "deliberate",
            Self::Failed(_) => "fail",
            Self::Due => "due",
        }
    }
}

impl Tree {
    /// The tree of the repository.
    pub(crate) fn recorded() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self {
            scenarios: root.join("scenarios"),
            traces: root.join("traces"),
            deliberate: Some(root.join("deliberate")),
        }
    }

    /// Runs every scenario whose id holds `filter`, in the order of their files.
    pub(crate) fn run(&self, filter: &str) -> anyhow::Result<Vec<Outcome>> {
        let mut files = Vec::new();
        collect(&self.scenarios, &mut files)?;
        files.sort();
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let workers = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let work = || -> anyhow::Result<()> {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(outcome) = self.run_file(file, filter)? {
                        done.lock()
                            .expect("no panic holds the lock")
                            .push((file, outcome));
                    }
                }
                Ok(())
            };
            let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            for worker in running {
                worker.join().expect("a scenario that panics is caught")?;
            }
            anyhow::Ok(())
        })?;
        let mut done = done.into_inner().expect("no panic holds the lock");
        done.sort_by_key(|(file, _)| *file);
        Ok(done.into_iter().map(|(_, outcome)| outcome).collect())
    }

    fn run_file(&self, file: &Path, filter: &str) -> anyhow::Result<Option<Outcome>> {
        let scenario: Value = read(file)?;
        let (id, profile) = (
            scenario.text("id").to_owned(),
            scenario.text("profile").to_owned(),
        );
        if !id.contains(filter) {
            return Ok(None);
        }
        let verdict = if PROFILES.contains(&profile.as_str()) {
            self.judge(file, &scenario)
                .unwrap_or_else(|error| Verdict::Failed(format!("    {error:#}\n")))
        } else {
            Verdict::Due
        };
        Ok(Some(Outcome {
            id,
            profile,
            verdict,
        }))
    }

    fn judge(&self, file: &Path, scenario: &Value) -> anyhow::Result<Verdict> {
        let place = file.strip_prefix(&self.scenarios)?;
        let recorded: Json = read(&self.traces.join(place))?;
        // A handler or an adapter of the runner may panic outside of the code under test. Nothing but the
        // scenario is looked at afterwards, and a run only reads it.
        let came = catch_unwind(AssertUnwindSafe(|| script::trace(scenario)));
        let came = came.map_err(|_| anyhow::anyhow!("the run panicked"))??;
        let wanted = self.deliberate.as_ref().map(|folder| folder.join(place));
        let Some(wanted) = wanted.filter(|file| file.exists()) else {
            return Ok(verdict(&recorded, &came, Verdict::Passed));
        };
        let wanted: Json = read(&wanted)?;
        if difference(&recorded, &wanted).is_none() {
            return Ok(Verdict::Failed(
                "    what is wanted is what was recorded: it is no difference\n".to_owned(),
            ));
        }
        Ok(verdict(&wanted, &came, Verdict::Deliberate))
    }
}

fn verdict(wanted: &Json, came: &Json, same: Verdict) -> Verdict {
    difference(wanted, came).map_or(same, Verdict::Failed)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()));
    for entry in entries? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|kind| kind == "json") {
            files.push(path);
        }
    }
    Ok(())
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("{} is not what it should be", file.display()))
}
