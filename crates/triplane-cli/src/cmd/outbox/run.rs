//! Which of the commands was given.

use std::process::ExitCode;

use crate::args::OutboxCommand;
use crate::cmd::outbox::ack::ack;
use crate::cmd::outbox::ls::list;
use crate::cmd::outbox::operator::{purge, retry};
use crate::cmd::outbox::show::show;
use crate::cmd::reading::with_store;

pub(crate) fn run(command: &OutboxCommand) -> ExitCode {
    match command {
        OutboxCommand::Ls(args) => {
            with_store(&args.store, async |store, out| list(args, store, out).await)
        }
        OutboxCommand::Show(args) => {
            with_store(&args.store, async |store, out| show(args, store, out).await)
        }
        OutboxCommand::Ack(args) => {
            with_store(&args.store, async |store, out| ack(args, store, out).await)
        }
        OutboxCommand::Retry(args) => with_store(&args.store, async |store, out| {
            retry(args, store, out).await
        }),
        OutboxCommand::Purge(args) => with_store(&args.store, async |store, out| {
            purge(args, store, out).await
        }),
    }
}
