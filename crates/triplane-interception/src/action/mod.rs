//! Actions: callables of this process, and the one road to them.

mod descriptor;
mod outcome;
mod cancellable;
mod executor;

pub use descriptor::{Action, ActionError, ExecutionContext};
pub use executor::{ActionExecutor, Executed};
pub use outcome::Outcome;
