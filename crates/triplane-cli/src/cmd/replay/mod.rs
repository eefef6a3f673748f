//! `triplane replay`: a recorded session through guards, record and delivery.

mod reading;
mod summary;
mod table;
mod run;

pub(crate) use run::run;
