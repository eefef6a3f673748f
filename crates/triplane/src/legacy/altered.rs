//! Legacy names under other policies than their profiles: the seam of the conformance runner.
//!
//! A scenario that nothing can turn red proves nothing. The runner changes a profile field by field and
//! looks for a scenario that notices; this module is how it gets such a name. It exists under the feature
//! `altered-policies` only, which nobody but the runner asks for: `cargo xtask layers` checks that.

use triplane_kernel::{DispatchPolicy, StageOrder};

#[expect(deprecated, reason = "it is altered like any other")]
use crate::legacy::broadcaster::Broadcaster;
use crate::legacy::hook_bus::HookBus;
use crate::legacy::hook_chain::{Manners, Stages};
use crate::legacy::message_manager::MessageManager;
use crate::legacy::scheduler_signal_bus::SchedulerSignalBus;
use crate::legacy::session_observer::SessionObserver;
use crate::legacy::terminal_callbacks::TerminalCallbackRegistry;
use crate::legacy::value::TypeName;

/// The interceptor profile of a bus that is altered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Altered {
    /// That of the blocking points.
    Blocking,
    /// That of all others.
    Observational,
}

/// The bus under other stages, in which the hook that was registered at an index stands at `place`.
///
/// The stages must hold at least one, and be a valid order.
#[must_use]
pub fn hook_bus(
    bus: HookBus,
    altered: Altered,
    declared: StageOrder,
    place: fn(usize) -> i32,
) -> HookBus {
    let mut manners = Manners::profiles();
    let stages = Stages { declared, place };
    match altered {
        Altered::Blocking => manners.blocking = stages,
        Altered::Observational => manners.observational = stages,
    }
    bus.under(manners)
}

/// A broadcaster under another policy.
#[expect(deprecated, reason = "it is altered like any other")]
pub fn broadcaster(event_type: TypeName, policy: DispatchPolicy) -> Broadcaster {
    Broadcaster::under(event_type, policy)
}

/// An observer under another policy.
pub fn session_observer(policy: DispatchPolicy) -> SessionObserver {
    SessionObserver::under(policy)
}

/// A message manager under other policies, of its sync and of its async entry.
pub fn message_manager(sync: DispatchPolicy, asynchronous: DispatchPolicy) -> MessageManager {
    MessageManager::under(sync, asynchronous)
}

/// A bus of the scheduler under another policy.
pub fn scheduler_signal_bus(policy: DispatchPolicy) -> SchedulerSignalBus {
    SchedulerSignalBus::under(policy)
}

/// A registry under another policy.
pub fn terminal_callbacks(policy: DispatchPolicy) -> TerminalCallbackRegistry {
    TerminalCallbackRegistry::under(policy)
}
