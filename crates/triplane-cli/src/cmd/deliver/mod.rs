//! `triplane deliver`: convey what is committed and not yet delivered.

mod prepare;
mod once;
mod watch;
mod run;

pub(crate) use run::run;
