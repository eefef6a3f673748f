//! `--record`: every trace of the tree is recorded again.

use std::process::Stdio;

use anyhow::{Context as _, ensure};

use crate::python::Python;
use crate::suite::Tree;

/// Records the tree, and returns what the recorder says of it.
///
/// # Errors
///
/// `Unavailable` without Python or the package index, and when a scenario cannot be recorded; the
/// traces before it are written then.
pub(crate) fn run(tree: &Tree) -> anyhow::Result<String> {
    let python = Python::prepare()?;
    let scenarios = std::path::absolute(&tree.scenarios)?;
    let traces = std::path::absolute(&tree.traces)?;
    let mut recorder =
        python.recorder(["traces".as_ref(), scenarios.as_os_str(), traces.as_os_str()]);
    let output = recorder
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start the recorder")?;
    ensure!(output.status.success(), "the recorder failed");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
