//! The schema: SQL only. Row types stand with the room that owns them.
//!
//! The header of the file says whose it is (`application_id`) and how far it has come
//! (`user_version`). Versions only rise, and one program upgrades a store inside one immediate
//! transaction, with the version read again under the lock.

mod migrate;

pub(crate) use migrate::{APPLICATION_ID, SCHEMA_VERSION, migrate};

#[cfg(test)]
mod upgrades;
