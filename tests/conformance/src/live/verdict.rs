//! Whether what came is what was recorded, and whether a difference is one on purpose.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value as Json;
use triplane::legacy::Value;

use crate::compare::difference;
use crate::fields::Fields as _;
use crate::live::edit::without_ops;
use crate::recorder::Recorder;
use crate::script;

/// What a scenario's other side did with it.
pub(crate) trait Reference {
    /// The trace of the other side.
    fn trace(&mut self, scenario: &Value) -> anyhow::Result<Json>;
}

impl Reference for Recorder {
    fn trace(&mut self, scenario: &Value) -> anyhow::Result<Json> {
        Self::trace(self, scenario)
    }
}

/// What came of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Same,
    /// It differs as it should.
    Deliberate,
    /// It differs, and how.
    Differs(String),
    /// It could not be run here, and why.
    Broken(String),
}

/// Holds what comes here against what was recorded.
pub(crate) fn judge(
    scenario: &Value,
    recorded: &Json,
    reference: &mut dyn Reference,
) -> anyhow::Result<Verdict> {
    let verdict = compare(scenario, recorded);
    if verdict != Verdict::Same && is_deliberate(scenario, reference)? {
        return Ok(Verdict::Deliberate);
    }
    Ok(verdict)
}

fn compare(scenario: &Value, recorded: &Json) -> Verdict {
    match came(scenario) {
        Ok(came) => difference(recorded, &came).map_or(Verdict::Same, Verdict::Differs),
        Err(error) => Verdict::Broken(format!("    {error:#}\n")),
    }
}

fn came(scenario: &Value) -> anyhow::Result<Json> {
    // The run only reads the scenario.
    let came = catch_unwind(AssertUnwindSafe(|| script::trace(scenario, None)));
    came.map_err(|_| anyhow::anyhow!("the run panicked"))?
}

/// Whether a difference is of the one kind that is wanted: a bound sink is written to whatever the
/// gate says. Such a difference is gone without the gate, and it is gone without the sink.
fn is_deliberate(scenario: &Value, reference: &mut dyn Reference) -> anyhow::Result<bool> {
    let has = |name: &str| {
        let mut ops = scenario.list("script").iter();
        ops.any(|op| op.text("op") == name)
    };
    if scenario.text("profile") != "session_observer" || !has("gate") || !has("bind_store") {
        return Ok(false);
    }
    for parted in ["gate", "bind_store"] {
        let alone = without_ops(scenario, parted);
        let recorded = reference.trace(&alone)?;
        if compare(&alone, &recorded) != Verdict::Same {
            return Ok(false);
        }
    }
    Ok(true)
}
