//! `cargo xtask bench state`: the store beside raw limits.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};

use crate::bench::program::release;
use crate::workspace::Workspace;

/// Runs the package `triplane-bench-state`, whose limits are compiled for nothing else. It makes its
/// files below the build folder: temporary files may be on memory, where no commit waits for a disk.
pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let program = release(workspace, "triplane-bench-state", "triplane-bench-state")?;
    let folder = program.parent().context("the program is in a folder")?;
    let ended = Command::new(&program)
        .args(arguments)
        .current_dir(folder)
        .status()
        .context("the measurements cannot be run")?;
    match ended.code() {
        Some(0) => Ok(ExitCode::SUCCESS),
        Some(2) => Ok(ExitCode::from(2)),
        Some(_) => Ok(ExitCode::FAILURE),
        None => bail!("the measurements were ended by a signal"),
    }
}
