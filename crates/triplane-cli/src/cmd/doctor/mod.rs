//! `triplane doctor`: what state everything is in, what is wrong, and the way out.
//!
//! It looks and changes nothing: the store is neither made nor upgraded, the sink not written, no
//! settings touched. The one thing that it does try out, whether the guards deny, it tries on a store
//! of its own that is gone afterwards.

mod finding;
mod files;
mod store;
mod sink;
mod settings;
mod rules;
mod canary;
mod run;

pub(crate) use run::run;
