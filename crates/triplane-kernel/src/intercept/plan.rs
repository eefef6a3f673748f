//! The compiled plan: registrations in their final order, with what each stage does on failure.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde_json::json;

use crate::cancel::{CancelCause, Cooperation, Scope};
use crate::declare::{CallableRef, SnapshotEnvelope};
use crate::intercept::error::{PlanBuildError, TEARDOWN_BUDGET_MAX};
use crate::intercept::interceptor::Interceptor;
use crate::intercept::registration::InterceptorRegistration;
use crate::intercept::stage::{StageDeclaration, StageKind, StageOrder};
use crate::name::{RegistrationName, StageName};

/// Collects registrations and compiles them.
///
/// ```
/// use std::sync::Arc;
/// use triplane_kernel::{
///     Decision, InterceptorRegistration, PlanBuilder, RegistrationName, StageDeclaration,
///     StageFailure, StageName, StageOrder, intercept_fn,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = StageName::new("guard")?;
/// let policy = StageName::new("policy")?;
/// let order = StageOrder::new([
///     StageDeclaration::new(guard.clone(), StageFailure::Deny),
///     StageDeclaration::new(policy.clone(), StageFailure::Propagate),
/// ]);
/// let register = |name: &str, stage: &StageName, order| -> Result<_, triplane_kernel::NameRefused> {
///     Ok(InterceptorRegistration::<u32>::new(
///         RegistrationName::new(name)?,
///         stage.clone(),
///         order,
///         intercept_fn(|_: &u32| Ok(Decision::CONTINUE)),
///     ))
/// };
/// let plan = PlanBuilder::new(order)
///     .register(register("rewrite", &policy, 0)?)
///     .register(register("paths", &guard, 10)?)
///     .register(register("commands", &guard, 5)?)
///     .build()?;
/// let names: Vec<_> = plan.entries().map(|entry| entry.name.as_str()).collect();
/// assert_eq!(names, ["commands", "paths", "rewrite"]);
/// # Ok(())
/// # }
/// ```
pub struct PlanBuilder<C> {
    order: StageOrder,
    registrations: Vec<InterceptorRegistration<C>>,
    timed: bool,
}

impl<C> PlanBuilder<C> {
    /// A plan over these stages, empty so far.
    pub fn new(order: StageOrder) -> Self {
        Self {
            order,
            registrations: Vec::new(),
            timed: false,
        }
    }

    /// Reports how long each interceptor took, see
    /// [`InterceptorEntry::took`](crate::InterceptorEntry::took). Otherwise nobody looks at a clock
    /// for it.
    #[must_use]
    pub fn with_durations(mut self) -> Self {
        self.timed = true;
        self
    }

    /// Adds one registration after those that were added before.
    #[must_use]
    pub fn register(mut self, registration: InterceptorRegistration<C>) -> Self {
        self.registrations.push(registration);
        self
    }

    /// Compiles the plan.
    ///
    /// # Errors
    ///
    /// Returns the rule that the plan breaks, see [`PlanBuildError`].
    pub fn build(self) -> Result<InterceptorPlan<C>, PlanBuildError> {
        let stages = self.order.stages().to_vec();
        check_stages(&stages)?;
        let mut names = HashSet::new();
        let mut sorted = Vec::with_capacity(self.registrations.len());
        for registration in self.registrations {
            let Some(stage) = stages.iter().position(|s| s.name == registration.stage) else {
                return Err(PlanBuildError::UnknownStage {
                    registration: registration.name,
                    stage: registration.stage,
                });
            };
            if !names.insert(registration.name.clone()) {
                return Err(PlanBuildError::DuplicateName {
                    name: registration.name,
                });
            }
            let holder = sorted.iter().find(|(taken, _)| *taken == stage);
            if let (true, Some((_, first))) = (stages[stage].exclusive, holder) {
                let first: &InterceptorRegistration<C> = first;
                return Err(PlanBuildError::ExclusiveStageTaken {
                    stage: registration.stage,
                    first: first.name.clone(),
                    second: registration.name,
                });
            }
            sorted.push((stage, registration));
        }
        // The sort is stable, so that equal places keep the order of composition.
        sorted.sort_by_key(|(stage, registration)| (*stage, registration.order));
        let teardown_from =
            sorted.partition_point(|(stage, _)| matches!(stages[*stage].kind, StageKind::Ordinary));
        let (mut handlers, places) = sorted
            .into_iter()
            .map(|(stage, registration)| {
                let place = Place {
                    name: registration.name,
                    stage,
                    order: registration.order,
                    cooperation: registration.cooperation,
                    callable: registration.callable,
                };
                (registration.handler, place)
            })
            .unzip::<_, _, Vec<_>, Vec<_>>();
        let teardown = handlers.split_off(teardown_from);
        Ok(InterceptorPlan {
            compiled: Arc::new(Compiled {
                timed: self.timed,
                ordinary: handlers.into(),
                teardown: teardown.into(),
                outline: Outline {
                    places: places.into(),
                    stages: stages.into(),
                },
            }),
        })
    }
}

fn check_stages(stages: &[StageDeclaration]) -> Result<(), PlanBuildError> {
    let mut teardown: Option<&StageName> = None;
    for (index, stage) in stages.iter().enumerate() {
        let name = || stage.name.clone();
        if stages[..index]
            .iter()
            .any(|before| before.name == stage.name)
        {
            return Err(PlanBuildError::DuplicateStage { stage: name() });
        }
        match (stage.kind, teardown) {
            (StageKind::Ordinary, None) => {}
            (StageKind::Ordinary, Some(teardown)) => {
                return Err(PlanBuildError::OrdinaryAfterTeardown {
                    stage: name(),
                    teardown: teardown.clone(),
                });
            }
            (StageKind::Teardown { budget: None }, _) => {
                return Err(PlanBuildError::TeardownWithoutBudget { stage: name() });
            }
            (
                StageKind::Teardown {
                    budget: Some(budget),
                },
                _,
            ) => {
                if budget.is_zero() || budget > TEARDOWN_BUDGET_MAX {
                    return Err(PlanBuildError::TeardownBudgetOutOfRange {
                        stage: name(),
                        budget,
                    });
                }
                teardown = Some(&stage.name);
            }
        }
    }
    Ok(())
}

