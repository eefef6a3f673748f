//! The operations of a profile, as the script and handlers perform them.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use triplane::legacy::Value;
use triplane_kernel::{HandlerFailure, Scope};

use crate::fault::{self, Fault};
use crate::run::Run;

/// What an operation came to: a value as a trace has it, or what was raised.
pub(crate) type Outcome = Result<Json, Fault>;

/// The operations of one profile.
pub(crate) trait Adapter: Send + Sync {
    /// Performs an operation that needs no wait; `None` when it is one that must be awaited.
    fn at_once(&self, run: &Arc<Run>, op: &Value) -> Option<Outcome>;

    /// Performs an operation that must be awaited.
    fn awaited<'a>(
        &'a self,
        run: &'a Arc<Run>,
        op: &'a Value,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Outcome>;

    /// The state at the end, as a trace has it.
    fn last_state(&self) -> Json;
}

/// Performs an operation of the script or of a handler.
pub(crate) async fn perform(
    run: &Arc<Run>,
    adapter: &dyn Adapter,
    op: &Value,
    scope: &Scope,
) -> Outcome {
    match adapter.at_once(run, op) {
        Some(outcome) => outcome,
        None => adapter.awaited(run, op, scope).await,
    }
}

/// An adapter that its handlers can find again.
pub(crate) fn cyclic<A: Adapter + 'static>(
    make: impl FnOnce(Weak<dyn Adapter>) -> A,
) -> Arc<dyn Adapter> {
    Arc::new_cyclic(|this: &Weak<A>| make(this.clone() as Weak<dyn Adapter>))
}

pub(crate) fn unknown(op: &Value) -> ! {
    panic!("an operation that the profile does not know: {op:?}")
}

/// A predicate as a scenario writes it: `always`, `never`, `raise:<kind>`, `mark:<x>`, `async_never`.
pub(crate) fn predicate(
    run: &Arc<Run>,
    handler: &str,
    written: &str,
) -> impl Fn() -> Result<bool, HandlerFailure> + Send + Sync + use<> {
    let (run, handler, written) = (Arc::clone(run), handler.to_owned(), written.to_owned());
    move || {
        if let Some(kind) = written.strip_prefix("raise:") {
            let spec = vec![
                ("kind".to_owned(), Value::text(kind)),
                ("message".to_owned(), Value::text("predicate")),
            ];
            run.blame(&handler, Some(handler.clone()));
            return Err(fault::make(&spec.into()));
        }
        if let Some(mark) = written.strip_prefix("mark:") {
            let event = json!({"ev": "predicate", "handler": handler, "mark": mark});
            run.record(event);
        }
        // An awaitable is something, and what is something counts as true.
        Ok(written != "never")
    }
}
