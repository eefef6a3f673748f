//! Fan-out: every matching handler hears of a signal, and none can stop it.
//!
//! The life of one emission:
//!
//! 1. the [index](FanoutDispatcher) finds what is registered under the signal's keys;
//! 2. for each phase of the policy, in order, what the phase selects is asked by predicate and
//!    called, one after the other or beside each other, here or through the [`Offload`];
//! 3. what a call returned is awaited in its turn, awaited when all have been called, or dropped;
//! 4. answers are booked under the stage's policy: a failure may end the stage, cancel others, or
//!    stay with its handler;
//! 5. what is unfinished at the deadline is stopped, let go or abandoned;
//! 6. the error surface makes an error of what was booked, or none; either way there is a
//!    [`DispatchReport`] that names every matched registration.
//!
//! What each policy does, and in which order things happen, is in `docs/kernel-semantics.md`.

mod key;
mod handler;
mod offload;
mod registration;
mod index;
mod outcome;
mod outcomes;
mod report;
mod error;
mod snapshot;
mod nesting;
mod call;
mod work;
mod stage;
mod detached;
mod planned;
mod phase;
mod sequential;
mod gather;
mod concurrent;
mod emission;
mod dispatcher;

pub use detached::{LateOutcome, LateSink, ShutdownReport};
pub use dispatcher::{Discarding, FanoutDispatcher, Subscription};
pub use error::DispatchError;
pub use handler::{
    AsyncHandlerFn, AwaitableKind, Called, Handler, HandlerFn, async_handler_fn, handler_fn,
};
pub use key::{Key, Keyed};
pub use offload::{Offload, SpawnBlocking};
pub use outcome::{HandlerOutcome, NotRun};
pub use registration::{Registration, RegistrationId};
pub use report::{DispatchEntry, DispatchReport};
pub use snapshot::DispatchSnapshot;
