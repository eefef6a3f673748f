//! Fan-out: every matching handler hears of a signal, and none can stop it.

mod key;

pub use key::{Key, Keyed};
