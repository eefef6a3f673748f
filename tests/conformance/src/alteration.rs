//! A change of a profile: some of its fields, each with another value.
//!
//! Policies are changed as they are written, so that the rules of the kernel decide which changes are
//! legal, and no value can be missed that can be written.

use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value as Json, json};
use triplane_kernel::profile::{self, ProfileName};
use triplane_kernel::{
    DispatchPolicy, PlanBuilder, StageDeclaration, StageFailure, StageKind, StageOrder,
};

/// The field that says in which order hooks of one stage are asked.
pub(crate) const ORDER: &str = "order";
/// The field that says what a hook's failure means.
pub(crate) const ON_FAILURE: &str = "on_failure";
/// The field that says whether a stage runs in every case.
pub(crate) const TEARDOWN: &str = "teardown";

/// The field that splits a phase in two when it is changed.
pub(crate) const SELECTOR: &str = "selector";
pub(crate) const SECOND_STAGE: &str = "returned_awaitables";
pub(crate) const DEADLINE: &str = "deadline_seconds";
pub(crate) const DISPOSITION: &str = "deadline_disposition";
pub(crate) const START_ORDER: &str = "preserve_registration_order";

/// The word for a field that is left out.
pub(crate) const NONE: &str = "none";
/// The word for half, and for twice, of what the scenario gives.
pub(crate) const HALF: &str = "half";
pub(crate) const TWICE: &str = "twice";
/// Where there was no deadline: one that runs out in every wait of a scenario.
pub(crate) const SHORT: &str = "0.01";
/// The second stage of the session observer, where there was none.
pub(crate) const AS_OBSERVER: &str = "as session_observer";
/// Where a stage was ordinary: it holds a request to cancel back for longer than any scenario runs.
pub(crate) const LONG: &str = "3600";
/// Registrations in the opposite order.
pub(crate) const REVERSED: &str = "reversed";

/// Where in its stage the hook that was registered at an index stands.
pub(crate) type Place = fn(usize) -> i32;

/// A field of a policy, and the value that it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) field: String,
    pub(crate) word: String,
}

/// Assignments that together make another valid policy of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alteration {
    pub(crate) of: ProfileName,
    pub(crate) assignments: Vec<Assignment>,
}

impl Alteration {
    /// The policy with these fields changed.
    ///
    /// # Errors
    ///
    /// The rule that the changed policy breaks, or a word that cannot be given to the field.
    pub(crate) fn policy(&self, base: &DispatchPolicy) -> anyhow::Result<DispatchPolicy> {
        let mut written = serde_json::to_value(base)?;
        for Assignment { field, word } in &self.assignments {
            assign(&mut written, field, word)?;
        }
        let split = written["phases"][0][SELECTOR] != json!("all");
        if split && let Some(phases) = written["phases"].as_array_mut() {
            let mut second = phases[0].clone();
            second[SELECTOR] = json!(match second[SELECTOR].as_str() {
                Some("declared_sync") => "declared_async",
                _ => "declared_sync",
            });
            phases.push(second);
        }
        Ok(serde_json::from_value(written)?)
    }

    /// The stages with these fields changed, and where in its stage the hook at an index stands.
    ///
    /// # Errors
    ///
    /// The rule that a plan over the changed stages breaks, or a word that is none.
    pub(crate) fn stages(&self, base: &StageOrder) -> anyhow::Result<(StageOrder, Place)> {
        let mut place: Place = |_| 0;
        let mut stages = base.stages().to_vec();
        for Assignment { field, word } in &self.assignments {
            for stage in &mut stages {
                assign_stage(stage, field, word)?;
            }
            if field == ORDER {
                place = |index| i32::try_from(index).map_or(i32::MIN, |index| -index);
            }
        }
        let stages = StageOrder::new(stages);
        PlanBuilder::<()>::new(stages.clone()).build()?;
        Ok((stages, place))
    }
}

fn assign(policy: &mut Json, field: &str, word: &str) -> anyhow::Result<()> {
    if field == START_ORDER {
        policy[START_ORDER] = json!(word == "true");
        return Ok(());
    }
    let phase = policy["phases"][0].as_object_mut();
    let phase = phase.context("a policy has a phase")?;
    let value = match (field, word) {
        (_, NONE) => {
            phase.remove(field);
            return Ok(());
        }
        (DEADLINE, HALF | TWICE) => {
            let given = phase.get(DEADLINE).and_then(Json::as_f64);
            let given = given.context("there is no deadline to change")?;
            json!(if word == HALF {
                given / 2.0
            } else {
                given * 2.0
            })
        }
        (DEADLINE, seconds) => json!(seconds.parse::<f64>()?),
        (SECOND_STAGE, AS_OBSERVER) => {
            let observer = serde_json::to_value(profile::session_observer())?;
            observer["phases"][0][SECOND_STAGE].clone()
        }
        (_, word) => json!(word),
    };
    match field.split_once('.') {
        None => phase.insert(field.to_owned(), value),
        Some((stage, axis)) => {
            let stage = phase.get_mut(stage).and_then(Json::as_object_mut);
            let stage = stage.with_context(|| format!("there is no stage for `{field}`"))?;
            stage.insert(axis.to_owned(), value)
        }
    };
    Ok(())
}

fn assign_stage(stage: &mut StageDeclaration, field: &str, word: &str) -> anyhow::Result<()> {
    match (field, word) {
        (ORDER, REVERSED) => {}
        (ON_FAILURE, word) => {
            stage.on_failure = match word {
                "deny" => StageFailure::Deny,
                "isolate" => StageFailure::Isolate,
                "propagate" => StageFailure::Propagate,
                other => bail!("a stage has no way to `{other}`"),
            }
        }
        (TEARDOWN, seconds) => {
            let budget = Some(Duration::from_secs_f64(seconds.parse()?));
            stage.kind = StageKind::Teardown { budget };
        }
        (field, word) => bail!("a stage has no `{field}={word}`"),
    }
    Ok(())
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.field, self.word)
    }
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, assignment) in self.assignments.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            assignment.fmt(f)?;
        }
        Ok(())
    }
}
