//! Guards and policy as a hook has them, asked about one call.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio::runtime::Runtime;
use triplane::{Finding, PermissionPolicy, Scope, ToolCall, ToolCallDecision};
use triplane_guards::{CommandGuard, PathGuard, Place};
use triplane_interception::{DeclaredTool, ToolCallPlan};

use crate::guard_args::PlaceArgs;
use crate::guard_option;

pub(crate) struct Jury {
    tokio: Runtime,
    pub(crate) commands: CommandGuard,
    policy: Option<Arc<PermissionPolicy>>,
    tools: Arc<[DeclaredTool]>,
    pub(crate) place: Place,
}

impl Jury {
    pub(crate) fn new(args: &PlaceArgs) -> Result<Self> {
        let guarding = guard_option::asked(args.policy.as_deref())?;
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the runtime")?;
        let absolute = |path| std::path::absolute(path).context("the path is empty");
        let root = absolute(&args.root).context("--root")?;
        let home = absolute(&args.home).context("--home")?;
        Ok(Self {
            tokio,
            commands: guarding.commands,
            policy: guarding.permissions.map(Arc::new),
            tools: guarding.tools,
            place: Place::new(root, Some(&home)),
        })
    }

    /// What speaks against a call: the command guard, `paths`, and the policy, in the order of a
    /// plan.
    pub(crate) fn judge(&self, paths: PathGuard, call: ToolCall) -> Result<Option<Finding>> {
        let mut plan = ToolCallPlan::builder()
            .guard(Arc::new(self.commands.clone()))
            .guard(Arc::new(paths.tools(Arc::clone(&self.tools))));
        if let Some(policy) = &self.policy {
            plan = plan.policy(Arc::clone(policy));
        }
        let plan = plan.build()?;
        let judged = self
            .tokio
            .block_on(plan.judge(Arc::new(call), &Scope::new()))?;
        Ok(match judged.decision {
            ToolCallDecision::Denied(finding) => Some(finding),
            ToolCallDecision::Allowed | ToolCallDecision::Rewritten { .. } => None,
        })
    }
}
