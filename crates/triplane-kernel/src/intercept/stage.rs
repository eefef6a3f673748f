//! The stages of a plan: their order, what a failure in each means, and which are teardown.

use std::fmt;
use std::time::Duration;

use serde_json::json;

use crate::declare::SnapshotEnvelope;
use crate::name::StageName;

/// What an ordinary failure of an interceptor means in its stage (ADR-0120 D2, "exception mapping
/// is part of the plan").
///
/// Only [`HandlerFailure::Failed`](crate::HandlerFailure::Failed), a panic included, is mapped. A
/// cancellation and a fatal failure always end the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageFailure {
    /// Fail closed: the operation is denied, and the failure stays visible in the report.
    Deny,
    /// Log the failure, note it in the report and ask the next registration.
    Isolate,
    /// End the chain: the owner gets the failure.
    Propagate,
}

impl StageFailure {
    /// The word for plans, digests and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Isolate => "isolate",
            Self::Propagate => "propagate",
        }
    }
}

/// Whether a stage controls the operation or cleans up after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageKind {
    /// A request to cancel ends the stage, and so does an earlier stop, denial or failure.
    Ordinary,
    /// Runs like a `finally`, whatever the stages before it came to, and is shielded from a
    /// request to cancel for `budget`, counted from the request or from the start of the stage,
    /// whichever is later.
    Teardown {
        /// How long a request to cancel is held back. A plan refuses `None`: a shield without an
        /// end would be a hang.
        budget: Option<Duration>,
    },
}

/// One stage as the owner of a plan declares it. The kernel invents none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StageDeclaration {
    /// The name that registrations refer to, unique within the order.
    pub name: StageName,
    /// What an interceptor's ordinary failure means here.
    pub on_failure: StageFailure,
    /// Ordinary, or teardown with its budget.
    pub kind: StageKind,
    /// Whether the stage holds one registration at most. A stage at an end of the order that is
    /// exclusive is a promise to whoever holds it: nobody else can claim to be first or last too.
    pub exclusive: bool,
}

impl StageDeclaration {
    /// An ordinary stage.
    pub fn new(name: StageName, on_failure: StageFailure) -> Self {
        Self {
            name,
            on_failure,
            kind: StageKind::Ordinary,
            exclusive: false,
        }
    }

    /// A teardown stage, shielded from a request to cancel for `budget`.
    pub fn teardown(name: StageName, on_failure: StageFailure, budget: Duration) -> Self {
        Self {
            name,
            on_failure,
            kind: StageKind::Teardown {
                budget: Some(budget),
            },
            exclusive: false,
        }
    }

    /// The same stage for one registration at most.
    #[must_use]
    pub fn exclusive(mut self) -> Self {
        self.exclusive = true;
        self
    }
}

impl StageDeclaration {
    /// The stage as plans and orders write it.
    pub(crate) fn written(&self) -> serde_json::Value {
        let mut written =
            json!({ "name": self.name.as_str(), "on_failure": self.on_failure.as_str() });
        if let StageKind::Teardown { budget } = self.kind {
            written["teardown_budget_seconds"] = budget.map(|budget| budget.as_secs_f64()).into();
        }
        // Written only where it holds, so that the digests of other plans stay.
        if self.exclusive {
            written["exclusive"] = true.into();
        }
        written
    }
}

/// What error, panic, deadline and cancellation do in this stage, in one line.
impl fmt::Display for StageDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failure = match self.on_failure {
            StageFailure::Deny => "denies",
            StageFailure::Isolate => "is logged, the next is asked",
            StageFailure::Propagate => "ends the chain",
        };
        write!(f, "{}: error or panic {failure}; ", self.name)?;
        if self.exclusive {
            f.write_str("one registration at most; ")?;
        }
        match self.kind {
            StageKind::Ordinary => {
                f.write_str("cancellation ends the chain; no deadline of its own")
            }
            StageKind::Teardown { budget: Some(time) } => write!(
                f,
                "runs in every case; cancellation waits at most {time:?}, then the stage is dropped"
            ),
            StageKind::Teardown { budget: None } => f.write_str("teardown without a budget"),
        }
    }
}

/// The stages of a plan in the order in which they run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StageOrder {
    stages: Vec<StageDeclaration>,
}

impl StageOrder {
    /// The stages in this order. What is wrong with them, [`PlanBuilder::build`] says.
    ///
    /// [`PlanBuilder::build`]: crate::PlanBuilder::build
    pub fn new(stages: impl IntoIterator<Item = StageDeclaration>) -> Self {
        Self {
            stages: stages.into_iter().collect(),
        }
    }

    /// The order as it is stored and digested.
    pub fn snapshot(&self) -> SnapshotEnvelope {
        let stages: Vec<_> = self.stages.iter().map(StageDeclaration::written).collect();
        match SnapshotEnvelope::new("triplane.stage_order", "1", &json!({ "stages": stages })) {
            Ok(snapshot) => snapshot,
            Err(refused) => unreachable!("stages hold words and a finite number: {refused}"),
        }
    }

    /// The declarations, first stage first.
    pub fn stages(&self) -> &[StageDeclaration] {
        &self.stages
    }
}
