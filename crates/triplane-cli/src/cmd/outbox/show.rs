//! `triplane outbox show`: one intent with its history.

use std::process::ExitCode;

use triplane::state::{OutboxStatus, OutboxTransition, Store};

use crate::args::OutboxShowArgs;
use crate::cmd::outbox::choice::missing;
use crate::render::{Output, column, complain, moment};

pub(crate) async fn show(
    args: &OutboxShowArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let Some(history) = store.outbox_entry(&args.id).await? else {
        match store.purged(&args.id).await? {
            Some(purged) => complain(format_args!(
                "intent {} was {} when it was purged at {}{}",
                args.id,
                purged.status.as_str(),
                moment(purged.at_us),
                purged
                    .detail
                    .map_or_else(String::new, |detail| format!(" ({detail})")),
            )),
            None => complain(missing(&args.id)),
        }
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
    if let Some(deliver_to) = &entry.deliver_to {
        out.line(format_args!("to        {deliver_to}"));
    }
    if let Some(after_us) = entry.may_duplicate_after_us {
        out.line(match after_us {
            0 => "repeats   may duplicate: its destination remembers no keys".to_owned(),
            _ => format!(
                "repeats   may duplicate after {} min",
                after_us / 60_000_000
            ),
        });
    }
    if entry.ack_required {
        out.line(format_args!(
            "confirmed by its consumer; taken by the sink {} times without that",
            entry.unacked
        ));
    }
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
