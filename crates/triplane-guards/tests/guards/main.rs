//! The guards against what they are for: corpora, hostile inputs, respellings, real scripts.
#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test, with its place"
)]

mod support;
mod command_corpus;
mod path_corpus;
mod rule_cases;
mod rule_files;
mod rule_contents;
mod hostile;
mod respellings;
mod system_scripts;
mod calls;
mod switches;
