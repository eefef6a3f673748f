//! Reading what a harness says: strictly, because a guard that misreads a question answers
//! another one.
//!
//! A general JSON reader is too kind for this work. It keeps the last of two equal keys (the
//! harness may run the first), refuses a text that JavaScript writes without trouble (a lone
//! surrogate), and forgets the original text. The reader here refuses the first, repairs the
//! second for judging, and keeps the third for storage.

mod unreadable;
mod node;
mod json;
mod value;
mod complete;
mod fields;
mod event;

pub use complete::ObjectEnd;
pub use event::{HookEvent, UNKNOWN_SESSION};
pub use unreadable::{Fault, Place, Unreadable};

pub(crate) use fields::text_of;
pub(crate) use json::{Keep, parse};
pub(crate) use node::{Kind, Node};
