//! `cargo xtask ci`: everything that must pass before a change lands.
//!
//! The steps share one target folder and one choice of features, so that a dependency is compiled
//! once for checking and once for running. Every step runs, whatever became of those before it, and
//! the table at the end says how each ended. What could not be checked here is said there, too.

mod command;
mod tools;
mod downstream;
mod step;
mod steps;

use std::process::ExitCode;
use std::time::Instant;

use crate::ci::command::Shop;
use crate::ci::step::{Ended, print_table};
use crate::workspace::Workspace;

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything.
    Whole,
    /// What a person waits for between two edits.
    Fast,
}

/// Runs the steps of `extent` and prints how each ended; fails when one of them failed.
pub(crate) fn run(workspace: &Workspace, extent: Extent) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let mut shop = Shop::new(workspace)?;
    let mut ended = Vec::new();
    for step in steps::STEPS {
        if extent == Extent::Fast && step.extent == Extent::Whole {
            continue;
        }
        ended.push(step.run(&mut shop));
    }
    print_table(&ended, &shop.notes, started.elapsed(), extent);
    if ended.iter().all(Ended::is_ok) {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// Builds and runs the packages of `tests/downstream` and checks what each pulls.
pub(crate) fn downstream(workspace: &Workspace) -> anyhow::Result<ExitCode> {
    downstream::downstream(&Shop::new(workspace)?)?;
    println!("downstream: ok");
    Ok(ExitCode::SUCCESS)
}
