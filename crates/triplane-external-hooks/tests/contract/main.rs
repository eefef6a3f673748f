//! The contract with the harnesses, file by file and answer by answer.

mod reading;
mod answers;
mod hooks;
mod transcript;
