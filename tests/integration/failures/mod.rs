//! Every way in which a machine or an input can fail has an answer: the exact message, the exit
//! code, and what stands in the store afterwards.
//!
//! Each test holds a table and prints its rows; `cargo test -p triplane-tests failures -- --nocapture`
//! shows them all. What this machine does not permit is skipped, and the row says why.

mod row;
mod machine;
mod store;
mod disk;
mod sink;
mod event;
mod time;
mod reader;

pub(crate) use row::session;
