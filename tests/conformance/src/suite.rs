//! A tree of scenarios beside a tree of recorded traces.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use anyhow::Context as _;
use serde_json::Value as Json;
use triplane::legacy::Value;

use crate::adapter::PROFILES;
use crate::alteration::Alteration;
use crate::compare::{difference, is_same};
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
    /// It differs, and cannot be represented: `divergent.toml` says why.
    Divergent,
    /// Its profile has no legacy name yet.
    Due,
}

impl Verdict {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Deliberate => "deliberate",
            Self::Failed(_) => "fail",
            Self::Divergent => "divergent",
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

    /// Traces without a scenario: nothing would ever be held against them.
    pub(crate) fn orphans(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut orphans = Vec::new();
        for folder in [Some(&self.traces), self.deliberate.as_ref()] {
            let Some(folder) = folder else { continue };
            let mut files = Vec::new();
            collect(folder, &mut files)?;
            files.sort();
            for file in files {
                let place = file.strip_prefix(folder)?;
                if !self.scenarios.join(place).exists() {
                    orphans.push(place.to_owned());
                }
            }
        }
        Ok(orphans)
    }

    /// The scenarios of a profile, in the order of their files.
    pub(crate) fn cases(&self, profile: &str) -> anyhow::Result<Vec<Case>> {
        let mut files = Vec::new();
        collect(&self.scenarios, &mut files)?;
        files.sort();
        let mut cases = Vec::new();
        for file in files {
            let case = Case::read(self, &file)?;
            if case.profile() == profile {
                cases.push(case);
            }
        }
        Ok(cases)
    }

    fn run_file(&self, file: &Path, filter: &str) -> anyhow::Result<Option<Outcome>> {
        let case = Case::read(self, file)?;
        if !case.id().contains(filter) {
            return Ok(None);
        }
        let verdict = if PROFILES.contains(&case.profile()) {
            case.judge()
                .unwrap_or_else(|error| Verdict::Failed(format!("    {error:#}\n")))
        } else {
            Verdict::Due
        };
        Ok(Some(Outcome {
            id: case.id().to_owned(),
            profile: case.profile().to_owned(),
            verdict,
        }))
    }
}

/// One scenario, with what was recorded of it and what is wanted instead.
pub(crate) struct Case {
    scenario: Value,
    recorded: anyhow::Result<Json>,
    wanted: Option<anyhow::Result<Json>>,
}

impl Case {
    fn read(tree: &Tree, file: &Path) -> anyhow::Result<Self> {
        let place = file.strip_prefix(&tree.scenarios)?;
        let wanted = tree.deliberate.as_ref().map(|folder| folder.join(place));
        Ok(Self {
            scenario: read(file)?,
            recorded: read(&tree.traces.join(place)),
            wanted: wanted.filter(|file| file.exists()).map(|file| read(&file)),
        })
    }

    pub(crate) fn id(&self) -> &str {
        self.scenario.text("id")
    }

    pub(crate) fn profile(&self) -> &str {
        self.scenario.text("profile")
    }

    /// Runs the scenario, and holds what came against its trace.
    fn judge(&self) -> anyhow::Result<Verdict> {
        let recorded = present(&self.recorded)?;
        let came = self.came(None)?;
        let Some(wanted) = &self.wanted else {
            return Ok(verdict(recorded, &came, Verdict::Passed));
        };
        let wanted = present(wanted)?;
        if is_same(recorded, wanted) {
            return Ok(Verdict::Failed(
                "    what is wanted is what was recorded: it is no difference\n".to_owned(),
            ));
        }
        Ok(verdict(wanted, &came, Verdict::Deliberate))
    }

    /// Whether the scenario notices this change of its profile. A run that fails does: it would be
    /// reported as that.
    pub(crate) fn notices(&self, altered: &Arc<Alteration>) -> bool {
        let wanted = present(self.wanted.as_ref().unwrap_or(&self.recorded));
        match (wanted, self.came(Some(altered))) {
            (Ok(wanted), Ok(came)) => !is_same(wanted, &came),
            (Err(_), _) | (_, Err(_)) => true,
        }
    }

    /// Whether the scenario passes as things are.
    pub(crate) fn passes(&self) -> bool {
        matches!(self.judge(), Ok(Verdict::Passed | Verdict::Deliberate))
    }

    fn came(&self, altered: Option<&Arc<Alteration>>) -> anyhow::Result<Json> {
        // A handler or an adapter of the runner may panic outside of the code under test. Nothing but the
        // scenario is looked at afterwards, and a run only reads it.
        let came = catch_unwind(AssertUnwindSafe(|| {
            script::trace(&self.scenario, altered.cloned())
        }));
        came.map_err(|_| anyhow::anyhow!("the run panicked"))?
    }
}

fn present(read: &anyhow::Result<Json>) -> anyhow::Result<&Json> {
    read.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))
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
