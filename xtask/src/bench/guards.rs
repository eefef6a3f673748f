//! `cargo xtask bench guards`: one decision in process, and the answers to the shared corpora.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};

use crate::workspace::Workspace;

/// Runs the example `decision_time` in release; it prints JSON with and without `--json`.
pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    ensure!(
        matches!(arguments, [] | ["--json"]),
        "cargo xtask bench guards [--json]"
    );
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let ended = Command::new(cargo)
        .args([
            "run",
            "--release",
            "--quiet",
            "--package",
            "triplane-guards",
        ])
        .args(["--example", "decision_time"])
        .current_dir(&workspace.root)
        .status()
        .context("cargo cannot be run")?;
    ensure!(ended.success(), "the measurements failed");
    Ok(ExitCode::SUCCESS)
}
