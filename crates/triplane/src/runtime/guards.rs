//! The guards of a runtime in their order, some of which may still be made.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use triplane_interception::{Guard, PermissionPolicy, ToolCallPlan};

use crate::error::RuntimeError;

type Making =
    Pin<Box<dyn Future<Output = Result<Arc<dyn Guard>, Box<dyn Error + Send + Sync>>> + Send>>;

enum Coming {
    Made(Arc<dyn Guard>),
    Later(Making),
}

#[derive(Default)]
pub(crate) struct Guards(Vec<Coming>);

impl Guards {
    pub(crate) fn add(&mut self, guard: impl Guard + 'static) {
        self.0.push(Coming::Made(Arc::new(guard)));
    }

    pub(crate) fn add_later<G, E>(
        &mut self,
        making: impl Future<Output = Result<G, E>> + Send + 'static,
    ) where
        G: Guard + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.0.push(Coming::Later(Box::pin(async {
            match making.await {
                Ok(guard) => Ok(Arc::new(guard) as Arc<dyn Guard>),
                Err(error) => Err(error.into()),
            }
        })));
    }

    /// Waits for those that are still made, and compiles the plan. Without one of them the plan is
    /// there when it is first asked for.
    pub(crate) async fn plan(
        self,
        policy: Option<Arc<PermissionPolicy>>,
    ) -> Result<ToolCallPlan, RuntimeError> {
        let mut plan = ToolCallPlan::builder();
        for coming in self.0 {
            plan = plan.guard(match coming {
                Coming::Made(guard) => guard,
                Coming::Later(making) => making.await.map_err(RuntimeError::Guard)?,
            });
        }
        if let Some(policy) = policy {
            plan = plan.policy(policy);
        }
        Ok(plan.build()?)
    }
}

impl fmt::Debug for Guards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|coming| match coming {
            Coming::Made(guard) => guard.name(),
            Coming::Later(_) => "(still made)",
        });
        f.debug_list().entries(names).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::io;
    use std::sync::Mutex;
    use std::thread;

    use futures::FutureExt as _;
    use serde_json::Value;
    use tokio::sync::oneshot;
    use triplane_interception::{
        Finding, Presence, ToolCall, ToolCallDecision, Verdict, Workspace,
    };
    use triplane_kernel::{HandlerFailure, Scope, Step};

    use super::*;
    use crate::runtime::handle::Runtime;

    /// Notes that it was asked, and lets pass.
    struct Noting(&'static str, Arc<Mutex<Vec<&'static str>>>);

    impl Guard for Noting {
        fn name(&self) -> &str {
            self.0
        }

        fn judge<'a>(
            &'a self,
            _call: &'a ToolCall,
            _scope: &'a Scope,
        ) -> Step<'a, Result<Verdict, HandlerFailure>> {
            self.1.lock().unwrap().push(self.0);
            Step::Ready(Ok(if self.0 == "guard.last" {
                Verdict::SoftDeny(Finding::new("last", "the last one denies"))
            } else {
                Verdict::Allow
            }))
        }
    }

    #[tokio::test]
    async fn guards_are_asked_in_the_order_they_were_added_whenever_they_are_made() {
        let asked = Arc::default();
        let noting = |name| Noting(name, Arc::clone(&asked));
        let (made, making) = oneshot::channel();
        let mut guards = Guards::default();
        guards.add_later(making);
        guards.add(noting("guard.second"));
        guards.add_later(ready(Ok::<_, io::Error>(noting("guard.last"))));
        assert_eq!(
            format!("{guards:?}"),
            r#"["(still made)", "guard.second", "(still made)"]"#
        );
        let first = noting("guard.first");
        let maker = thread::spawn(move || made.send(first).is_ok());
        let plan = guards.plan(None).await.unwrap();
        assert!(maker.join().unwrap());
        let call = ToolCall {
            session: "s".to_owned(),
            agent: None,
            tool: "Bash".to_owned(),
            arguments: Value::Null,
            call_id: None,
            cwd: None,
            workspace: Workspace {
                root: "/srv/app".into(),
                home: None,
                presence: Presence::Elsewhere,
            },
        };
        let judged = plan.judge(Arc::new(call), &Scope::new()).await.unwrap();
        assert!(matches!(judged.decision, ToolCallDecision::Denied(_)));
        let asked = asked.lock().unwrap();
        assert_eq!(*asked, ["guard.first", "guard.second", "guard.last"]);
    }

    #[tokio::test]
    async fn a_guard_that_cannot_be_made_leaves_a_closed_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let (made, making) = oneshot::channel();
        let maker = thread::spawn(move || made.send(Err::<Noting, _>(io::Error::other("why"))));
        let opened = Runtime::durable(&path)
            .guard_later(async { making.await.unwrap() })
            .open()
            .await;
        let error = opened.err().unwrap();
        assert!(maker.join().unwrap().is_ok());
        assert!(matches!(error, RuntimeError::Guard(_)), "{error:?}");
        assert_eq!(error.to_string(), "a guard cannot be made: why");
        let left: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["state.db"]);
    }

    #[tokio::test]
    async fn what_is_wrong_with_the_plan_is_found_before_the_store_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let noting = || Noting("guard.twin", Arc::default());
        let twins = Runtime::durable(&path).guard(noting());
        let error = twins.guard(noting()).open().await.err().unwrap();
        assert!(matches!(error, RuntimeError::Plan(_)), "{error:?}");
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_guard_that_is_never_made_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let never = pending::<Result<Noting, io::Error>>();
        let opening = Runtime::durable(folder.path().join("state.db")).guard_later(never);
        assert!(opening.open().now_or_never().is_none());
    }
}
