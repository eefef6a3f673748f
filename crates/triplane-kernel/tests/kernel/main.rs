//! What the kernel promises, through its public interface; a module per mechanism.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test, with its place"
)]

mod chain;
mod declared;
mod durations;
mod fanout;
mod fanout_model;
mod forbidden;
mod lifetimes;
mod policy_product;
mod profiles;
mod reported;
