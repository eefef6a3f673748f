//! `triplane outbox retry` and `triplane outbox purge`: what an operator does to settled intents.

use std::process::ExitCode;

use serde::Serialize;
use triplane::state::{OperatorReport, Store};

use crate::args::{OutboxPurgeArgs, OutboxRetryArgs};
use crate::cmd::outbox::choice::{missing, selection};
use crate::render::{Output, complain};

#[derive(Debug, Serialize)]
struct Told<'a> {
    /// Whether it was done, or only looked at.
    done: bool,
    #[serde(flatten)]
    report: &'a OperatorReport,
}

pub(crate) async fn retry(
    args: &OutboxRetryArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let selection = selection(&args.ids, &args.intents);
    let done = args.intents.yes || !args.ids.is_empty();
    let report = if done {
        store
            .retry(selection, args.intents.reason.as_deref())
            .await?
    } else {
        store.preview_retry(&selection).await?
    };
    if args.json {
        out.json(&Told {
            done,
            report: &report,
        });
    } else {
        list(&report, out);
        let count = report.intents.len();
        out.line(if done {
            format!("{count} due again")
        } else {
            format!("{count} would be due again; --yes does it")
        });
    }
    Ok(refused(
        &report,
        "only dead_letter and expired intents are sent again",
    ))
}

pub(crate) async fn purge(
    args: &OutboxPurgeArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let selection = selection(&args.ids, &args.intents);
    let done = args.intents.yes;
    let report = if done {
        store
            .purge(selection, args.intents.reason.as_deref())
            .await?
    } else {
        store.preview_purge(&selection).await?
    };
    if args.json {
        out.json(&Told {
            done,
            report: &report,
        });
    } else {
        list(&report, out);
        let count = report.intents.len();
        out.line(match (done, &report.purge) {
            (true, Some(purge)) => format!("{count} purged, as purge {purge}"),
            (true, None) => "nothing to purge".to_owned(),
            (false, _) => format!("{count} would be purged; --yes does it"),
        });
    }
    Ok(refused(&report, "what waits or is under way is not purged"))
}

/// How many ids are listed to people.
const LISTED_MAX: usize = 20;

fn list(report: &OperatorReport, out: &mut Output) {
    for id in report.intents.iter().take(LISTED_MAX) {
        out.line(format_args!("  {id}"));
    }
    if report.intents.len() > LISTED_MAX {
        out.line(format_args!(
            "  … and {} more",
            report.intents.len() - LISTED_MAX
        ));
    }
}

/// Tells of the ids that were named in vain: an unknown one is wrong input, one in another state a
/// refusal.
fn refused(report: &OperatorReport, why: &str) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for (id, status) in &report.refused {
        if let Some(status) = status {
            complain(format_args!("{id} is {}: {why}", status.as_str()));
            if code == ExitCode::SUCCESS {
                code = ExitCode::FAILURE;
            }
        } else {
            complain(missing(id));
            code = ExitCode::from(2);
        }
    }
    code
}
