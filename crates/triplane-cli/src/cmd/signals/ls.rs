//! `triplane signals ls`: the log, a page at a time.

use std::process::ExitCode;

use serde::Serialize;
use triplane::state::{SignalCursor, SignalRecord, Store};

use crate::args::SignalsLsArgs;
use crate::position::After;
use crate::render::{Output, column, complain, moment};

#[derive(Debug, Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    signal: &'a SignalRecord,
    /// Where to go on after this one.
    cursor: String,
}

pub(crate) async fn list(
    args: &SignalsLsArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let session = args.session.as_deref();
    let from: SignalCursor = match (args.after, session) {
        (None, _) => store.cursor(0).await?,
        (Some(After::Cursor(cursor)), _) => cursor,
        (Some(After::Sequence(sequence)), Some(_)) => store.cursor(sequence).await?,
        (Some(After::Sequence(_)), None) => {
            complain("--after with a sequence needs --session; without one, give a cursor");
            return Ok(ExitCode::from(2));
        }
    };
    let page = store.page(session, &from, None, args.limit).await?;
    for signal in &page.signals {
        if args.json {
            let number = match session {
                Some(_) => signal.sequence,
                None => signal.position.unsigned_abs(),
            };
            out.json(&Told {
                signal,
                cursor: format!("{}:{number}", from.epoch()),
            });
            continue;
        }
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
    if args.json {
        return Ok(ExitCode::SUCCESS);
    }
    if page.signals.is_empty() {
        out.line("no signals");
    } else if u32::try_from(page.signals.len()).is_ok_and(|shown| shown == args.limit) {
        out.line(format_args!(
            "… and perhaps more: --limit is {}; --after {} goes on",
            args.limit, page.next
        ));
    }
    Ok(ExitCode::SUCCESS)
}
