//! Interception: an ordered chain of registrations, each of which may say no.

mod decision;
mod interceptor;

pub use decision::{Decision, Denial, EvidenceRef};
pub use interceptor::{Interceptor, Step, intercept_fn};
