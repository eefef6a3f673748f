//! Is this command or path dangerous? A shell grammar, rules as data, resolved paths.
//!
//! Two guards implement [`triplane_interception::Guard`]:
//!
//! - [`commands()`]: a command is scanned, parsed, normalised to simple commands, and held against
//!   rules that are data. What is not small has a thread of its own for that, with a large stack and
//!   a short time limit.
//! - [`paths()`]: a path is checked in its form, followed through opened folders, and its end held
//!   against the allowed folders and the protected names.
//!
//! Both fail closed: what cannot be read is refused. Neither asks anybody, and neither keeps state
//! but the command guard's warm parser thread.
#![doc = include_str!("../README.md")]
#![expect(
    clippy::similar_names,
    reason = "`argv` and `args` are the field's words"
)]

mod place;
mod offence;
mod names;
mod tool;
pub mod command;
pub mod path;
mod command_guard;
mod guard;
pub mod corpus;
#[cfg(any(test, feature = "fuzz"))]
pub mod fuzz;

pub use command::cases::{BrokenCase, CheckFailed};
pub use command::rules::{RuleFile, RuleFileRefused, RuleSet, Set};
pub use command_guard::{CommandGuard, commands};
pub use guard::{PathGuard, paths, paths_in};
pub use place::Place;
pub use tool::PathOp;
