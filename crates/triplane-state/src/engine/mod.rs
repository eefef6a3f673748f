//! The embedded store: everything that names a database.

mod digest;
pub(crate) mod schema;
pub(crate) mod store;
mod lease;
mod snapshot;
pub(crate) mod capture;
pub(crate) mod signal_log;
pub(crate) mod commit;
pub(crate) mod outbox;
pub(crate) mod operations;
pub(crate) mod stats;
pub(crate) mod inspect;
pub(crate) mod check;
pub(crate) mod backup;
pub(crate) mod handle;
mod care;
#[cfg(test)]
mod testing;
