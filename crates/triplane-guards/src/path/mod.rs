//! The path guard: where a path leads, and whether the agent may go there.
//!
//! A path is checked in its form ([`Malformed`]), followed component by component through opened
//! folders ([`Opened`]), and its end is held against the allowed folders and the protected names.

mod form;
mod resolve;
mod judge;

pub use form::Malformed;
pub use judge::{Bounds, JUDGED_AS_TEXT, Refusal};
pub use resolve::{Opened, Unresolvable};

pub(crate) use judge::{Judged, judge};
