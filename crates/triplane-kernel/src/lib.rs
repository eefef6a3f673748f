//! How handlers are run: an ordered interceptor chain that can say no, and a fan-out that cannot.

pub mod name;
pub mod cancel;
pub mod failure;
pub mod intercept;
pub mod dispatch;

pub use cancel::{CancelCause, Scope};
pub use dispatch::{Key, Keyed};
pub use failure::{HandlerError, HandlerFailure};
pub use intercept::{Decision, Denial, EvidenceRef, Interceptor, Step, intercept_fn};
pub use name::{NameRefused, RegistrationName, StageName};
