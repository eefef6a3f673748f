//! The old names, each a thin adapter over one named profile of the kernel.
//!
//! None of them runs handlers: an adapter keeps a list, makes registrations of it, and hands them to
//! a dispatcher or a chain under the policy that [`triplane_kernel::profile`] names for it. What
//! the old mechanisms did is recorded in `tests/conformance`, and `docs/divergences.md` lists where
//! these differ; `docs/deprecations.md` has the new name of each.
//!
//! Python's class methods, process-wide registries and exceptions are values, owned registries and
//! errors here; what a name does is the same.

mod error;
mod value;
mod signal;
mod callback;
mod fan_out;
mod broadcaster;
mod message_manager;
mod condition;
mod flow;
mod persistence;
mod subscription;
mod emission;
mod gate;
mod session_observer;
mod scheduler_signal_bus;
mod terminal_callbacks;
mod hook_point;
mod hook_signal;
mod hook_chain;
mod hook_bus;
mod loader;
#[cfg(feature = "altered-policies")]
#[doc(hidden)]
pub mod altered;

#[expect(deprecated, reason = "the old name is kept for its users")]
pub use broadcaster::{BroadcastError, Broadcaster, Subscriber};
pub use callback::Callback;
pub use condition::{Comparison, Condition, Filter, Predicate};
pub use emission::LATE_MATCHES_MAX;
pub use error::{BuiltinUnbound, ErrorGroup, Raised, StateCompatibilityRefused, StopHook};
pub use hook_bus::{HookBus, MessageDrain, Registered, SUMMARY_CHARACTERS_MAX, Tagged, hook};
pub use hook_chain::{Hook, HookCall};
pub use hook_point::{DORMANT_POINTS, HookPoint, UnknownHookPoint};
pub use hook_signal::HookSignal;
pub use loader::{BUILTINS, DEFAULT_HOOKS, LoadError, Loader, UnknownHandler};
pub use message_manager::{AddMessageError, Message, MessageKind, MessageManager};
pub use persistence::{PAYLOAD_BYTES_MAX, SKIP_WINDOW, SignalRow, SignalSink, SinkFailure};
pub use scheduler_signal_bus::{
    CountersGone, RunCounters, SchedulerError, SchedulerHandlerCancelled, SchedulerSignalBus,
    SignalPredicate, UnknownRunStatus, schedule_run_signal,
};
pub use session_observer::{Answer, NoCondition, SessionObserver};
pub use signal::lane_for;
pub use terminal_callbacks::{
    Correlation, EntityRef, Precedence, RunTerminalEnvelope, TerminalCallbackRegistry,
    TerminalFilter,
};
pub use value::{Record, Signal, TypeName, Value};
