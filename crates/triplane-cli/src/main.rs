//! The program `triplane`: guards an agent's tool calls, keeps the record, delivers it.
//!
//! It decides nothing: every operation runs through [`triplane::Runtime`].

mod guard_args;
mod moment;
mod position;
mod args;
mod policy_file;
mod guard_option;
mod workspace;
mod stdin;
mod render;
mod paint;
mod stop;
mod sink_option;
mod redact_option;
mod store_mode;
mod agent_event;
mod cmd;
#[cfg(test)]
mod help;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};
use crate::paint::{Paint, Screen};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let screen = Screen {
        paint: Paint::chosen(cli.color),
        quiet: cli.quiet,
    };
    match &cli.command {
        Command::Replay(args) => cmd::replay::run(args, screen),
        Command::Hook(args) => cmd::hook::run(args),
        Command::Deliver(args) => cmd::deliver::run(args, screen),
        Command::Signals(command) => cmd::signals::run(command),
        Command::Outbox(command) => cmd::outbox::run(command),
        Command::Store(command) => cmd::store::run(command),
        Command::Session(command) => cmd::session::run(command, screen),
        Command::Guard(command) => cmd::guard::run(command, screen),
        Command::Doctor(args) => cmd::doctor::run(args, screen),
        Command::Completions(args) => cmd::completions::run(args),
        Command::Man(args) => cmd::man::run(args, screen),
    }
}
