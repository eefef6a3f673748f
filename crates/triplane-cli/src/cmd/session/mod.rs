//! `triplane session`: one session in order, each call with all that is known of it.
//!
//! A harness tells of a call twice, before it and after it. Both stand in the log under identities
//! that differ in the name of the event only, so that for each page of calls one look-up finds what
//! became of them; see [`result`].

mod choose;
mod told;
mod result;
mod call;
mod screen;
mod export;
mod run;

pub(crate) use run::run;
