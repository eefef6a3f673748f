//! The compiled plan of a tool call: from a proposal to one decision.

use std::fmt;
use std::sync::Arc;

use triplane_kernel::{
    ChainOutcome, HandlerFailure, Interceptor, InterceptorChain, InterceptorRegistration,
    PlanBuilder, RegistrationName, Scope, StageDeclaration, StageFailure, StageName, StageOrder,
};

use crate::guard::{Finding, Guard};
use crate::plan::context::ToolCallContext;
use crate::plan::error::PlanError;
use crate::plan::guard::{Asked, GuardInterceptor};
use crate::plan::policy::{PolicyInterceptor, PolicyTransform};
use crate::plan::stage::ToolCallStage;
use crate::policy::PermissionPolicy;
use crate::tool_call::ToolCall;

/// A plan of guards and policies, compiled once and asked about every call (ADR-0120 D4).
pub struct ToolCallPlan {
    chain: InterceptorChain<ToolCallContext>,
}

/// What the plan says of one call.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Judged {
    /// May it happen?
    pub decision: ToolCallDecision,
    /// What guards noticed and let pass, each thing once.
    pub notes: Vec<Finding>,
}

/// Whether a call may happen.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolCallDecision {
    /// It may, as proposed.
    Allowed,
    /// It may, with other arguments.
    Rewritten {
        /// The arguments, whole, that the call is to be made with.
        arguments: serde_json::Value,
        /// The rules that changed them.
        rule: String,
        /// Why.
        reason: String,
    },
    /// It must not.
    Denied(Finding),
}

impl ToolCallDecision {
    /// The wire string: `allowed`, `rewritten` or `denied`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Rewritten { .. } => "rewritten",
            Self::Denied(_) => "denied",
        }
    }
}

/// Collects guards and a policy, then compiles them.
#[derive(Default)]
pub struct ToolCallPlanBuilder {
    guards: Vec<Arc<dyn Guard>>,
    policy: Option<Arc<PermissionPolicy>>,
}

impl ToolCallPlan {
    /// Starts a plan that lets everything pass until guards or a policy are added.
    pub fn builder() -> ToolCallPlanBuilder {
        ToolCallPlanBuilder::default()
    }

    /// Judges one call.
    ///
    /// A guard or policy that fails or panics denies; the finding's rule then ends in `.failed`.
    ///
    /// # Errors
    ///
    /// Only a cancellation of `scope`: nothing was decided then, and the call must not be made.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the judging; nothing is left behind.
    pub async fn judge(
        &self,
        call: Arc<ToolCall>,
        scope: &Scope,
    ) -> Result<Judged, HandlerFailure> {
        let context = ToolCallContext::new(call);
        match self.chain.apply(context, scope).await.into_outcome() {
            ChainOutcome::Proceed(context) => {
                let (call, rewrite, notes) = context.into_parts();
                let decision = rewrite.map_or(ToolCallDecision::Allowed, |rewrite| {
                    ToolCallDecision::Rewritten {
                        arguments: call.arguments.clone(),
                        rule: rewrite.rule.clone(),
                        reason: rewrite.reason.clone(),
                    }
                });
                Ok(Judged { decision, notes })
            }
            ChainOutcome::Denied {
                context,
                denial,
                by,
            } => {
                let (_, _, notes) = context.into_parts();
                let mut finding = Finding::from(denial);
                if finding.rule.is_empty() {
                    finding.rule = format!("{by}.failed");
                }
                Ok(Judged {
                    decision: ToolCallDecision::Denied(finding),
                    notes,
                })
            }
            ChainOutcome::Failed { failure, .. } => Err(failure),
        }
    }
}

impl ToolCallPlanBuilder {
    /// Adds a guard; guards are asked in the order they are added.
    #[must_use]
    pub fn guard(mut self, guard: Arc<dyn Guard>) -> Self {
        self.guards.push(guard);
        self
    }

    /// Sets the policy that judges and rewrites after the guards.
    #[must_use]
    pub fn policy(mut self, policy: Arc<PermissionPolicy>) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Compiles the plan.
    ///
    /// # Errors
    ///
    /// [`PlanError`] when two guards have one name or a name is not a name.
    pub fn build(self) -> Result<ToolCallPlan, PlanError> {
        let stages = ToolCallStage::ALL
            .map(|stage| StageDeclaration::new(name_of(stage), StageFailure::Deny));
        let mut plan = PlanBuilder::new(StageOrder::new(stages));
        for guard in self.guards {
            let name = guard.name().to_owned();
            let again = GuardInterceptor {
                guard: Arc::clone(&guard),
                asked: Asked::AfterRewrite,
            };
            let first = GuardInterceptor {
                guard,
                asked: Asked::Always,
            };
            plan = register(plan, &name, ToolCallStage::IntrinsicGuard, first)?;
            plan = register(
                plan,
                &format!("{name}.recheck"),
                ToolCallStage::Recheck,
                again,
            )?;
        }
        if let Some(policy) = self.policy {
            let again = PolicyInterceptor {
                policy: policy.clone(),
                asked: Asked::AfterRewrite,
            };
            let first = PolicyInterceptor {
                policy: policy.clone(),
                asked: Asked::Always,
            };
            let transform = PolicyTransform { policy };
            plan = register(plan, "policy.permit", ToolCallStage::ActionPolicy, first)?;
            plan = register(
                plan,
                "policy.rewrite",
                ToolCallStage::UserTransform,
                transform,
            )?;
            plan = register(plan, "policy.recheck", ToolCallStage::Recheck, again)?;
        }
        Ok(ToolCallPlan {
            chain: InterceptorChain::new(plan.build()?),
        })
    }
}

fn register(
    plan: PlanBuilder<ToolCallContext>,
    name: &str,
    stage: ToolCallStage,
    handler: impl Interceptor<ToolCallContext> + 'static,
) -> Result<PlanBuilder<ToolCallContext>, PlanError> {
    let name = RegistrationName::new(name)?;
    Ok(plan.register(InterceptorRegistration::new(
        name,
        name_of(stage),
        0,
        handler,
    )))
}

fn name_of(stage: ToolCallStage) -> StageName {
    StageName::new(stage.as_str()).expect("stage names are valid names")
}

impl fmt::Debug for ToolCallPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCallPlan").finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolCallPlanBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guards: Vec<&str> = self.guards.iter().map(|guard| guard.name()).collect();
        f.debug_struct("ToolCallPlanBuilder")
            .field("guards", &guards)
            .field("policy", &self.policy)
            .finish()
    }
}

#[cfg(test)]
mod tests;
