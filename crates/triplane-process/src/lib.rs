//! How a command is spawned: an argument vector, its own process group, bounded output.
//!
//! A command is an [`Argv`], never a line for a shell. An [`Invocation`] runs it in a process group
//! of its own, gives it an input, keeps a bounded part of its output, and comes to an end in bounded
//! time:
//!
//! ```text
//!  spawn ──> running ──┬── the leader exits ────> rest of the output, at most `drain` ──┐
//!                      ├── `time` runs out ─────────────────────────────────────────────┤
//!                      ├── the scope is cancelled ──────────────────────────────────────┤
//!                      └── the future is dropped ───────────────────────────────────────┤
//!                                                  SIGKILL to the whole group <─────────┘
//!                                                  last output, at most `drain`; reap the leader
//! ```
//!
//! What this crate does not do: it confines nothing. A child may leave its group and live on, and it
//! has every right of this process; [`Containment::NotContained`] says so in each report. Only Unix
//! is supported.
//!
//! Reading order: [`argv`], [`capture`], [`outcome`], `group`, [`spawn`].

pub mod argv;
pub mod capture;
pub mod outcome;
mod group;
pub mod spawn;

pub use argv::{ARGUMENT_BYTES_MAX, Argv, ArgvRefused};
pub use capture::Captured;
pub use outcome::{Completed, Containment, Outcome};
pub use spawn::{Environment, Invocation, Limits};
pub use triplane_kernel::{CancelCause, Scope};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
