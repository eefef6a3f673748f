//! `cargo xtask crash`: builds what is killed with its failpoints compiled in, and runs the campaign.
//!
//! The failpoints are code behind `--cfg triplane_crash`. A feature would be turned on for everything
//! that is built together (`--all-features`, `--workspace`), and dependents could turn it on; a cfg in
//! `RUSTFLAGS` would compile every dependency again. So cargo is given this program as the compiler of
//! the workspace's own crates: it passes each call on with the cfg added. Cargo keeps what such a
//! compiler makes apart from what the ordinary one makes, in the same target folder, and the
//! dependencies serve both.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, ensure};

use crate::workspace::Workspace;

/// When it is set, this program stands in for the compiler of the workspace's crates.
pub(crate) const STANDS_IN: &str = "TRIPLANE_XTASK_CRASH_CFG";

/// Builds the campaign and passes the arguments on, and the exit code back.
pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let code = campaign(workspace, arguments)?;
    Ok(code.map_or(ExitCode::from(2), ExitCode::from))
}

/// Builds the campaign and runs it; answers its exit code, unless a signal ended it.
pub(crate) fn campaign(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<Option<u8>> {
    let programs = build(workspace)?;
    let status = Command::new(programs.join("triplane-crash"))
        .args(arguments)
        .status()
        .context("cannot start the campaign")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()))
}

/// Builds the programs of the campaign, and answers the folder that they are in.
///
/// All features, as the tests have them: so the dependencies are those of the tests.
fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace.root.join("target"), PathBuf::from);
    let built = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--workspace",
            "--all-features",
        ])
        .args(["--bin", "triplane-crash", "--bin", "triplane-crash-child"])
        .args(["--bin", "triplane-referee"])
        .current_dir(&workspace.root)
        .env("RUSTC_WORKSPACE_WRAPPER", &workspace.program)
        .env(STANDS_IN, "1")
        .status()
        .context("cannot start cargo")?;
    ensure!(built.success(), "the campaign does not build");
    Ok(target.join("debug"))
}

/// Passes a call of the compiler on, with the cfg.
pub(crate) fn stand_in() -> anyhow::Result<ExitCode> {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    ensure!(!arguments.is_empty(), "no compiler is named");
    let compiler = arguments.remove(0);
    let status = Command::new(compiler)
        .args(arguments)
        .args(["--cfg", "triplane_crash"])
        .status()
        .context("cannot start the compiler")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
