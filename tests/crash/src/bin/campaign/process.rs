//! Starting children, and how they end.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use triplane_crash::bug::Road;
use triplane_crash::order;

/// A child that takes longer is stuck.
const TIME_MAX: Duration = Duration::from_mins(1);
/// How often a child is looked at.
const LOOK: Duration = Duration::from_millis(1);

/// How a child is to be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, when its task is done.
    Done,
    /// At the n-th visit of a label.
    At(&'static str, u32),
    /// From outside, after so many microseconds.
    After(u64),
}

impl End {
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Done => "done".to_owned(),
            Self::At(label, visit) => format!("{label}:{visit}"),
            Self::After(us) => format!("after {us} us"),
        }
    }
}

/// How a child has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It was killed, as it was to be.
    Killed,
    /// Its task was done before.
    Done,
    /// It failed, and said this.
    Failed(String),
    /// It came to no end.
    Stuck,
}

/// What a child is started with.
#[derive(Debug, Clone)]
pub(crate) struct Order<'o> {
    pub(crate) folder: &'o Path,
    pub(crate) task: &'static str,
    pub(crate) seed: u64,
    pub(crate) clock_us: i64,
    pub(crate) bug: Option<&'static str>,
    /// The road to the disk; without it, the seed decides.
    pub(crate) road: Option<Road>,
    pub(crate) end: &'o End,
    /// Where the store is, when it is not in the folder.
    pub(crate) store: Option<&'o Path>,
    /// How many facts are told by a filling child.
    pub(crate) count: u64,
}

/// The folder of this program, where its children are too.
pub(crate) fn programs() -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe()?;
    Ok(this.parent().context("a program has a folder")?.to_owned())
}

impl<'o> Order<'o> {
    /// A task that is to be done to its end.
    pub(crate) const fn new(folder: &'o Path, task: &'static str, clock_us: i64) -> Self {
        Self {
            folder,
            task,
            seed: 0,
            clock_us,
            bug: None,
            road: None,
            end: &End::Done,
            store: None,
            count: 0,
        }
    }

    /// Starts the child and waits for its end.
    pub(crate) fn carry_out(&self) -> anyhow::Result<Ended> {
        let log = self.folder.join("child.log");
        let mut child = self.start(&log)?;
        let started = Instant::now();
        if let End::After(us) = self.end {
            sleep(Duration::from_micros(*us));
            // A child that is done already is not there to be killed.
            child.kill().ok();
        }
        loop {
            if let Some(status) = child.try_wait()? {
                return ended(status, &log);
            }
            if started.elapsed() > TIME_MAX {
                child.kill()?;
                child.wait()?;
                return Ok(Ended::Stuck);
            }
            sleep(LOOK);
        }
    }

    pub(crate) fn start(&self, log: &Path) -> anyhow::Result<Child> {
        let program = programs()?.join("triplane-crash-child");
        let mut command = Command::new(&program);
        command
            .env(order::FOLDER, self.folder)
            .env(order::TASK, self.task)
            .env(order::SEED, self.seed.to_string())
            .env(order::CLOCK, self.clock_us.to_string())
            .env_remove(order::BUG)
            .env_remove(order::ROAD)
            .env_remove(order::POINT)
            .stdin(Stdio::null())
            .stdout(File::create(self.folder.join("visits.json"))?)
            .stderr(File::create(log)?);
        command.env(order::COUNT, self.count.to_string());
        match self.store {
            Some(store) => command.env(order::STORE, store),
            None => command.env_remove(order::STORE),
        };
        if let Some(road) = self.road {
            command.env(order::ROAD, road.as_str());
        }
        if let Some(bug) = self.bug {
            command.env(order::BUG, bug);
        }
        if let End::At(label, visit) = self.end {
            command.env(order::POINT, format!("{label}:{visit}"));
        }
        let started = command.spawn();
        started.with_context(|| format!("cannot start {}", program.display()))
    }
}

pub(crate) fn ended(status: ExitStatus, log: &Path) -> anyhow::Result<Ended> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(Ended::Done),
        (None, Some(9)) => Ok(Ended::Killed),
        (Some(2), _) => bail!("{}", fs::read_to_string(log)?.trim()),
        _ => {
            let says = fs::read_to_string(log)?;
            Ok(Ended::Failed(format!("{status}: {}", says.trim())))
        }
    }
}
