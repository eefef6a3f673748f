//! The workspace's own commands: `cargo xtask` lists them.
//!
//! One file or folder per command. A command is a function from its arguments to a result; what it
//! finds wrong is printed as `file:line: sentence`, and the process ends with 1.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command speaks to the person who called it"
)]

mod finding;
mod rust;
mod workspace;
mod layers;
mod unused;
mod api;
mod crash;
mod ci;
mod bench;
mod conformance;

use std::process::ExitCode;

use anyhow::bail;

use crate::finding::report;
use crate::workspace::Workspace;

const COMMANDS: &str = "\
cargo xtask ci [--fast]   everything that must pass before a change lands; --fast: the quick half
cargo xtask layers        arrows between crates, order of modules, paths of ARCHITECTURE.md
cargo xtask unused        dependencies that a manifest names and no source uses
cargo xtask api [--write]  the public interface of the facade beside its list; --write: renew the list
cargo xtask conformance … the legacy names beside what was recorded, and the matrix that gates them
cargo xtask bench …       what things take: kernel, guards, hook, replay, state
cargo xtask crash …       kills processes in the middle of their work and judges what they leave
cargo xtask downstream    each layer by itself, built outside the workspace: what it pulls, and a run
";

fn main() -> ExitCode {
    if let Some(rustdoc) = std::env::var_os(api::STANDS_IN_FOR) {
        return ended(api::stand_in(rustdoc));
    }
    if std::env::var_os(crash::STANDS_IN).is_some() {
        return ended(crash::stand_in());
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    ended(run(&arguments))
}

fn ended(result: anyhow::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[&str]) -> anyhow::Result<ExitCode> {
    match arguments {
        [] | ["help" | "--help" | "-h"] => {
            print!("{COMMANDS}");
            Ok(ExitCode::SUCCESS)
        }
        ["ci"] => ci::run(&Workspace::here()?, ci::Extent::Whole),
        ["ci", "--fast"] => ci::run(&Workspace::here()?, ci::Extent::Fast),
        ["layers"] => Ok(report("layers", &layers::check(&Workspace::here()?)?)),
        ["unused"] => Ok(report("unused", &unused::check(&Workspace::here()?))),
        ["api", rest @ ..] => api::run(&Workspace::here()?, rest),
        ["downstream"] => ci::downstream(&Workspace::here()?),
        ["conformance", rest @ ..] => conformance::run(&Workspace::here()?, rest),
        ["crash", rest @ ..] => crash::run(&Workspace::here()?, rest),
        ["bench", rest @ ..] => bench::run(&Workspace::here()?, rest),
        other => bail!("no such command: {}\n\n{COMMANDS}", other.join(" ")),
    }
}
