//! The crash campaign: processes that are killed in the middle of their work, and what must hold then.
//!
//! Three programs. `triplane-crash-child` works with a store and ends itself with `SIGKILL` at the n-th
//! visit of a [label]; `triplane-crash` starts children, kills them at random instants too,
//! lets the store recover and has it judged; the referee (a crate of its own) judges. `cargo xtask crash`
//! builds them with the failpoints compiled in.

pub mod label;
pub mod bug;
pub mod order;
