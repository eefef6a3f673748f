//! Fan-out: every matching handler hears of a signal, and none can stop it.

mod key;
mod handler;
mod offload;
mod registration;
mod index;
mod report;
mod error;
mod snapshot;
mod policy;
mod emission;
mod dispatcher;

pub use dispatcher::FanoutDispatcher;
pub use error::DispatchError;
pub use handler::{
    AsyncHandlerFn, AwaitableKind, Called, Handler, HandlerFn, async_handler_fn, handler_fn,
};
pub use key::{Key, Keyed};
pub use offload::{Offload, SpawnBlocking};
pub use policy::DispatchPolicy;
pub use registration::{Declared, Registration, RegistrationId};
pub use report::{DispatchEntry, DispatchReport, HandlerOutcome, NotRun};
pub use snapshot::DispatchSnapshot;
