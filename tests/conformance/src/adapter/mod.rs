//! One adapter for each profile: what the operations of a script mean on its legacy name.

mod broadcaster;
mod message_manager;
mod scheduler_signal_bus;
mod terminal_callbacks;
mod session_observer;
mod hook_bus;
mod loader;

use std::sync::{Arc, Weak};

use anyhow::bail;
use futures::future::BoxFuture;
use serde_json::Value as Json;
use triplane::legacy::Value;
use triplane_kernel::{HandlerFailure, Scope};

use crate::fault::{self, Fault};
use crate::json::Fields as _;
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

/// The profiles that have an adapter.
pub(crate) const PROFILES: &[&str] = &[
    "hookbus_blocking",
    "hookbus_observational",
    "session_observer",
    "broadcaster",
    "message_added_sync",
    "message_added_async",
    "scheduler_signal_bus",
    "terminal_callbacks",
    "loader",
];

/// The adapter of the run's profile.
pub(crate) fn of(run: &Arc<Run>) -> anyhow::Result<Arc<dyn Adapter>> {
    let setup = run.scenario().field("setup").cloned().unwrap_or_default();
    Ok(match run.scenario().text("profile") {
        "hookbus_blocking" | "hookbus_observational" => hook_bus::HookBusOps::adapter(&setup),
        "session_observer" => session_observer::SessionObserverOps::adapter(),
        "broadcaster" => broadcaster::BroadcasterOps::adapter(),
        "message_added_sync" => {
            message_manager::MessageManagerOps::adapter(message_manager::Entry::Sync)
        }
        "message_added_async" => {
            message_manager::MessageManagerOps::adapter(message_manager::Entry::Async)
        }
        "scheduler_signal_bus" => scheduler_signal_bus::SchedulerSignalBusOps::adapter(),
        "terminal_callbacks" => terminal_callbacks::TerminalCallbacksOps::adapter(&setup)?,
        "loader" => loader::LoaderOps::adapter(),
        other => bail!("no adapter for the profile `{other}`"),
    })
}

/// An adapter that its handlers can find again.
fn cyclic<A: Adapter + 'static>(make: impl FnOnce(Weak<dyn Adapter>) -> A) -> Arc<dyn Adapter> {
    Arc::new_cyclic(|this: &Weak<A>| make(this.clone() as Weak<dyn Adapter>))
}

fn unknown(op: &Value) -> ! {
    panic!("an operation that the profile does not know: {op:?}")
}

/// A predicate as a scenario writes it: `always`, `never`, `raise:<kind>`, `mark:<x>`, `async_never`.
fn predicate(
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
            return Err(fault::make(&spec.into()));
        }
        if let Some(mark) = written.strip_prefix("mark:") {
            let event = serde_json::json!({"ev": "predicate", "handler": handler, "mark": mark});
            run.record(event);
        }
        // An awaitable is something, and what is something counts as true.
        Ok(written != "never")
    }
}
