//! `triplane signals gaps`: what is known to be missing, and of which times nothing can be known.

use std::process::ExitCode;

use triplane::state::Store;

use crate::args::SignalsGapsArgs;
use crate::render::{Output, column, moment};

pub(crate) async fn gaps(
    args: &SignalsGapsArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let report = store.capture().await?;
    if args.json {
        out.json(&report);
        return Ok(ExitCode::SUCCESS);
    }
    match report.known_missing {
        0 => out.line(
            "no gap is on record. What nobody tried to commit leaves no trace, so this is no proof \
             that nothing is missing",
        ),
        1 => out.line("1 fact is known to be missing"),
        facts => out.line(format_args!("{facts} facts are known to be missing")),
    }
    for gap in &report.gaps {
        out.line(format_args!(
            "  {} to {}  {}  {} facts  {}",
            moment(gap.first_at_us),
            moment(gap.last_at_us),
            column(gap.cause.as_str(), 15),
            gap.facts,
            column(gap.detail.as_deref().unwrap_or_default(), 100).trim_end(),
        ));
    }
    if report.unknown.is_empty() {
        out.line(format_args!(
            "from {} on somebody was always there to capture",
            moment(report.from_us)
        ));
    } else {
        out.line(format_args!(
            "nothing can be known of {} intervals:",
            report.unknown.len()
        ));
    }
    for interval in &report.unknown {
        out.line(format_args!(
            "  {} to {}  {}",
            moment(interval.from_us),
            moment(interval.until_us),
            interval.why
        ));
    }
    Ok(ExitCode::SUCCESS)
}
