//! `triplane outbox`: the delivery intents and their history.

use std::process::ExitCode;

use triplane::state::{OutboxEntry, OutboxStatus, OutboxTransition, Store};

use crate::args::{OutboxCommand, OutboxLsArgs, OutboxShowArgs, StatusArg};
use crate::cmd::reading::with_store;
use crate::render::{Output, column, complain, moment};

pub(crate) fn run(command: &OutboxCommand) -> ExitCode {
    match command {
        OutboxCommand::Ls(args) => {
            with_store(&args.store, async |store, out| list(args, store, out).await)
        }
        OutboxCommand::Show(args) => {
            with_store(&args.store, async |store, out| show(args, store, out).await)
        }
    }
}

async fn list(args: &OutboxLsArgs, store: &Store, out: &mut Output) -> anyhow::Result<ExitCode> {
    let entries = store
        .outbox(args.status.map(Into::into), args.limit)
        .await?;
    if args.json {
        for entry in &entries {
            out.json(entry);
        }
        return Ok(ExitCode::SUCCESS);
    }
    for entry in &entries {
        let OutboxEntry {
            id,
            status,
            attempt,
            sink,
            identity,
            last_error,
            ..
        } = entry;
        let settled = matches!(status, OutboxStatus::Delivered | OutboxStatus::Acked);
        let error = last_error.as_deref().filter(|_| !settled);
        out.line(format_args!(
            "{id}  {}  attempt {attempt}  {}  {identity}{}",
            column(status.as_str(), 11),
            column(sink, 12),
            error.map_or_else(String::new, |error| {
                format!("  {}", column(error, 120).trim_end())
            }),
        ));
    }
    if entries.is_empty() {
        out.line("no intents");
    } else if u32::try_from(entries.len()).is_ok_and(|shown| shown == args.limit) {
        out.line(format_args!(
            "… and perhaps more: --limit is {}",
            args.limit
        ));
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(args: &OutboxShowArgs, store: &Store, out: &mut Output) -> anyhow::Result<ExitCode> {
    let Some(history) = store.outbox_entry(&args.id).await? else {
        complain(format_args!(
            "there is no intent {}; triplane outbox ls lists those there are",
            args.id
        ));
        return Ok(ExitCode::from(2));
    };
    if args.json {
        out.json(&history);
        return Ok(ExitCode::SUCCESS);
    }
    let entry = &history.entry;
    out.line(format_args!("intent    {}", entry.id));
    out.line(format_args!("key       {}", entry.key));
    out.line(format_args!(
        "fact      {} ({}, {})",
        entry.identity, entry.kind, entry.signal
    ));
    out.line(format_args!(
        "session   {} at {}",
        entry.session, entry.sequence
    ));
    out.line(format_args!("sink      {}", entry.sink));
    out.line(format_args!(
        "status    {}, attempt {}",
        entry.status.as_str(),
        entry.attempt
    ));
    match entry.status {
        OutboxStatus::Pending => {
            out.line(format_args!(
                "due       {}",
                moment(entry.next_attempt_at_us)
            ));
        }
        OutboxStatus::Delivering => {
            out.line(format_args!(
                "leased    until {}",
                moment(entry.next_attempt_at_us)
            ));
        }
        OutboxStatus::Delivered
        | OutboxStatus::Acked
        | OutboxStatus::DeadLetter
        | OutboxStatus::Expired => {}
    }
    if let Some(error) = &entry.last_error {
        out.line(format_args!("error     {}", column(error, 100).trim_end()));
    }
    for OutboxTransition {
        from,
        to,
        attempt,
        reason,
        at_us,
        ..
    } in &history.transitions
    {
        out.line(format_args!(
            "  {}  {} -> {}  attempt {attempt}  {reason}",
            moment(*at_us),
            column(from.map_or("", OutboxStatus::as_str), 11),
            column(to.as_str(), 11),
        ));
    }
    Ok(ExitCode::SUCCESS)
}

impl From<StatusArg> for OutboxStatus {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::Pending => Self::Pending,
            StatusArg::Delivering => Self::Delivering,
            StatusArg::Delivered => Self::Delivered,
            StatusArg::Acked => Self::Acked,
            StatusArg::DeadLetter => Self::DeadLetter,
            StatusArg::Expired => Self::Expired,
        }
    }
}
