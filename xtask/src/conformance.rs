//! `cargo xtask conformance`: builds and runs the package of that name.

use std::process::{Command, ExitCode};

use anyhow::Context as _;

use crate::workspace::Workspace;

/// Passes the arguments on, and the exit code back.
pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--locked",
            "--package",
            "triplane-conformance",
            "--",
        ])
        .args(arguments)
        .current_dir(&workspace.root)
        .status()
        .context("cannot start cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::from(2), ExitCode::from))
}
