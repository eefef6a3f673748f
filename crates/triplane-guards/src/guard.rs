//! The two guards as the plan asks them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use triplane_interception::{Finding, Guard, Offence, ToolCall, Verdict};
use triplane_kernel::{HandlerFailure, Scope, Step};

use crate::command::judge::{Certainty, Objection, judge};
use crate::command::parse::plain;
use crate::command::parser_thread::{NoAnswer, ParserThread};
use crate::command::power_shell::{self, Against};
use crate::command::rules::Tier;
use crate::command::scan::scan;
use crate::path::{self, Bounds, JUDGED_AS_TEXT, Judged, Opened, Refusal};
use crate::place::Place;
use crate::tool::{self, CommandAsked, PathOp};

/// The longest quotation of an offending part, in bytes.
const OFFENCE_BYTES_MAX: usize = 200;

/// The command guard: what a shell command would do, judged before it runs.
///
/// Clones share one warm parser thread, which the first command that needs it starts.
#[derive(Debug, Clone, Default)]
pub struct CommandGuard {
    thread: Arc<ParserThread>,
}

/// A command guard. Nothing is started before the first command.
pub fn commands() -> CommandGuard {
    CommandGuard::default()
}

impl CommandGuard {
    /// How many commands have overrun the parser's time since the start.
    pub fn parser_overruns(&self) -> usize {
        self.thread.missed()
    }

    /// Judges one call and blocks until the verdict is there, at most the parser's patience.
    pub fn judge_blocking(&self, call: &ToolCall) -> Verdict {
        match Self::prepare(call) {
            Prepared::Verdict(verdict) => verdict,
            Prepared::Command(command, certainty) => {
                let place = Place::of(call);
                let judged = command.clone();
                let answer = self
                    .thread
                    .run_blocking(move || judge(&judged, certainty, &place));
                verdict(&command, answer)
            }
        }
    }

    /// What can be said without the parser.
    fn prepare(call: &ToolCall) -> Prepared {
        let (command, certainty) = match tool::command(&call.tool, &call.arguments) {
            CommandAsked::Nothing => return Prepared::Verdict(Verdict::Allow),
            CommandAsked::Shell(command) => (command, Certainty::Certain),
            CommandAsked::Perhaps(command) => (command, Certainty::Perhaps),
            CommandAsked::PowerShell(command) => {
                let objection = power_shell::judge(&command, &Place::of(call));
                return Prepared::Verdict(match objection {
                    None => Verdict::Allow,
                    Some(Against::Rule(objection)) => objected(&command, objection),
                    Some(Against::Cmdlet(span)) => cmdlet(&command, span),
                });
            }
            CommandAsked::Unreadable => {
                return Prepared::Verdict(Verdict::SoftDeny(Finding::new(
                    "command.unreadable",
                    "the call of a shell holds no command that can be read",
                )));
            }
        };
        if plain(&command).is_some() {
            let objection = judge(&command, certainty, &Place::of(call));
            return Prepared::Verdict(verdict(&command, Ok(objection)));
        }
        if let Err(refusal) = scan(&command) {
            if certainty == Certainty::Perhaps {
                return Prepared::Verdict(Verdict::Allow);
            }
            let mut finding = Finding::new("command.refused-unparsed", refusal.to_string());
            finding.safer =
                Some("write it in simpler shell, or put it into a script file".to_owned());
            return Prepared::Verdict(Verdict::SoftDeny(finding));
        }
        Prepared::Command(command.into_owned(), certainty)
    }
}

enum Prepared {
    Verdict(Verdict),
    Command(String, Certainty),
}

impl Guard for CommandGuard {
    fn name(&self) -> &'static str {
        "guard.commands"
    }

    fn judge<'a>(
        &'a self,
        call: &'a ToolCall,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Verdict, HandlerFailure>> {
        match Self::prepare(call) {
            Prepared::Verdict(verdict) => Step::Ready(Ok(verdict)),
            Prepared::Command(command, certainty) => Step::later(async move {
                let place = Place::of(call);
                let judged = command.clone();
                let answer = self
                    .thread
                    .run(move || judge(&judged, certainty, &place))
                    .await;
                Ok(verdict(&command, answer))
            }),
        }
    }
}

fn cmdlet(command: &str, span: Range<usize>) -> Verdict {
    let mut finding = Finding::new(
        "powershell.destructive",
        "the command deletes, formats, stops or runs text in PowerShell, which is not followed",
    );
    finding.offence = offence(command, span);
    finding.safer = Some("do it with a tool whose arguments can be read".to_owned());
    Verdict::SoftDeny(finding)
}

fn verdict(command: &str, answer: Result<Option<Objection>, NoAnswer>) -> Verdict {
    match answer {
        Ok(None) => Verdict::Allow,
        Ok(Some(objection)) => objected(command, objection),
        Err(error) => {
            let mut finding = Finding::new(
                "command.no-verdict",
                format!("the command could not be judged: {error}"),
            );
            finding.safer = Some("write it in simpler shell".to_owned());
            Verdict::SoftDeny(finding)
        }
    }
}

fn objected(command: &str, objection: Objection) -> Verdict {
    let Objection { rule, span, detail } = objection;
    let reason = match detail {
        Some(detail) => format!("{}: {detail}", rule.reason),
        None => rule.reason.to_owned(),
    };
    let finding = Finding {
        rule: rule.id.to_owned(),
        reason,
        offence: offence(command, span),
        safer: Some(rule.safer.to_owned()),
    };
    match rule.tier {
        Tier::Catastrophic => Verdict::HardDeny(finding),
        Tier::Dangerous => Verdict::SoftDeny(finding),
    }
}

fn offence(command: &str, span: Range<usize>) -> Option<Offence> {
    let text = command.get(span.clone())?;
    let mut end = text.len().min(OFFENCE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(Offence {
        text: text[..end].to_owned(),
        span: Some(span),
    })
}

/// The path guard: where a path leads, and whether the agent may go there.
#[derive(Debug, Clone)]
pub struct PathGuard {
    root: Option<PathBuf>,
    temporary: PathBuf,
}

/// A path guard that takes the workspace from each call.
///
/// The temporary folder is `/tmp`, not what the environment says: a variable is no permission.
pub fn paths() -> PathGuard {
    PathGuard {
        root: None,
        temporary: PathBuf::from("/tmp"),
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

    /// Judges one call.
    pub fn judge_blocking(&self, call: &ToolCall) -> Verdict {
        let asked = tool::paths(&call.tool, &call.arguments);
        if asked.is_empty() {
            return Verdict::Allow;
        }
        let bounds = Bounds::of(call, self.root.as_deref(), &self.temporary);
        let mut as_text = None;
        let mut soft = None;
        for (op, path) in &asked {
            match path::judge(*op, path, &bounds) {
                Judged::Opened(_) | Judged::Null => {}
                Judged::AsText => as_text = Some(path),
                Judged::Refused(refusal) => match refusal.verdict(path, bounds.presence) {
                    hard @ Verdict::HardDeny(_) => return hard,
                    other => soft = soft.or(Some(other)),
                },
            }
        }
        if let Some(denied) = soft {
            return denied;
        }
        match as_text {
            Some(path) => {
                let mut finding = Finding::new(
                    JUDGED_AS_TEXT,
                    "the workspace is not on this machine: links were not followed",
                );
                finding.offence = Some(Offence {
                    text: path.chars().take(OFFENCE_BYTES_MAX).collect(),
                    span: None,
                });
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
