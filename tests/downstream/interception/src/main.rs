//! Interception by itself: a guard and a policy decide; nothing is stored and nobody is told.

use std::error::Error;
use std::sync::Arc;

use futures::executor::block_on;
use serde_json::json;
use triplane_interception::{
    Finding, Guard, PermissionPolicy, Presence, ToolCall, ToolCallDecision, ToolCallPlan, Verdict,
    Workspace,
};
use triplane_kernel::{HandlerFailure, Scope, Step};

struct NoSecrets;

impl Guard for NoSecrets {
    fn name(&self) -> &'static str {
        "guard.no-secrets"
    }

    fn judge<'a>(
        &'a self,
        call: &'a ToolCall,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Verdict, HandlerFailure>> {
        let command = call.arguments["command"].as_str().unwrap_or_default();
        Step::Ready(Ok(if command.contains("secret") {
            Verdict::HardDeny(Finding::new("no-secrets", "that is not yours"))
        } else {
            Verdict::Allow
        }))
    }
}

fn call(command: &str) -> Arc<ToolCall> {
    Arc::new(ToolCall {
        session: "s1".to_owned(),
        agent: None,
        tool: "Bash".to_owned(),
        arguments: json!({"command": command}),
        call_id: None,
        cwd: None,
        workspace: Workspace {
            root: "/srv/app".into(),
            home: None,
            presence: Presence::Elsewhere,
        },
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let policy: PermissionPolicy = serde_json::from_value(json!({
        "version": 1,
        "rewrite": [{"id": "npm-ci", "tool": "Bash", "argument": "command",
            "pattern": "^npm install$", "replace": "npm ci"}],
    }))?;
    let plan = ToolCallPlan::builder()
        .guard(Arc::new(NoSecrets))
        .policy(Arc::new(policy))
        .build()?;
    for (command, wanted) in [
        ("ls", "allowed"),
        ("cat secret", "denied by no-secrets"),
        ("npm install", r#"{"command":"npm ci"} by npm-ci"#),
    ] {
        let decision = block_on(plan.judge(call(command), &Scope::new()))?.decision;
        let got = match decision {
            ToolCallDecision::Allowed => "allowed".to_owned(),
            ToolCallDecision::Denied(finding) => format!("denied by {}", finding.rule),
            ToolCallDecision::Rewritten {
                arguments, rule, ..
            } => format!("{arguments} by {rule}"),
        };
        assert_eq!(got, wanted, "{command}");
    }
    println!("interception: allowed, denied and rewrote one each");
    Ok(())
}
