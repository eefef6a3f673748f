use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;
use triplane_kernel::{CancelCause, Step};

use super::*;
use crate::guard::{Finding, Guard, Verdict};
use crate::tool_call::{Presence, Workspace};

struct NoRust;

impl Guard for NoRust {
    fn name(&self) -> &'static str {
        "guard.no-rust"
    }

    fn judge<'a>(
        &'a self,
        call: &'a ToolCall,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Verdict, HandlerFailure>> {
        let denied = call.arguments["query"] == "rust";
        Step::Ready(Ok(if denied {
            Verdict::HardDeny(Finding::new("no-rust", "not that"))
        } else {
            Verdict::Allow
        }))
    }
}

#[derive(Deserialize)]
struct Search {
    query: String,
}

fn search() -> Action {
    Action::new(
        "search",
        |search: Search, cx: ExecutionContext| async move {
            match search.query.as_str() {
                "fail" => Err("no index"),
                "panic" => panic!("no shelf"),
                "wait" => {
                    cx.scope.cancelled().await;
                    Ok(String::new())
                }
                query => Ok(format!("{}:{query}", cx.session)),
            }
        },
    )
    .expect("a name")
}

async fn check(arguments: Value, wanted: &str) {
    let plan = ToolCallPlan::builder()
        .guard(Arc::new(NoRust))
        .build()
        .expect("a plan");
    let scope = Scope::new();
    if arguments["query"] == "wait" {
        scope.cancel(CancelCause::Emitter);
    }
    let call = ToolCall {
        session: "s".into(),
        agent: None,
        tool: "search".into(),
        arguments,
        call_id: None,
        cwd: None,
        workspace: Workspace {
            root: PathBuf::from("/w"),
            home: None,
            presence: Presence::Elsewhere,
        },
    };
    let executed = ActionExecutor::new(Arc::new(plan))
        .execute(&search(), Arc::new(call), &scope)
        .await;
    assert_eq!(executed.outcome.to_string(), wanted);
}

#[tokio::test]
async fn an_action_runs_only_after_the_plan_and_ends_in_one_of_four_ways() {
    check(json!({"query": "tea"}), r#"succeeded: "s:tea""#).await;
    check(json!({"query": "rust"}), "denied: not that [no-rust]").await;
    check(json!({"query": "fail"}), "failed: no index").await;
    check(json!({"query": "panic"}), "failed: panicked: no shelf").await;
    check(json!({"query": "wait"}), "cancelled by the emitter").await;
    check(
        json!({"q": 1}),
        "failed: the arguments do not fit: missing field `query`",
    )
    .await;
}
