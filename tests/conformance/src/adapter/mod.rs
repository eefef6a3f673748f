//! One adapter for each profile: what the operations of a script mean on its legacy name.

mod broadcaster;
mod message_manager;
mod scheduler_signal_bus;
mod terminal_callbacks;
mod session_observer;
mod hook_bus;
mod loader;

use std::sync::Arc;

use anyhow::bail;

use crate::fields::Fields as _;
use crate::operation::Adapter;
use crate::run::Run;

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
        "hookbus_blocking" | "hookbus_observational" => hook_bus::HookBusOps::adapter(run, &setup)?,
        "session_observer" => session_observer::SessionObserverOps::adapter(run)?,
        "broadcaster" => broadcaster::BroadcasterOps::adapter(run)?,
        "message_added_sync" => {
            message_manager::MessageManagerOps::adapter(run, message_manager::Entry::Sync)?
        }
        "message_added_async" => {
            message_manager::MessageManagerOps::adapter(run, message_manager::Entry::Async)?
        }
        "scheduler_signal_bus" => scheduler_signal_bus::SchedulerSignalBusOps::adapter(run)?,
        "terminal_callbacks" => terminal_callbacks::TerminalCallbacksOps::adapter(run, &setup)?,
        "loader" => loader::LoaderOps::adapter(),
        other => bail!("no adapter for the profile `{other}`"),
    })
}
