//! What the command is asked for.

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use crate::adapter::PROFILES;
use crate::live::Live;
use crate::suite::Tree;

pub(crate) const USAGE: &str = "\
cargo xtask conformance [--filter TEXT] [--json] [--release] [--scenarios DIR --traces DIR]
cargo xtask conformance --mutations [--filter TEXT] [--json]
cargo xtask conformance --record [--scenarios DIR --traces DIR]
cargo xtask conformance --live [--seed N] [--count N] [--profile NAME] [--json]

Runs every scenario, and the tests that rows of the matrix name.

  --filter TEXT    only scenarios whose id holds TEXT; the matrix is not judged
  --json           one object for each scenario, then a summary
  --release        what is due fails, too
  --scenarios DIR --traces DIR   another tree; the matrix is not judged
  --mutations      change the profiles, field by field: each change must turn a scenario red, or be
                   listed in unobservable.toml; --filter TEXT: only profiles whose name holds TEXT
  --record         record every trace again with the old package
  --live           random scenarios on the old package and here; what differs is made smaller, shown,
                   and written to target/conformance/live
  --seed N         which random scenarios: the same for the same number; 1 unless told
  --count N        how many of each profile; 300 unless told
  --profile NAME   of this profile only

--record and --live make a Python environment in target/conformance, from the package index.

Ends with 1 when a scenario fails or differs, a row of the matrix has no evidence, or a change is not
accounted for; with 2 when it cannot be run as asked; with 3 when there is no Python or no network for
--record or --live.
";

/// The options of one run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) task: Task,
    pub(crate) filter: String,
    pub(crate) report: Report,
    pub(crate) due: Due,
    pub(crate) tree: Tree,
    pub(crate) evidence: Evidence,
    /// Whether what ran is all that the matrix asks for.
    pub(crate) judged: Judged,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    Scenarios,
    Mutations,
    Record,
    Live(Live),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    Allowed,
    Fails,
}

/// What is run for the matrix. There is no option for less: what does not run is no evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    Everything,
    #[cfg(test)]
    ScenariosOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    Matrix,
    ScenariosOnly,
}

impl Options {
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self {
            task: Task::Scenarios,
            filter: String::new(),
            report: Report::Text,
            due: Due::Allowed,
            tree: Tree::recorded(),
            evidence: Evidence::Everything,
            judged: Judged::Matrix,
        };
        let (mut scenarios, mut traces) = (None, None);
        let mut live = Live {
            seed: 1,
            count: 300,
            profiles: PROFILES.to_vec(),
        };
        let (mut is_live, mut only_live) = (false, None);
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .with_context(|| format!("{argument} needs a value"))
            };
            if matches!(argument.as_str(), "--seed" | "--count" | "--profile") {
                only_live = Some(argument.clone());
            }
            match argument.as_str() {
                "--filter" => options.filter = value()?,
                "--scenarios" => scenarios = Some(PathBuf::from(value()?)),
                "--traces" => traces = Some(PathBuf::from(value()?)),
                "--json" => options.report = Report::Json,
                "--mutations" => options.task = Task::Mutations,
                "--record" => options.task = Task::Record,
                "--live" => is_live = true,
                "--seed" => live.seed = number(&argument, &value()?)?,
                "--count" => live.count = number(&argument, &value()?)?,
                "--profile" => live.profiles = vec![profile(&value()?)?],
                "--release" => options.due = Due::Fails,
                other => bail!("no such option: {other}\n\n{USAGE}"),
            }
        }
        if let Some(option) = only_live
            && !is_live
        {
            bail!("{option} is for --live\n\n{USAGE}");
        }
        if is_live {
            options.task = Task::Live(live);
        }
        match (scenarios, traces) {
            (None, None) => {}
            (Some(scenarios), Some(traces)) => {
                options.tree = Tree {
                    scenarios,
                    traces,
                    deliberate: None,
                };
                options.judged = Judged::ScenariosOnly;
            }
            _ => bail!("--scenarios and --traces go together\n\n{USAGE}"),
        }
        if !options.filter.is_empty() {
            options.judged = Judged::ScenariosOnly;
        }
        Ok(options)
    }
}

fn number(option: &str, text: &str) -> anyhow::Result<u64> {
    text.parse()
        .with_context(|| format!("{option} needs a whole number, not `{text}`"))
}

/// The profile of this name, if it has an adapter.
fn profile(name: &str) -> anyhow::Result<&'static str> {
    let mut profiles = PROFILES.iter().copied();
    profiles.find(|profile| *profile == name).with_context(|| {
        format!(
            "no profile `{name}` has an adapter; those that have: {}",
            PROFILES.join(", ")
        )
    })
}
