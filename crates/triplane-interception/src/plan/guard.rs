//! A guard as an interceptor of the tool-call plan.

use std::sync::Arc;

use triplane_kernel::{Decision, HandlerFailure, Interceptor, Scope, Step};

use crate::guard::{Guard, Verdict};
use crate::plan::context::ToolCallContext;

/// When a guard is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// About every call.
    Always,
    /// About a call that a transform has changed: what is judged is what will be made.
    AfterRewrite,
}

pub(crate) struct GuardInterceptor {
    pub(crate) guard: Arc<dyn Guard>,
    pub(crate) asked: Asked,
}

impl Interceptor<ToolCallContext> for GuardInterceptor {
    fn intercept<'a>(
        &'a self,
        cx: &'a ToolCallContext,
        scope: &'a Scope,
    ) -> Step<'a, Result<Decision<ToolCallContext>, HandlerFailure>> {
        if self.asked == Asked::AfterRewrite && !cx.is_rewritten() {
            return Step::Ready(Ok(Decision::CONTINUE));
        }
        match self.guard.judge(cx.call(), scope) {
            Step::Ready(verdict) => Step::Ready(verdict.map(|verdict| decide(verdict, cx))),
            Step::Later(verdict) => {
                Step::later(async move { verdict.await.map(|verdict| decide(verdict, cx)) })
            }
        }
    }
}

fn decide(verdict: Verdict, cx: &ToolCallContext) -> Decision<ToolCallContext> {
    match verdict {
        Verdict::Allow => Decision::CONTINUE,
        Verdict::Advisory(finding) => Decision::replace(cx.clone().noting(finding)),
        Verdict::SoftDeny(finding) | Verdict::HardDeny(finding) => {
            Decision::Deny(Box::new(finding.into_denial()))
        }
    }
}
