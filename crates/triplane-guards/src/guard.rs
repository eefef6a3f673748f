//! The path guard as the plan asks it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use triplane_interception::{DeclaredTool, Finding, Guard, ToolCall, Verdict};
use triplane_kernel::{HandlerFailure, Scope, Step};

use crate::path::{self, Bounds, JUDGED_AS_TEXT, Judged, Opened, Refusal};
use crate::tool::{self, PathOp};

/// The path guard: where a path leads, and whether the agent may go there.
#[derive(Debug, Clone)]
pub struct PathGuard {
    root: Option<PathBuf>,
    temporary: PathBuf,
    tools: Arc<[DeclaredTool]>,
}

/// A path guard that takes the workspace from each call.
///
/// The temporary folder is `/tmp`, not what the environment says: a variable is no permission.
pub fn paths() -> PathGuard {
    PathGuard {
        root: None,
        temporary: PathBuf::from("/tmp"),
        tools: Arc::default(),
    }
}

/// A path guard for the workspace `root`, whatever a call says.
pub fn paths_in(root: impl AsRef<Path>) -> PathGuard {
    PathGuard {
        root: Some(root.as_ref().to_owned()),
        ..paths()
    }
}

impl PathGuard {
    /// Allows `folder` as the temporary folder instead of `/tmp`.
    #[must_use]
    pub fn with_temporary(mut self, folder: impl AsRef<Path>) -> Self {
        folder.as_ref().clone_into(&mut self.temporary);
        self
    }

    /// Judges the tools that `tools` declares as what they are declared to be, beside what the guard
    /// knows by itself.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<Arc<[DeclaredTool]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Judges one call.
    pub fn judge_blocking(&self, call: &ToolCall) -> Verdict {
        let asked = tool::paths(&self.tools, &call.tool, &call.arguments);
        if asked.is_empty() {
            return Verdict::Allow;
        }
        let bounds = Bounds::of(call, self.root.as_deref(), &self.temporary);
        let mut as_text = None;
        let mut soft = None;
        for one in &asked {
            match path::judge(one.op, &one.path, &bounds) {
                Judged::Opened(_) | Judged::Null => {}
                Judged::AsText => as_text = Some(one),
                Judged::Refused(refusal) => match refusal.verdict(one, bounds.presence) {
                    hard @ Verdict::HardDeny(_) => return hard,
                    other => soft = soft.or(Some(other)),
                },
            }
        }
        if let Some(denied) = soft {
            return denied;
        }
        match as_text {
            Some(one) => {
                let mut finding = Finding::new(
                    JUDGED_AS_TEXT,
                    "the workspace is not on this machine: links were not followed",
                );
                finding.offence = Some(one.offence());
                Verdict::Advisory(finding)
            }
            None => Verdict::Allow,
        }
    }

    /// Judges one operation on one path and holds the folder that it leads to open, so that the
    /// operation itself can go through what was checked.
    ///
    /// The answer is `None` for the null device, and for a workspace of another machine.
    ///
    /// # Errors
    ///
    /// Returns the [`Refusal`] when the operation is not allowed.
    pub fn open(&self, op: PathOp, path: &str, bounds: &Bounds) -> Result<Option<Opened>, Refusal> {
        match path::judge(op, path, bounds) {
            Judged::Opened(opened) => Ok(Some(opened)),
            Judged::AsText | Judged::Null => Ok(None),
            Judged::Refused(refusal) => Err(refusal),
        }
    }

    /// The bounds that this guard holds a call's paths against.
    pub fn bounds(&self, call: &ToolCall) -> Bounds {
        Bounds::of(call, self.root.as_deref(), &self.temporary)
    }
}

impl Guard for PathGuard {
    fn name(&self) -> &'static str {
        "guard.paths"
    }

    fn judge<'a>(
        &'a self,
        call: &'a ToolCall,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Verdict, HandlerFailure>> {
        Step::Ready(Ok(self.judge_blocking(call)))
    }
}
