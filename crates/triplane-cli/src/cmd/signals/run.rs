//! Which of the commands was given.

use std::process::ExitCode;

use crate::args::SignalsCommand;
use crate::cmd::reading::with_store;
use crate::cmd::signals::gaps::gaps;
use crate::cmd::signals::ls::list;
use crate::cmd::signals::show::show;

pub(crate) fn run(command: &SignalsCommand) -> ExitCode {
    match command {
        SignalsCommand::Ls(args) => {
            with_store(&args.store, async |store, out| list(args, store, out).await)
        }
        SignalsCommand::Show(args) => {
            with_store(&args.store, async |store, out| show(args, store, out).await)
        }
        SignalsCommand::Gaps(args) => {
            with_store(&args.store, async |store, out| gaps(args, store, out).await)
        }
    }
}
