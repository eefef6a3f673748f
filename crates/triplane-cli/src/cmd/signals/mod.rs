//! `triplane signals`: the log of committed signals, and what it lacks.

mod ls;
mod show;
mod gaps;
mod run;

pub(crate) use run::run;
