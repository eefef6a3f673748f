//! What the campaign is asked for.

use triplane_crash::bug::BUGS;

pub(crate) const HELP: &str = "\
cargo xtask crash [--iterations N] [--seed N] [--lanes N] [--json]
    kills children at every labelled failpoint in turn and at random instants, N times (2000), and
    judges the store after every kill and after its recovery
cargo xtask crash --planted [--seed N] [--json]
    plants known bugs one at a time: the campaign must find each; --bug NAME plants one of them in
    kills and power cuts
cargo xtask crash --stops [--intents N] [--seed N] [--json]
    two and four workers share N intents (10000) and are stopped for up to three leases
cargo xtask crash --power [--iterations N] [--seed N] [--json]
    cuts the power of a disk in a file, N times (20); needs root, and is skipped without
cargo xtask crash --labels
    works without a kill: every label must be visited
";

/// How often the power is cut unless a number is given after the option.
const POWER_CUTS: u64 = 20;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Help,
    Kills,
    Planted,
    Labels,
    Stops,
    Power,
}

/// How it is to be done.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) mode: Mode,
    /// How many kills.
    pub(crate) iterations: u64,
    /// How many intents several workers share.
    pub(crate) intents: u64,
    /// The bug that is planted.
    pub(crate) bug: Option<&'static str>,
    pub(crate) seed: u64,
    /// How many runs go on at the same time.
    pub(crate) lanes: u64,
    pub(crate) json: bool,
}

impl Choice {
    pub(crate) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut choice = Self {
            mode: Mode::Kills,
            iterations: 2_000,
            intents: 10_000,
            bug: None,
            seed: 1,
            lanes: 2,
            json: false,
        };
        let mut left = arguments.iter();
        while let Some(argument) = left.next() {
            let mut number = || {
                let text = left.next().ok_or(format!("{argument} needs a number"))?;
                text.parse::<u64>()
                    .map_err(|_error| format!("{argument} needs a number, not {text:?}"))
            };
            match argument.as_str() {
                "--iterations" => choice.iterations = number()?.max(1),
                "--intents" => choice.intents = number()?.max(1),
                "--seed" => choice.seed = number()?,
                "--lanes" => choice.lanes = number()?.clamp(1, 16),
                "--json" => choice.json = true,
                "--stops" => choice.mode = Mode::Stops,
                "--power" => {
                    choice.mode = Mode::Power;
                    choice.iterations = choice.iterations.min(POWER_CUTS);
                }
                "--bug" => {
                    let name = left.next().map(String::as_str);
                    let known = BUGS.iter().find(|bug| Some(bug.name) == name);
                    choice.bug = Some(known.ok_or("--bug needs the name of a planted bug")?.name);
                }
                "--labels" => choice.mode = Mode::Labels,
                "--planted" => choice.mode = Mode::Planted,
                "--help" | "-h" | "help" => choice.mode = Mode::Help,
                other => return Err(format!("no such option: {other}")),
            }
        }
        Ok(choice)
    }
}
