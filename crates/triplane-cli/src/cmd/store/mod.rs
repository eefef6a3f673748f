//! `triplane store`: what a store holds, whether it agrees with itself, and a copy of it.

mod stats;
mod check;
mod backup;
mod run;

pub(crate) use run::run;
