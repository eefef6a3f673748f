//! The file and the connections: how a store is made, opened, written and read.
//!
//! ```text
//! options -> creation (folder, file, schema; one process at a time)
//!         -> connect  (settings, read back on every connection)
//!         -> direct   (a connection with its thread, for what is done again and again)
//!         -> owners   (the steps of owners' tables, taken at opening)
//!         -> writer   (the only connection that writes, one transaction at a time)
//!         -> readers  (a small pool, opened when the first page is read)
//! ```
//!
//! Invariants:
//!
//! - A store file never exists half made: it is built under another name in the same folder and
//!   renamed into place. Files are 0600 from their first instant.
//! - No connection is used before its settings were read back.
//! - A write starts with `BEGIN IMMEDIATE`, so it never has to upgrade a read lock, the one case
//!   in which SQLite answers "busy" without waiting.
//! - While a transaction is open nothing is awaited but the database.

mod options;
mod paths;
mod busy;
mod connect;
mod creation;
mod direct;
mod owners;
mod writer;
mod readers;
mod connections;

pub use options::{Lifetime, StoreOptions, Synchronous};

pub(crate) use busy::failure;
pub(crate) use connections::Connections;
pub(crate) use creation::{check_closed, switch_to_log};
pub(crate) use paths::{absolute, beside, file_error, folder_of};
pub(crate) use writer::{Lent, Undo};

#[cfg(test)]
mod tests;
