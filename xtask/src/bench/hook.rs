//! `cargo xtask bench hook`: one call of `triplane hook`, from the start of its process to its end.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::bench::number;
use crate::bench::program::{again, program, quantile, resident_kib, size, timed};
use crate::workspace::Workspace;

/// What is asked: a command that is let pass, and one that is refused.
const CASES: [(&str, &str); 2] = [("harmless", "git status"), ("refused", "rm -rf /")];

/// How many calls at either end are compared to see whether a call costs more as the store grows.
const ENDS: usize = 200;

pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let calls = number(arguments, "--calls", 2_000)?;
    let Some(program) = program(arguments) else {
        return again(workspace, "hook", arguments);
    };
    for (case, command) in CASES {
        let folder = tempfile::tempdir()?;
        let store = folder.path().join("state.db");
        let question = format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/srv/app","tool_name":"Bash","tool_input":{{"command":"{command}"}}}}"#
        );
        let unredacted = folder.path().join("unredacted.db");
        let ask = |store: &Path, more: &[&str]| {
            let mut hook = Command::new(&program);
            hook.args(["hook", "--store"]).arg(store).args(more);
            timed(&mut hook, question.as_bytes())
        };
        let mut times = Vec::with_capacity(calls);
        let mut without = Vec::with_capacity(calls);
        let mut floor = Vec::with_capacity(calls / 10);
        for call in 0..calls {
            // In turn, so that what the machine does meanwhile falls on both.
            times.push(ask(&store, &[])?);
            without.push(ask(&unredacted, &["--redact", "off"])?);
            if call % 10 == 0 {
                floor.push(timed(&mut Command::new("true"), b"")?);
            }
        }
        let ends = ENDS.min(calls / 2).max(1);
        let (first, last) = (median(&times[..ends]), median(&times[times.len() - ends..]));
        println!(
            r#"{{"case":"hook.{case}","calls":{calls},"median_ms":{},"p95_ms":{},"unredacted_median_ms":{},"floor_ms":{},"first_ms":{first},"last_ms":{last},"growth":{:.2},"wal_bytes":{},"resident_kib":{}}}"#,
            median(&times),
            quantile(&times, 0.95),
            median(&without),
            median(&floor),
            last / first,
            size(&store.with_extension("db-wal")),
            resident_kib()?,
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn median(times: &[Duration]) -> f64 {
    quantile(times, 0.5)
}
