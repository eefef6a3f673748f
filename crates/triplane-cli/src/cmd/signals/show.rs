//! `triplane signals show`: one signal, whole.

use std::process::ExitCode;

use triplane::state::Store;

use crate::args::SignalsShowArgs;
use crate::render::{Output, complain, moment};

pub(crate) async fn show(
    args: &SignalsShowArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let Some(signal) = store.signal(&args.id).await? else {
        complain(format_args!(
            "there is no signal {}; triplane signals ls lists those there are",
            args.id
        ));
        return Ok(ExitCode::from(2));
    };
    if args.json {
        out.json(&signal);
        return Ok(ExitCode::SUCCESS);
    }
    for (name, value) in [
        ("signal", signal.id.as_str()),
        ("kind", &signal.kind),
        ("emitter", &signal.emitter),
        ("fact", &signal.identity),
        ("operation", &signal.operation),
        (
            "session",
            &format!("{} at {}", signal.session, signal.sequence),
        ),
        ("occurred", &moment(signal.occurred_at_us)),
        (
            "invocation",
            signal.invocation.as_deref().unwrap_or("none is known"),
        ),
        (
            "payload",
            &format!("{} version {}", signal.payload_type, signal.payload_version),
        ),
    ] {
        out.line(format_args!("{name:<10}  {value}"));
    }
    out.line(signal.payload.get());
    Ok(ExitCode::SUCCESS)
}
