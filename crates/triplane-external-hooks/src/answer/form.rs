//! The forms of an answer.

use serde_json::{Value, json};

use crate::answer::ruling::{HarnessAnswer, Ruling};
use crate::catalog::{EventSpec, Harness, Refusal};
use crate::wire::{HookEvent, Unreadable};

/// The longest reason that is passed on. Claude Code moves longer texts (10,000 characters) into
/// a file and shows a pointer instead.
const REASON_CHARS_MAX: usize = 8_000;

/// Says to `harness` what was decided about `event`.
///
/// ```
/// use triplane_external_hooks::{Harness, HookEvent, Ruling, answer};
/// use triplane_interception::Finding;
///
/// let event = HookEvent::read(
///     br#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}"#,
/// )?;
/// let ruling = Ruling::Deny(Finding::new("rm.root", "this deletes the whole file system"));
/// let answer = answer(Harness::Claude, &event, &ruling);
/// assert!(answer.stdout.contains(r#""permissionDecision":"deny""#));
/// assert_eq!(answer.exit, 0);
/// # Ok::<(), triplane_external_hooks::Unreadable>(())
/// ```
pub fn answer(harness: Harness, event: &HookEvent, ruling: &Ruling) -> HarnessAnswer {
    let form = match event.spec().and_then(|spec| spec.refusal(harness)) {
        // An agent that is never let stop runs for ever: the second refusal only shows itself.
        Some(Refusal::Block) if stops_again(event) => Some(Refusal::Impossible),
        form => form,
    };
    match (ruling, form) {
        (Ruling::Allow, Some(Refusal::Replacement)) => refused_by_exit(&format!(
            "triplane only watches: a hook on {} replaces the harness's own work. Remove it from the settings.",
            event.name()
        )),
        (Ruling::Allow, Some(_)) => HarnessAnswer::default(),
        (Ruling::Allow, None) => unknown(harness, event),
        (Ruling::Deny(finding), _) => refused(event.name(), form, &finding.told()),
        (Ruling::Rewrite { arguments, reason }, Some(Refusal::Permission))
            if arguments.is_object() =>
        {
            rewritten(event.name(), arguments, &non_empty(reason))
        }
        // No other event takes new arguments without also granting the call for the user.
        (Ruling::Rewrite { arguments, reason }, _) => {
            let reason = format!(
                "{} Call the tool with {arguments} instead.",
                non_empty(reason)
            );
            refused(event.name(), form, &reason)
        }
    }
}

/// Refuses a question that could not be read: whatever was asked, it was not understood.
///
/// Where the text names a known event that ignores exit codes, the refusal takes that event's own
/// form.
pub fn answer_unreadable(harness: Harness, unreadable: &Unreadable) -> HarnessAnswer {
    let reason = format!("triplane cannot read this event and refuses it: {unreadable}.");
    let name = unreadable.event.as_deref().unwrap_or_default();
    match EventSpec::find(name).and_then(|spec| spec.refusal(harness)) {
        form @ Some(Refusal::Behavior | Refusal::Stop) => refused(name, form, &reason),
        _ => refused_by_exit(&reason),
    }
}

/// Looked at for these two events alone: no field may talk a call out of its refusal.
fn stops_again(event: &HookEvent) -> bool {
    matches!(event.name(), "Stop" | "SubagentStop") && event.stop_hook_active()
}

fn refused(event: &str, form: Option<Refusal>, reason: &str) -> HarnessAnswer {
    let reason = shortened(reason);
    match form {
        Some(Refusal::Permission) => said(&json!({
            "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        })),
        Some(Refusal::Behavior) => said(&json!({
            "hookSpecificOutput": {
                "hookEventName": event,
                "decision": { "behavior": "deny", "message": reason },
            }
        })),
        Some(Refusal::Block) => said(&json!({ "decision": "block", "reason": reason })),
        Some(Refusal::Stop) => said(&json!({ "continue": false, "stopReason": reason })),
        Some(Refusal::Exit | Refusal::Replacement) | None => refused_by_exit(&reason),
        Some(Refusal::Impossible) => HarnessAnswer {
            stderr: printable(&reason),
            exit: 1,
            ..HarnessAnswer::default()
        },
    }
}

fn refused_by_exit(reason: &str) -> HarnessAnswer {
    HarnessAnswer {
        stderr: printable(&shortened(reason)),
        exit: 2,
        ..HarnessAnswer::default()
    }
}

fn rewritten(event: &str, arguments: &Value, reason: &str) -> HarnessAnswer {
    said(&json!({
        "hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": "allow",
            "permissionDecisionReason": shortened(reason),
            "updatedInput": arguments,
        }
    }))
}

/// Every harness shows a `systemMessage` and accepts it on every event.
fn unknown(harness: Harness, event: &HookEvent) -> HarnessAnswer {
    let message = format!(
        "triplane does not know the event {} of {harness}: it is recorded; what it could refuse is not known.",
        event.name()
    );
    HarnessAnswer {
        stderr: printable(&message),
        ..said(&json!({ "systemMessage": shortened(&message) }))
    }
}

fn said(answer: &Value) -> HarnessAnswer {
    HarnessAnswer {
        stdout: format!("{answer}\n"),
        ..HarnessAnswer::default()
    }
}

fn non_empty(reason: &str) -> String {
    match reason.trim() {
        "" => "The policy asks for other arguments.".to_owned(),
        reason => reason.to_owned(),
    }
}

fn shortened(reason: &str) -> String {
    match reason.char_indices().nth(REASON_CHARS_MAX) {
        Some((end, _)) => format!("{} …", &reason[..end]),
        None => reason.to_owned(),
    }
}

/// A line for a terminal: a reason may quote what an agent wrote, escape sequences included.
fn printable(reason: &str) -> String {
    let mut line: String = reason
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    line.push('\n');
    line
}
