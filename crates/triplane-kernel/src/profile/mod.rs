//! Named profiles: the policies of ADR-0120 D2, each as one function that returns the exact value.
//!
//! A profile is never rebuilt field by field. [`ProfileName::snapshot`] gives its canonical form and
//! digest; a test pins both, so that a change of a profile is a change that is seen.

mod build;
mod plain;
mod hook_points;
mod broadcaster;
mod session_observer;
mod message_added;
mod scheduler;
mod terminal;

pub use broadcaster::broadcaster;
pub use hook_points::{hookbus_blocking, hookbus_observational};
pub use message_added::{message_added_async, message_added_sync};
pub use scheduler::scheduler_signal_bus;
pub use session_observer::session_observer;
pub use terminal::{TERMINAL_BUDGET, terminal_callbacks};

use crate::declare::SnapshotEnvelope;

macro_rules! profiles {
    ($($(#[$doc:meta])* $profile:ident = $wire:literal => $snapshot:expr),+ $(,)?) => {
        /// The profiles by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ProfileName {
            $($(#[$doc])* $profile,)+
        }

        impl ProfileName {
            /// Every profile, in the order of the record's table.
            pub const ALL: &'static [Self] = &[$(Self::$profile),+];

            /// The name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$profile => $wire),+ }
            }

            /// The profile's value as it is stored and digested. Terminal callbacks are given with
            /// [`TERMINAL_BUDGET`].
            pub fn snapshot(self) -> SnapshotEnvelope {
                match self { $(Self::$profile => $snapshot),+ }
            }
        }
    };
}

profiles! {
    /// See [`hookbus_blocking`].
    HookbusBlocking = "hookbus_blocking" => hookbus_blocking().snapshot(),
    /// See [`hookbus_observational`].
    HookbusObservational = "hookbus_observational" => hookbus_observational().snapshot(),
    /// See [`broadcaster`].
    Broadcaster = "broadcaster" => broadcaster().snapshot(),
    /// See [`session_observer`].
    SessionObserver = "session_observer" => session_observer().snapshot(),
    /// See [`message_added_sync`].
    MessageAddedSync = "message_added_sync" => message_added_sync().snapshot(),
    /// See [`message_added_async`].
    MessageAddedAsync = "message_added_async" => message_added_async().snapshot(),
    /// See [`scheduler_signal_bus`].
    SchedulerSignalBus = "scheduler_signal_bus" => scheduler_signal_bus().snapshot(),
    /// See [`terminal_callbacks`].
    TerminalCallbacks = "terminal_callbacks" => terminal_callbacks(TERMINAL_BUDGET).snapshot(),
}
