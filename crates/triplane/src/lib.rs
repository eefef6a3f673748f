//! Three planes for agent runtimes behind one [`Runtime`]: **interception** that can say no,
//! **observation** that nobody can silence, **durable delivery** that survives a crash.
//!
//! ```text
//! intercept -> perform or deny -> redact -> stage evidence and intents -> commit -> observe -> deliver
//! ```
//!
//! The order is written down once, in [`operation`]: the file to read first. A denial takes the
//! same road as a success. What a guard, a policy or an observer does can never keep the audit row
//! of a committed fact out of the store.
//!
//! Delivery is at least once, under an identity that lets the destination tell a repeated delivery
//! from a new one. An in-process callable is *not contained*: a denial keeps it from being run, and
//! nothing restrains it while it runs.
//!
//! Names of the planes that a user of the facade needs are re-exported here; each plane is a crate
//! of its own that can be used alone.

mod error;
mod event;
mod evidence;
pub mod redaction;
pub mod operation;
mod runtime;
pub mod legacy;
#[cfg(feature = "guards")]
pub mod guards;
#[cfg(any(feature = "sink-file", feature = "sink-argv"))]
pub mod sinks;

pub use error::RuntimeError;
pub use event::{AgentEvent, Enforcement};
#[expect(deprecated, reason = "the old name is kept for its users")]
pub use legacy::Broadcaster;
pub use legacy::{
    DEFAULT_HOOKS, DORMANT_POINTS, HookBus, HookPoint, HookSignal, Loader, MessageManager,
    RunTerminalEnvelope, SchedulerHandlerCancelled, SchedulerSignalBus, SessionObserver, StopHook,
    TerminalCallbackRegistry, hook, lane_for,
};
pub use operation::{Decided, Pending};
pub use redaction::Redaction;
pub use runtime::{DeliveryMode, Leftover, Runtime, RuntimeBuilder};
pub use triplane_interception::{
    Action, ActionError, DeclaredPolicy, ExecutionContext, Finding, Guard, GuardSettings, Judged,
    Outcome, PermissionPolicy, Presence, ToolCall, ToolCallDecision, Verdict, Workspace,
};
pub use triplane_kernel::profile::TERMINAL_BUDGET;
pub use triplane_kernel::{CancelCause, HandlerFailure, Scope};
pub use triplane_signals::{
    EmitterRole, Lane, Observer, Signal, SignalClass, SignalFilter, SignalKind,
};
pub use triplane_state as state;

/// The example of the README, compiled.
#[cfg(all(doctest, feature = "guards", feature = "sink-file"))]
#[doc = include_str!("../README.md")]
struct Readme;
