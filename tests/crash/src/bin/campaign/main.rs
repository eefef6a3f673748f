//! `triplane-crash`: the campaign. It starts children, kills them, lets the store recover, and has it
//! judged. `cargo xtask crash` builds it and everything that it starts.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command speaks to the person who called it"
)]

mod choice;
mod dice;
mod process;
mod tally;
mod run;
mod kills;
mod planted;
mod stops;
mod power;

use std::process::ExitCode;

use crate::choice::{Choice, HELP, Mode};

/// Runs what the arguments ask for: 0 when nothing is wrong, 1 with findings, 2 for wrong input.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let choice = match Choice::read(&arguments) {
        Ok(choice) => choice,
        Err(error) => {
            eprintln!("error: {error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let ended = match choice.mode {
        Mode::Help => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Mode::Kills => kills::run(&choice),
        Mode::Planted => planted::run(&choice),
        Mode::Stops => stops::run(&choice),
        Mode::Power => power::run(&choice),
        Mode::Labels => kills::labels(&choice),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
