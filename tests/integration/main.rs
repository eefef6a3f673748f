//! The integration tests of the workspace: one binary, a module per scenario.

mod program;
mod rows;
mod replay;
mod hook;
mod guard;
mod guard_rules;
mod secrets;
mod hostile;
mod together;
mod killed;
mod failures;
mod session;
mod outbox;
mod suites;
mod deliver;
mod store;
mod signals;
mod doctor;
mod help;
mod stopped;
mod readme;
mod book;
