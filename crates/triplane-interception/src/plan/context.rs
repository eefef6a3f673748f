//! What travels through the plan of a tool call.

use std::sync::Arc;

use crate::guard::Finding;
use crate::policy::Rewritten;
use crate::tool_call::ToolCall;

/// The call as it stands, and what was done to it and noticed about it on the way.
///
/// Cheap to clone: the call itself is shared.
#[derive(Debug, Clone)]
pub(crate) struct ToolCallContext {
    call: Arc<ToolCall>,
    rewrite: Option<Arc<Rewrite>>,
    notes: Vec<Finding>,
}

#[derive(Debug)]
pub(crate) struct Rewrite {
    pub(crate) rule: String,
    pub(crate) reason: String,
}

impl ToolCallContext {
    pub(crate) fn new(call: Arc<ToolCall>) -> Self {
        Self {
            call,
            rewrite: None,
            notes: Vec::new(),
        }
    }

    pub(crate) fn call(&self) -> &ToolCall {
        &self.call
    }

    pub(crate) fn is_rewritten(&self) -> bool {
        self.rewrite.is_some()
    }

    /// Notes what was noticed, once: a guard that is asked again says the same again.
    pub(crate) fn noting(mut self, finding: Finding) -> Self {
        if !self.notes.contains(&finding) {
            self.notes.push(finding);
        }
        self
    }

    pub(crate) fn rewritten(mut self, made: Rewritten) -> Self {
        let Rewritten {
            arguments,
            rule,
            reason,
        } = made;
        self.call = Arc::new(ToolCall {
            arguments,
            ..ToolCall::clone(&self.call)
        });
        self.rewrite = Some(Arc::new(Rewrite { rule, reason }));
        self
    }

    pub(crate) fn into_parts(self) -> (Arc<ToolCall>, Option<Arc<Rewrite>>, Vec<Finding>) {
        (self.call, self.rewrite, self.notes)
    }
}
