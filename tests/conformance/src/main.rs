//! `cargo xtask conformance`: runs recorded scenarios on the legacy names and compares what can be
//! observed from outside.
//!
//! A scenario is a script over handlers whose steps are data (`handler`, `script`); an adapter for
//! each profile says what the operations mean on its legacy name (`adapter`). It runs on tokio's
//! paused clock, and what is offloaded takes turns with it (`turns`). The trace is compared with the
//! recorded one (`compare`), and the rows of the matrix with what ran (`matrix`). That scenarios can
//! fail is shown by changing profiles (`alteration`, `neighbours`) and looking for one that notices
//! (`mutations`).
//!
//! Traces are recorded with the old package, in Python (`record`, `recorder`). The same recorder draws
//! random scenarios, for a comparison beyond what is written down (`live`).

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that reports to whoever called it"
)]

mod fields;
mod fault;
mod json;
mod turns;
mod alteration;
mod run;
mod log;
mod operation;
mod handler;
mod adapter;
mod script;
mod compare;
mod suite;
mod divergent;
mod evidence;
mod matrix;
mod neighbours;
mod mutations;
mod python;
mod written;
mod recorder;
mod record;
mod live;
mod options;
mod report;

use std::process::ExitCode;

use crate::options::{Options, Task};
use crate::python::Unavailable;

fn main() -> ExitCode {
    match execute(std::env::args().skip(1)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(if error.is::<Unavailable>() { 3 } else { 2 })
        }
    }
}

fn execute(arguments: impl IntoIterator<Item = String>) -> anyhow::Result<ExitCode> {
    let options = Options::parse(arguments)?;
    let blocking = match &options.task {
        Task::Scenarios => report::scenarios(&options)?,
        Task::Mutations => report::mutations(&options)?,
        Task::Record => report::record(&options)?,
        Task::Live(live) => report::live(live, options.report)?,
    };
    Ok(exit(&blocking))
}

fn exit(blocking: &[String]) -> ExitCode {
    if blocking.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[cfg(test)]
mod tests;
