//! `triplane guard`: the guards tried, without a harness and without a store.

mod jury;
mod corpus;
mod check;
mod line;
mod path;
mod explain;
mod rules;

use std::process::ExitCode;

use crate::guard_args::GuardCommand;
use crate::paint::Screen;

pub(crate) fn run(command: &GuardCommand, screen: Screen) -> ExitCode {
    match command {
        GuardCommand::Check(args) => check::run(args, screen),
        GuardCommand::Explain(args) => explain::run(args, screen),
        GuardCommand::Rules(args) => rules::run(args, screen),
    }
}
