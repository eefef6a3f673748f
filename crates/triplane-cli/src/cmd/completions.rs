//! `triplane completions`: what a shell needs to complete the command line.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::args::{Cli, CompletionsArgs, ShellArg};
use crate::render::Output;

pub(crate) fn run(args: &CompletionsArgs) -> ExitCode {
    let shell = match args.shell {
        ShellArg::Bash => Shell::Bash,
        ShellArg::Zsh => Shell::Zsh,
        ShellArg::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "triplane", &mut script);
    Output::new().line(String::from_utf8_lossy(&script).trim_end());
    ExitCode::SUCCESS
}
