//! The schema: SQL only. Row types stand with the room that owns them.
//!
//! The header of the file says whose it is (`application_id`) and how far it has come
//! (`user_version`). Versions only rise, and one program upgrades a store inside one immediate
//! transaction, with the version read again under the lock. Owners add tables of their own in steps
//! (`owners`), each under its namespace.

mod migrate;
mod owners;

pub use owners::OwnerMigrations;

pub(crate) use migrate::{APPLICATION_ID, SCHEMA_VERSION, migrate};
pub(crate) use owners::{NotTaken, take_steps};

#[cfg(test)]
mod owned;
#[cfg(test)]
mod upgrades;
