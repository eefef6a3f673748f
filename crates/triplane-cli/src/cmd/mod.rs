//! The commands, one file each.

mod reading;
pub(crate) mod replay;
pub(crate) mod hook;
pub(crate) mod deliver;
pub(crate) mod signals;
pub(crate) mod outbox;
pub(crate) mod store;
pub(crate) mod session;
pub(crate) mod guard;
pub(crate) mod doctor;
pub(crate) mod completions;
pub(crate) mod man;
