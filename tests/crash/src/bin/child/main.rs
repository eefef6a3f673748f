//! `triplane-crash-child`: works with a store until it is killed.

#![allow(
    clippy::print_stderr,
    reason = "what goes wrong is told to the campaign that started it"
)]

#[cfg(triplane_crash)]
mod points;
#[cfg(triplane_crash)]
mod desk;
#[cfg(triplane_crash)]
mod owner;
#[cfg(triplane_crash)]
mod destination;
#[cfg(triplane_crash)]
mod elder;
#[cfg(triplane_crash)]
mod crowd;
#[cfg(triplane_crash)]
mod courier;
#[cfg(triplane_crash)]
mod operator;
#[cfg(triplane_crash)]
mod tasks;

use std::process::ExitCode;

/// Installs the failpoints and does what the environment orders.
#[cfg(triplane_crash)]
fn main() -> ExitCode {
    points::install();
    match tasks::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(triplane_crash))]
fn main() -> ExitCode {
    eprintln!("this program was built without its failpoints: use `cargo xtask crash`");
    ExitCode::from(2)
}
