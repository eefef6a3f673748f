//! What may be written down: secrets are taken out of a fact before it is stored, signalled or sent.
//!
//! ```text
//! declaration + shipped shapes -> Redaction -> one Hiding for each fact -> what is kept + its account
//! ```
//!
//! - Guards and policies judge, and the caller is answered with, what was really said. Only what is
//!   kept of it is changed, and [`operation`](crate::operation) does that in one step.
//! - What a fact is (its identity and its digest) was computed before from the original bytes.
//! - A JSON text is never parsed and written again: only the string tokens that hold a secret are
//!   replaced, so numbers of any size, escapes and the order of keys stay as they were told.
//! - Each row says under which policy it was looked at, and what was taken out where.
//! - Hiding twice is hiding once: what stands in place of a secret, `[redacted:SHAPE]`, has no
//!   shape itself.
//!
//! Time is linear in the text for each shape whose literals were seen in it, and memory is bounded
//! by the text. No pattern is compiled before one of its literals is met.
//!
//! It knows secrets by their form and by the field they stand in. A secret without either, one in
//! an encoding of its own, and one that is split over two texts are not found.

mod shape;
mod field;
mod declaration;
mod token;
mod scan;
mod report;
mod walk;
mod hiding;

pub use declaration::{REDACTION_VERSION, RedactionPolicy, RedactionRefused};
pub(crate) use hiding::Hiding;
pub use hiding::Redaction;
pub(crate) use report::Account;
