//! The two commands.

use std::process::ExitCode;

use anyhow::Result;
use triplane::state::Store;

use crate::args::{SessionCommand, SessionLsArgs, SessionShowArgs};
use crate::cmd::reading::with_store;
use crate::cmd::session::call::Call;
use crate::cmd::session::choose;
use crate::cmd::session::export::Export;
use crate::cmd::session::result::Halves;
use crate::cmd::session::screen::Shown;
use crate::paint::Screen;
use crate::render::{Output, column, moment};

/// How many signals are read at a time; a page of long ones is shorter by itself.
const PAGE: u32 = 128;

pub(crate) fn run(command: &SessionCommand, screen: Screen) -> ExitCode {
    match command {
        SessionCommand::Ls(args) => {
            with_store(&args.store, async |store, out| list(args, store, out).await)
        }
        SessionCommand::Show(args) => with_store(&args.store, async |store, out| {
            show(args, screen, store, out).await
        }),
    }
}

async fn list(args: &SessionLsArgs, store: &Store, out: &mut Output) -> Result<ExitCode> {
    let sessions = store.sessions(args.limit).await?;
    for session in &sessions {
        if args.json {
            out.json(session);
            continue;
        }
        let latest = session.latest_at_us.map(moment).unwrap_or_default();
        out.line(format_args!(
            "{}  {:>7} signals  {}",
            column(&latest, 24),
            session.signals,
            session.session
        ));
    }
    if args.json {
        return Ok(ExitCode::SUCCESS);
    }
    if sessions.is_empty() {
        out.line("no sessions");
    } else if u32::try_from(sessions.len()).is_ok_and(|shown| shown == args.limit) {
        out.line(format_args!(
            "… and perhaps more: --limit is {}",
            args.limit
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the calls go.
enum Goal {
    Screen(Shown),
    Lines,
    File(Export),
}

async fn show(
    args: &SessionShowArgs,
    screen: Screen,
    store: &Store,
    out: &mut Output,
) -> Result<ExitCode> {
    let session = choose::session(store, &args.id).await?;
    let mut goal = match &args.export {
        Some(path) => Goal::File(Export::begin(path)?),
        None if args.json => Goal::Lines,
        None => {
            out.line(format_args!("session {session}"));
            Goal::Screen(Shown::new(screen.paint))
        }
    };
    let mut after = Some(0);
    while let Some(from) = after {
        let page = store.operations(&session, from, PAGE).await?;
        after = page.next;
        let halves = Halves::of(store, &page.operations).await?;
        for operation in page.operations {
            let Some(call) = Call::of(operation, &halves) else {
                continue;
            };
            match &mut goal {
                Goal::Screen(shown) => shown.call(out, &call),
                Goal::Lines => out.json(&call),
                Goal::File(export) => export.line(&call)?,
            }
        }
        if out.is_closed() {
            break;
        }
    }
    match goal {
        Goal::Screen(shown) => shown.sums(out),
        Goal::Lines => {}
        Goal::File(export) => {
            let lines = export.finish()?;
            if !screen.quiet
                && let Some(path) = &args.export
            {
                out.line(format_args!(
                    "{lines} calls of {session} in {}",
                    path.display()
                ));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
