//! `cargo xtask bench kernel`: chains and fan-outs beside their limits and peers.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};

use crate::bench::program::release;
use crate::workspace::Workspace;

/// Runs the package `triplane-bench`, whose peers are compiled for nothing else.
pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let program = release(workspace, "triplane-bench", "triplane-bench")?;
    let ended = Command::new(program)
        .args(arguments)
        .status()
        .context("the measurements cannot be run")?;
    match ended.code() {
        Some(0) => Ok(ExitCode::SUCCESS),
        Some(_) => Ok(ExitCode::FAILURE),
        None => bail!("the measurements were ended by a signal"),
    }
}
