//! `cargo xtask bench`: what the program takes, measured on this machine.
//!
//! Every figure in a document was printed by one of these. They build the release program, run it as
//! its users do, and print one JSON object a line and case. Timings depend on the machine and on
//! what else it is doing, so each case carries the floor that was measured in the same run: a
//! process that does nothing.

mod program;
mod kernel;
mod guards;
mod hook;
mod replay;
mod state;

use std::process::ExitCode;

use anyhow::bail;

use crate::workspace::Workspace;

/// Runs one of the measurements.
pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    match arguments {
        ["kernel", rest @ ..] => kernel::run(workspace, rest),
        ["guards", rest @ ..] => guards::run(workspace, rest),
        ["hook", rest @ ..] => hook::run(workspace, rest),
        ["replay", rest @ ..] => replay::run(workspace, rest),
        ["state", rest @ ..] => state::run(workspace, rest),
        _ => bail!(
            "cargo xtask bench kernel [--json] | guards [--json] | hook [--calls N] | replay [--events N] [--megabytes N] | state [--json] [--quick] [CASE]; --program PATH measures a built one"
        ),
    }
}

/// The number behind `option`, or `default` when it is not there.
fn number(arguments: &[&str], option: &str, default: usize) -> anyhow::Result<usize> {
    match arguments.iter().position(|argument| *argument == option) {
        None => Ok(default),
        Some(at) => match arguments.get(at + 1).map(|text| text.parse()) {
            Some(Ok(number)) if number > 0 => Ok(number),
            _ => bail!("{option} wants a number above 0"),
        },
    }
}
