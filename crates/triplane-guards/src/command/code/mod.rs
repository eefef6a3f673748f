//! One-line programs of interpreters, judged by their own tokens.
//!
//! This is no grammar of six languages. It tells comments, strings, names and calls apart, follows
//! constants, and reports the calls that run commands, run code, or touch files.

mod act;
mod deed;
mod statements;
mod token;
mod string;
mod read;
mod paths;
mod blocks;
mod expression;
mod call;

pub(crate) use act::{CodeAct, Language};
pub(crate) use read::acts;
