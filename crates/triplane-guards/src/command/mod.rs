//! The command guard: what a shell command would do, judged before it runs.
//!
//! A command is scanned ([`scan`](scan::scan)), parsed with a shell grammar, normalised to simple
//! commands with what is known of each word, and held against rules that are data. Nothing is matched
//! as a substring: text that no program runs is data. What is small is judged on the thread that asks
//! (`near`), all else on a thread of its own ([`parser_thread`]).

pub mod word;
pub mod scope;
pub(crate) mod braces;
pub(crate) mod shortcut;
pub(crate) mod expand;
pub mod scan;
pub mod parser_thread;
pub(crate) mod parse;
pub(crate) mod near;
pub(crate) mod state;
pub(crate) mod code;
pub(crate) mod sql;
pub(crate) mod cmdlets;
pub(crate) mod layers;
pub(crate) mod find;
pub(crate) mod output;
pub mod normalise;
pub mod rules;
pub mod judge;
pub mod explain;
pub mod cases;
pub(crate) mod power_shell;
