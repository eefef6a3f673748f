//! The contract with the harnesses, file by file and answer by answer.
#![expect(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test, with its place"
)]

mod reading;
mod answers;
mod hooks;
mod transcript;
mod examples;
