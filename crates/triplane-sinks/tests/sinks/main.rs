//! The sinks behind a real store: what was committed reaches them, attempt by attempt.

mod store;
mod file;
mod command;
