//! `triplane outbox ls`: where intents stand.

use std::process::ExitCode;

use triplane::state::{OutboxEntry, OutboxStatus, Store};

use crate::args::OutboxLsArgs;
use crate::render::{Output, column};

pub(crate) async fn list(
    args: &OutboxLsArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
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
