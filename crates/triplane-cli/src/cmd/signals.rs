//! `triplane signals`: the log of committed signals.

use std::process::ExitCode;

use triplane::state::{SignalRecord, Store};

use crate::args::{SignalsCommand, SignalsLsArgs};
use crate::cmd::reading::with_store;
use crate::render::{Output, column, moment};

pub(crate) fn run(command: &SignalsCommand) -> ExitCode {
    match command {
        SignalsCommand::Ls(args) => {
            with_store(&args.store, async |store, out| list(args, store, out).await)
        }
    }
}

async fn list(args: &SignalsLsArgs, store: &Store, out: &mut Output) -> anyhow::Result<ExitCode> {
    let after = i64::try_from(args.after)?;
    let signals = store
        .signals(args.session.as_deref(), after, args.limit)
        .await?;
    if args.json {
        for signal in &signals {
            out.json(signal);
        }
        return Ok(ExitCode::SUCCESS);
    }
    for signal in &signals {
        let SignalRecord {
            session,
            sequence,
            kind,
            identity,
            occurred_at_us,
            ..
        } = signal;
        out.line(format_args!(
            "{}  {}  {sequence:>6}  {}  {}",
            moment(*occurred_at_us),
            column(session, 20),
            column(kind, 20),
            identity
        ));
    }
    if signals.is_empty() {
        out.line("no signals");
    } else if u32::try_from(signals.len()).is_ok_and(|shown| shown == args.limit) {
        out.line(format_args!(
            "… and perhaps more: --limit is {}",
            args.limit
        ));
    }
    Ok(ExitCode::SUCCESS)
}
