//! The whole policy: phases that together call every registration exactly once.

use serde::{Deserialize, Serialize};

use crate::declare::SnapshotEnvelope;
use crate::policy::axes::{DispatchConcurrency, PhaseSelector, SyncEntryPolicy};
use crate::policy::error::{FieldPath, PolicyError};
use crate::policy::phase::{DispatchPhase, PhaseDeclaration};
use crate::policy::stage::StageDeclared;

/// The declared policy of a fan-out (ADR-0120 D2): valid by construction, also when it is read.
///
/// Usually one of [the named profiles](crate::profile); see `docs/kernel-semantics.md` for what each
/// combination does.
///
/// ```
/// use triplane_kernel::DispatchPolicy;
///
/// let refused = serde_json::from_str::<DispatchPolicy>(r#"{"phases": []}"#).unwrap_err();
/// assert!(refused.to_string().starts_with("phases: a policy requires a phase"));
/// ```
///
/// A policy has no fields to set, so that none exists unchecked:
///
/// ```compile_fail
/// let policy = triplane_kernel::DispatchPolicy { phases: Box::default() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "PolicyWritten", try_from = "PolicyDeclared")]
pub struct DispatchPolicy {
    phases: Box<[DispatchPhase]>,
    preserve_registration_order: bool,
}

#[derive(Serialize)]
struct PolicyWritten {
    phases: Box<[DispatchPhase]>,
    preserve_registration_order: bool,
}

/// A policy as it is read. Stages and phases are checked here, so that an error knows its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyDeclared {
    phases: Vec<PhaseDeclaration<StageDeclared>>,
    #[serde(default = "preserved")]
    preserve_registration_order: bool,
}

fn preserved() -> bool {
    true
}

impl DispatchPolicy {
    /// A policy of these phases, which run in this order.
    ///
    /// # Errors
    ///
    /// [`PolicyError::NoPhases`], [`PolicyError::OverlappingSelectors`],
    /// [`PolicyError::IncompleteSelectors`] and [`PolicyError::SyncEntryNeedsAllPhases`].
    pub fn new(phases: impl IntoIterator<Item = DispatchPhase>) -> Result<Self, PolicyError> {
        let phases: Box<[_]> = phases.into_iter().collect();
        check_selectors(&phases)?;
        let unavailable = |phase: &DispatchPhase| phase.sync_entry == SyncEntryPolicy::Unavailable;
        if phases.iter().any(unavailable)
            && let Some(index) = phases.iter().position(|phase| !unavailable(phase))
        {
            let at = FieldPath::new("sync_entry");
            let error = PolicyError::SyncEntryNeedsAllPhases { at };
            return Err(error.within(&format!("phases[{index}]")));
        }
        Ok(Self {
            phases,
            preserve_registration_order: true,
        })
    }

    /// The same policy, which may start handlers in any order. Reports keep the order of
    /// registration.
    ///
    /// # Errors
    ///
    /// [`PolicyError::OrderNeedsSequential`] when a phase is sequential.
    pub fn without_start_order(self) -> Result<Self, PolicyError> {
        let concurrent =
            |phase: &DispatchPhase| phase.concurrency == DispatchConcurrency::Concurrent;
        if !self.phases.iter().all(concurrent) {
            return Err(PolicyError::OrderNeedsSequential {
                at: FieldPath::new("preserve_registration_order"),
            });
        }
        Ok(Self {
            preserve_registration_order: false,
            ..self
        })
    }

    /// The phases, in the order in which they run.
    pub fn phases(&self) -> &[DispatchPhase] {
        &self.phases
    }

    /// The policy as it is stored and digested.
    pub fn snapshot(&self) -> SnapshotEnvelope {
        match SnapshotEnvelope::new("triplane.dispatch_policy", "1", self) {
            Ok(snapshot) => snapshot,
            Err(refused) => unreachable!("a policy holds words and a finite number: {refused}"),
        }
    }

    /// Whether handlers start in the order of registration.
    pub fn preserves_registration_order(&self) -> bool {
        self.preserve_registration_order
    }
}

fn check_selectors(phases: &[DispatchPhase]) -> Result<(), PolicyError> {
    use PhaseSelector::{All, DeclaredAsync, DeclaredSync};

    let at = || FieldPath::new("phases");
    let selectors: Vec<_> = phases.iter().map(|phase| phase.selector).collect();
    match selectors.as_slice() {
        [] => Err(PolicyError::NoPhases { at: at() }),
        [All] | [DeclaredSync, DeclaredAsync] | [DeclaredAsync, DeclaredSync] => Ok(()),
        [DeclaredSync | DeclaredAsync] => Err(PolicyError::IncompleteSelectors { at: at() }),
        [_, _, ..] => Err(PolicyError::OverlappingSelectors { at: at() }),
    }
}

impl From<DispatchPolicy> for PolicyWritten {
    fn from(policy: DispatchPolicy) -> Self {
        Self {
            phases: policy.phases,
            preserve_registration_order: policy.preserve_registration_order,
        }
    }
}

impl TryFrom<PolicyDeclared> for DispatchPolicy {
    type Error = PolicyError;

    fn try_from(declared: PolicyDeclared) -> Result<Self, PolicyError> {
        let phases = declared
            .phases
            .into_iter()
            .enumerate()
            .map(|(index, phase)| {
                DispatchPhase::try_from(phase)
                    .map_err(|error| error.within(&format!("phases[{index}]")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let policy = Self::new(phases)?;
        if declared.preserve_registration_order {
            Ok(policy)
        } else {
            policy.without_start_order()
        }
    }
}
