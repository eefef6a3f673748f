//! Which of the commands was given.

use std::process::ExitCode;

use crate::args::StoreCommand;
use crate::cmd::reading::with_store;
use crate::cmd::store::backup::backup;
use crate::cmd::store::check::check;
use crate::cmd::store::stats::stats;

pub(crate) fn run(command: &StoreCommand) -> ExitCode {
    match command {
        StoreCommand::Stats(args) => stats(args),
        StoreCommand::Check(args) => check(args),
        StoreCommand::Backup(args) => with_store(&args.store, async |store, out| {
            backup(args, store, out).await
        }),
    }
}
