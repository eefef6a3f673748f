//! What is read without the grammar is what the grammar reads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use brush_parser::word;

use crate::command::expand::options;
use crate::command::parse::grammar;
use crate::command::shortcut;
use crate::fuzz::watch::grammar_panicked;

/// Holds the short way around the grammar against it: for `text`, and for each word of it.
///
/// # Panics
///
/// Panics when the short way answers with something else.
pub(crate) fn shortcut(text: &str) {
    if let Some(short) = shortcut::program(text) {
        let long = heard(|| grammar(text));
        let long = long.map(|read| read.map_or_else(|error| error.to_string(), |it| told(&it)));
        assert_eq!(Some(told(&short)), long, "{text:?}");
    }
    for word in text.split_whitespace() {
        if let Some(short) = shortcut::pieces(word) {
            let long = heard(|| word::parse(word, &options()));
            let long = long.map(|read| read.map_or_else(|error| error.to_string(), |it| told(&it)));
            assert_eq!(Some(told(&short)), long, "{word:?}");
        }
    }
}

fn told(tree: &impl std::fmt::Debug) -> String {
    format!("{tree:?}")
}

/// What the grammar answers, unless it panics.
fn heard<T>(read: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => Some(read),
        Err(panic) if !grammar_panicked() => resume_unwind(panic),
        Err(_) => None,
    }
}
