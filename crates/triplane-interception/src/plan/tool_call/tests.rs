use std::path::PathBuf;

use serde_json::{Value, json};
use triplane_kernel::{CancelCause, Step};

use super::*;
use crate::guard::Verdict;
use crate::tool_call::{Presence, Workspace};

/// A guard that judges by the argument `command`.
struct ByCommand;

impl Guard for ByCommand {
    fn name(&self) -> &'static str {
        "guard.by-command"
    }

    fn judge<'a>(
        &'a self,
        call: &'a ToolCall,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Verdict, HandlerFailure>> {
        let command = call.arguments["command"].as_str().unwrap_or_default();
        Step::Ready(match command {
            "hard" => Ok(Verdict::HardDeny(Finding::new("rule.hard", "never"))),
            "soft" => Ok(Verdict::SoftDeny(Finding::new("rule.soft", "rarely"))),
            "odd" => Ok(Verdict::Advisory(Finding::new("rule.odd", "noticed"))),
            "error" => Err(HandlerFailure::failed("no table")),
            "panic" => panic!("no floor"),
            _ => Ok(Verdict::Allow),
        })
    }
}

/// A guard that never answers.
struct Silent;

impl Guard for Silent {
    fn name(&self) -> &'static str {
        "guard.silent"
    }

    fn judge<'a>(
        &'a self,
        _call: &'a ToolCall,
        scope: &'a Scope,
    ) -> Step<'a, Result<Verdict, HandlerFailure>> {
        Step::later(async move { Err(HandlerFailure::Cancelled(scope.cancelled().await)) })
    }
}

fn call(command: &str) -> Arc<ToolCall> {
    Arc::new(ToolCall {
        session: "s".into(),
        agent: None,
        tool: "Bash".into(),
        arguments: json!({"command": command}),
        call_id: None,
        cwd: None,
        workspace: Workspace {
            root: PathBuf::from("/w"),
            home: None,
            presence: Presence::Elsewhere,
        },
    })
}

fn plan(policy: Value) -> ToolCallPlan {
    let policy = serde_json::from_value(policy).expect("a policy");
    ToolCallPlan::builder()
        .guard(Arc::new(ByCommand))
        .policy(Arc::new(policy))
        .build()
        .expect("a plan")
}

async fn check(plan: &ToolCallPlan, command: &str, wanted: &str) {
    let judged = plan
        .judge(call(command), &Scope::new())
        .await
        .expect("a decision");
    let notes: Vec<&str> = judged.notes.iter().map(|note| note.rule.as_str()).collect();
    let got = match judged.decision {
        ToolCallDecision::Allowed => "allowed".to_owned(),
        ToolCallDecision::Denied(finding) => {
            format!("denied by {}: {}", finding.rule, finding.reason)
        }
        ToolCallDecision::Rewritten {
            arguments, rule, ..
        } => format!("{arguments} by {rule}"),
    };
    let got = if notes.is_empty() {
        got
    } else {
        format!("{got}, noted {}", notes.join(" "))
    };
    assert_eq!(got, wanted, "{command}");
}

#[tokio::test]
async fn guards_judge_before_policy_and_again_after_a_rewrite() {
    let plan = plan(json!({
        "version": 1,
        "deny": [{"id": "no-secret", "tool": "Bash", "argument": "command", "pattern": "secret", "reason": "secret"}],
        "rewrite": [
            {"id": "r1", "tool": "Bash", "argument": "command", "pattern": "^to-(.*)$", "replace": "$1"},
        ],
    }));
    check(&plan, "ls", "allowed").await;
    check(&plan, "hard", "denied by rule.hard: never").await;
    check(&plan, "soft", "denied by rule.soft: rarely").await;
    check(&plan, "odd", "allowed, noted rule.odd").await;
    check(&plan, "a secret", "denied by no-secret: secret").await;
    check(&plan, "to-ls", r#"{"command":"ls"} by r1"#).await;
    check(
        &plan,
        "to-odd",
        r#"{"command":"odd"} by r1, noted rule.odd"#,
    )
    .await;
    check(&plan, "to-hard", "denied by rule.hard: never").await;
}

#[tokio::test]
async fn a_guard_that_fails_or_panics_denies() {
    let plan = plan(json!({"version": 1}));
    check(
        &plan,
        "error",
        "denied by guard.by-command.failed: `guard.by-command` could not judge: no table",
    )
    .await;
    check(
        &plan,
        "panic",
        "denied by guard.by-command.failed: `guard.by-command` could not judge: panicked: no floor",
    )
    .await;
}

#[tokio::test]
async fn a_cancelled_scope_decides_nothing() {
    let plan = ToolCallPlan::builder()
        .guard(Arc::new(Silent))
        .build()
        .expect("a plan");
    let scope = Scope::new();
    scope.cancel(CancelCause::Deadline);
    let failure = plan.judge(call("ls"), &scope).await.expect_err("cancelled");
    assert!(
        matches!(failure, HandlerFailure::Cancelled(CancelCause::Deadline)),
        "{failure:?}"
    );
}

#[test]
fn two_guards_of_one_name_are_refused() {
    let plan = ToolCallPlan::builder()
        .guard(Arc::new(ByCommand))
        .guard(Arc::new(ByCommand))
        .build();
    assert!(plan.is_err());
}
