//! The events that harnesses send, and the form in which each of them takes a refusal.
//!
//! A hook that answers in the wrong form has not refused: Claude Code ignores exit code 2 on
//! `PermissionRequest`, Codex ignores it on `PreCompact`, and both let the action go on. The table
//! [`EVENTS`] is the one place that knows these forms; what it does not list is answered loudly
//! (see [`mod@crate::answer`]).

use std::fmt;
use std::str::FromStr;

/// A program that runs an agent and asks hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Harness {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl Harness {
    /// The name on command lines and in rows: `claude` or `codex`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

impl fmt::Display for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no harness.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no harness is called {0:?}: it is `claude` or `codex`")]
pub struct UnknownHarness(pub String);

impl FromStr for Harness {
    type Err = UnknownHarness;

    fn from_str(text: &str) -> Result<Self, UnknownHarness> {
        match text {
            "claude" => Ok(Self::Claude),
            "codex" => Ok(Self::Codex),
            _ => Err(UnknownHarness(text.to_owned())),
        }
    }
}

/// When an event is sent, relative to what it tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before: the harness waits for the answer, and a refusal prevents it.
    Before,
    /// Afterwards: it has happened, and an answer can at most add a word about it.
    After,
    /// A milestone or a notice: nothing is proposed.
    Notice,
}

/// What an event says about a call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallRole {
    /// Nothing.
    Absent,
    /// A call is proposed: guards judge it.
    Proposes,
    /// A call has been answered, or refused by somebody else.
    Reports,
}

/// The form in which an event takes a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// `hookSpecificOutput` with `permissionDecision: deny`; the only form that can also rewrite.
    Permission,
    /// `hookSpecificOutput` with a `decision` object whose `behavior` is `deny`.
    Behavior,
    /// A top-level `decision: block` with its `reason`.
    Block,
    /// `continue: false` with its `stopReason`.
    Stop,
    /// Exit code 2, the reason on standard error.
    Exit,
    /// Exit code 2, whatever the ruling: the hook stands in for the harness's own work, so that
    /// silence is no permission but a job left undone.
    Replacement,
    /// None: the event cannot be refused, and an answer must not pretend otherwise.
    Impossible,
}

/// One event: what it means, and which form a refusal takes in each harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventSpec {
    /// The value of `hook_event_name`.
    pub name: &'static str,
    /// When it is sent.
    pub phase: Phase,
    /// What it says about a tool call.
    pub call: CallRole,
    /// The refusal in Claude Code; `None` if that harness has no such event.
    pub claude: Option<Refusal>,
    /// The refusal in Codex; `None` if that harness has no such event.
    pub codex: Option<Refusal>,
}

impl EventSpec {
    /// The entry of the event `name`. Names are compared exactly, as harnesses do.
    pub fn find(name: &str) -> Option<&'static Self> {
        EVENTS.iter().find(|spec| spec.name == name)
    }

    /// The form of a refusal in `harness`; `None` if that harness has no such event.
    pub const fn refusal(&self, harness: Harness) -> Option<Refusal> {
        match harness {
            Harness::Claude => self.claude,
            Harness::Codex => self.codex,
        }
    }
}

/// Every known event: the 33 of Claude Code (2.1) and the 12 of Codex (0.170).
pub const EVENTS: &[EventSpec] = {
    use CallRole::{Absent, Proposes, Reports};
    use Phase::{After, Before, Notice};
    use Refusal::{Behavior, Block, Exit, Impossible, Permission, Replacement, Stop};

    const fn event(
        name: &'static str,
        phase: Phase,
        call: CallRole,
        claude: Option<Refusal>,
        codex: Option<Refusal>,
    ) -> EventSpec {
        EventSpec {
            name,
            phase,
            call,
            claude,
            codex,
        }
    }
    const NONE: Option<Refusal> = Some(Impossible);

    &[
        event(
            "PreToolUse",
            Before,
            Proposes,
            Some(Permission),
            Some(Permission),
        ),
        event(
            "PermissionRequest",
            Before,
            Proposes,
            Some(Behavior),
            Some(Behavior),
        ),
        event("PermissionDenied", After, Reports, NONE, None),
        event("PostToolUse", After, Reports, Some(Block), Some(Block)),
        event("PostToolUseFailure", After, Reports, NONE, None),
        event("PostToolBatch", After, Absent, Some(Block), None),
        event("UserPromptSubmit", Before, Absent, Some(Block), Some(Block)),
        event("UserPromptExpansion", Before, Absent, Some(Block), None),
        event("SessionStart", Notice, Absent, NONE, NONE),
        event("SessionEnd", Notice, Absent, NONE, NONE),
        event("Setup", Notice, Absent, NONE, None),
        event("Stop", Before, Absent, Some(Block), Some(Block)),
        event("StopFailure", After, Absent, NONE, None),
        event("Interrupt", Notice, Absent, None, NONE),
        event("SubagentStart", Notice, Absent, NONE, NONE),
        event("SubagentStop", Before, Absent, Some(Block), Some(Block)),
        event("TaskCreated", Before, Absent, Some(Exit), None),
        event("TaskCompleted", Before, Absent, Some(Exit), None),
        event("TeammateIdle", Before, Absent, Some(Exit), None),
        event("Notification", Notice, Absent, NONE, None),
        event("MessageDisplay", Notice, Absent, NONE, None),
        event("InstructionsLoaded", Notice, Absent, NONE, None),
        event("ConfigChange", Before, Absent, Some(Block), None),
        event("CwdChanged", After, Absent, NONE, None),
        event("DirectoryAdded", After, Absent, NONE, None),
        event("FileChanged", After, Absent, NONE, None),
        event("WorktreeCreate", Before, Absent, Some(Replacement), None),
        event("WorktreeRemove", Notice, Absent, NONE, None),
        event("PreCompact", Before, Absent, Some(Block), Some(Stop)),
        event("PostCompact", After, Absent, NONE, NONE),
        event("PreModelSwitch", Before, Absent, Some(Exit), None),
        event("PostModelSwitch", After, Absent, NONE, None),
        event("Elicitation", Before, Absent, Some(Exit), None),
        event("ElicitationResult", Before, Absent, Some(Exit), None),
    ]
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_event_stands_once_and_in_the_counts_of_its_harness() {
        let names: HashSet<_> = EVENTS.iter().map(|spec| spec.name).collect();
        assert_eq!(names.len(), EVENTS.len());
        assert_eq!(
            EVENTS.iter().filter(|spec| spec.claude.is_some()).count(),
            33
        );
        assert_eq!(
            EVENTS.iter().filter(|spec| spec.codex.is_some()).count(),
            12
        );
    }

    #[test]
    fn only_events_that_propose_a_call_can_rewrite_it() {
        for spec in EVENTS {
            for harness in [Harness::Claude, Harness::Codex] {
                let rewrites = spec.refusal(harness) == Some(Refusal::Permission);
                assert!(
                    !rewrites || spec.call == CallRole::Proposes,
                    "{}",
                    spec.name
                );
            }
        }
    }

    #[test]
    fn what_has_happened_is_never_prevented() {
        let preventing = [Refusal::Permission, Refusal::Behavior, Refusal::Stop];
        for spec in EVENTS.iter().filter(|spec| spec.phase != Phase::Before) {
            for harness in [Harness::Claude, Harness::Codex] {
                let form = spec.refusal(harness);
                assert!(
                    !form.is_some_and(|form| preventing.contains(&form)),
                    "{}",
                    spec.name
                );
            }
        }
    }
}
