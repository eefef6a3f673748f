//! A permission policy as interceptors of the tool-call plan.

use std::sync::Arc;

use triplane_kernel::{Decision, HandlerFailure, Interceptor, Scope, Step};

use crate::plan::context::ToolCallContext;
use crate::plan::guard::Asked;
use crate::policy::PermissionPolicy;

/// Refuses what the lists `deny` and `allow` do not let pass.
pub(crate) struct PolicyInterceptor {
    pub(crate) policy: Arc<PermissionPolicy>,
    pub(crate) asked: Asked,
}

impl Interceptor<ToolCallContext> for PolicyInterceptor {
    fn intercept<'a>(
        &'a self,
        cx: &'a ToolCallContext,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Decision<ToolCallContext>, HandlerFailure>> {
        if self.asked == Asked::AfterRewrite && !cx.is_rewritten() {
            return Step::Ready(Ok(Decision::CONTINUE));
        }
        Step::Ready(Ok(match self.policy.permit(cx.call()) {
            Ok(()) => Decision::CONTINUE,
            Err(finding) => Decision::Deny(Box::new(finding.into_denial())),
        }))
    }
}

/// Applies the list `rewrite`.
pub(crate) struct PolicyTransform {
    pub(crate) policy: Arc<PermissionPolicy>,
}

impl Interceptor<ToolCallContext> for PolicyTransform {
    fn intercept<'a>(
        &'a self,
        cx: &'a ToolCallContext,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Decision<ToolCallContext>, HandlerFailure>> {
        Step::Ready(Ok(match self.policy.rewrite(cx.call()) {
            Ok(None) => Decision::CONTINUE,
            Ok(Some(made)) => Decision::replace(cx.clone().rewritten(made)),
            Err(finding) => Decision::Deny(Box::new(finding.into_denial())),
        }))
    }
}