impl<C> fmt::Debug for PlanBuilder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanBuilder")
            .field("order", &self.order)
            .field("timed", &self.timed)
            .field("registrations", &self.registrations)
            .finish()
    }
}

/// An immutable plan: what will be asked, in which order, and what a failure means. Clones share it.
///
/// Only [`PlanBuilder::build`] makes one:
///
/// ```compile_fail
/// let plan = triplane_kernel::InterceptorPlan::<u32> { compiled: Default::default() };
/// ```
///
/// `to_string` says for each stage what error, panic, deadline and cancellation do, and names its
/// registrations in order.
pub struct InterceptorPlan<C> {
    compiled: Arc<Compiled<C>>,
}

pub(crate) struct Compiled<C> {
    /// Whether reports say how long each interceptor took.
    pub(crate) timed: bool,
    /// Those of the ordinary stages, apart from their names: the loop over a quiet chain touches
    /// nothing else.
    pub(crate) ordinary: Box<[Box<dyn Interceptor<C>>]>,
    /// Those of the teardown stages, which stand behind the others in the outline.
    pub(crate) teardown: Box<[Box<dyn Interceptor<C>>]>,
    pub(crate) outline: Outline,
}

impl<C> Compiled<C> {
    /// The standing request that keeps the chain from asking anybody. Entering a chain is a wait,
    /// unless there is nobody to ask.
    #[inline]
    pub(crate) fn standing(&self, scope: &Scope) -> Option<CancelCause> {
        let cause = scope.standing()?;
        let somebody = !self.ordinary.is_empty() || !self.teardown.is_empty();
        somebody.then_some(cause)
    }

    /// The interceptors of the teardown stages with their places in the plan.
    pub(crate) fn teardown(&self) -> impl Iterator<Item = (usize, &dyn Interceptor<C>)> {
        let handlers = self.teardown.iter().map(|handler| &**handler);
        (self.ordinary.len()..).zip(handlers)
    }
}

/// What a plan says without its handlers.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) places: Box<[Place]>,
    pub(crate) stages: Box<[StageDeclaration]>,
}

#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: RegistrationName,
    pub(crate) stage: usize,
    pub(crate) order: i32,
    pub(crate) cooperation: Cooperation,
    pub(crate) callable: Option<CallableRef>,
}

impl Outline {
    pub(crate) fn stage_of(&self, index: usize) -> &StageDeclaration {
        &self.stages[self.places[index].stage]
    }
}

/// One registration as the plan has placed it.
#[derive(Debug, Clone, Copy)]
pub struct PlanEntry<'a> {
    /// The registration's name.
    pub name: &'a RegistrationName,
    /// Its stage.
    pub stage: &'a StageDeclaration,
    /// Its place within the stage.
    pub order: i32,
    /// What a request to cancel does while it waits.
    pub cooperation: Cooperation,
}

impl<C> InterceptorPlan<C> {
    /// The registrations in the order in which they are asked.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = PlanEntry<'_>> {
        let outline = &self.compiled.outline;
        outline.places.iter().map(|place| PlanEntry {
            name: &place.name,
            stage: &outline.stages[place.stage],
            order: place.order,
            cooperation: place.cooperation,
        })
    }

    /// The stages in the order in which they run, those without a registration included.
    pub fn stages(&self) -> &[StageDeclaration] {
        &self.compiled.outline.stages
    }

    /// The plan as it is stored and digested: stages in order with what they do on failure, and
    /// registrations in order with their [`CallableRef`]s. Handlers are no part of it.
    pub fn snapshot(&self) -> SnapshotEnvelope {
        let stages: Vec<_> = self
            .stages()
            .iter()
            .map(StageDeclaration::written)
            .collect();
        let registrations: Vec<_> = self
            .compiled
            .outline
            .places
            .iter()
            .map(|place| {
                json!({
                    "name": place.name.as_str(),
                    "stage": self.stages()[place.stage].name.as_str(),
                    "order": place.order,
                    "cooperation": match place.cooperation {
                        Cooperation::Dropped => "dropped",
                        Cooperation::Cooperative => "cooperative",
                    },
                    "callable": place.callable,
                })
            })
            .collect();
        let payload = json!({ "stages": stages, "registrations": registrations });
        match SnapshotEnvelope::new("triplane.interceptor_plan", "1", &payload) {
            Ok(snapshot) => snapshot,
            Err(refused) => unreachable!("a plan holds text and small numbers only: {refused}"),
        }
    }

    pub(crate) fn compiled(&self) -> &Arc<Compiled<C>> {
        &self.compiled
    }
}

impl<C> Clone for InterceptorPlan<C> {
    fn clone(&self) -> Self {
        Self {
            compiled: Arc::clone(&self.compiled),
        }
    }
}

impl<C> fmt::Display for InterceptorPlan<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, stage) in self.stages().iter().enumerate() {
            writeln!(f, "{stage}")?;
            for place in &self.compiled.outline.places {
                if place.stage == index {
                    writeln!(f, "  {} ({})", place.name, place.order)?;
                }
            }
        }
        Ok(())
    }
}

impl<C> fmt::Debug for InterceptorPlan<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.compiled.outline, f)
    }
}

#[cfg(test)]
mod tests;
