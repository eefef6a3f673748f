//! The program `triplane`: guards an agent's tool calls, keeps the record, delivers it.
//!
//! It decides nothing: every operation runs through [`triplane::Runtime`].

mod args;
mod policy_file;
mod workspace;
mod stdin;
mod render;
mod sink_option;
mod agent_event;
mod cmd;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    match &Cli::parse().command {
        Command::Replay(args) => cmd::replay::run(args),
        Command::Hook(args) => cmd::hook::run(args),
        Command::Deliver(args) => cmd::deliver::run(args),
        Command::Signals(command) => cmd::signals::run(command),
        Command::Outbox(command) => cmd::outbox::run(command),
    }
}
