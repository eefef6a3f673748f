//! `cargo xtask bench replay`: whole recordings, deliveries included.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::bench::number;
use crate::bench::program::{again, program, resident_kib, timed};
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let events = number(arguments, "--events", 40_000)?;
    let megabytes = number(arguments, "--megabytes", 100)?;
    let Some(program) = program(arguments) else {
        return again(workspace, "replay", arguments);
    };
    let folder = tempfile::tempdir()?;
    let hooks = folder.path().join("hooks.jsonl");
    write_hooks(&hooks, events)?;
    for synchronous in ["full", "normal"] {
        case(
            &program,
            folder.path(),
            &hooks,
            synchronous,
            "hooks",
            events,
        )?;
    }
    let transcript = folder.path().join("transcript.jsonl");
    let entries = write_transcript(&transcript, megabytes << 20)?;
    // The first and the last entry of the session make one event more each.
    case(
        &program,
        folder.path(),
        &transcript,
        "full",
        "transcript",
        entries + 2,
    )?;
    Ok(ExitCode::SUCCESS)
}

fn case(
    program: &Path,
    folder: &Path,
    file: &Path,
    synchronous: &str,
    name: &str,
    events: usize,
) -> anyhow::Result<()> {
    let store = folder.join(format!("{name}-{synchronous}/state.db"));
    let mut replay = Command::new(program);
    replay.arg("replay").arg(file).arg("--store").arg(&store);
    let took = timed(replay.args(["--synchronous", synchronous, "--json"]), b"")?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a rate needs no more than 52 bits"
    )]
    let rate = (events as f64 / took.as_secs_f64()).round();
    println!(
        r#"{{"case":"replay.{name}","synchronous":"{synchronous}","events":{events},"bytes":{},"seconds":{:.3},"events_per_second":{rate},"resident_kib":{}}}"#,
        file.metadata()?.len(),
        took.as_secs_f64(),
        resident_kib()?,
    );
    Ok(())
}

/// Proposals and their results in turn, in five sessions.
fn write_hooks(path: &Path, events: usize) -> anyhow::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for n in 0..events {
        let (session, call) = (n / 2 % 5, n / 2);
        let what = if n % 2 == 0 {
            r#""hook_event_name":"PreToolUse""#
        } else {
            r#""hook_event_name":"PostToolUse","tool_response":{"stdout":"ok\nok\nok\n","interrupted":false}"#
        };
        writeln!(
            file,
            r#"{{{what},"session_id":"s{session}","cwd":"/srv/app","tool_name":"Bash","tool_use_id":"t{call}","tool_input":{{"command":"cargo test -p thing{} && git status --short | head -20"}}}}"#,
            call % 50,
        )?;
    }
    Ok(file.flush()?)
}

/// One session of calls and long results; answers how many entries there are.
fn write_transcript(path: &Path, bytes: usize) -> anyhow::Result<usize> {
    let mut file = BufWriter::new(File::create(path)?);
    let output = "a line of output that a tool has printed\\n".repeat(60);
    let (mut written, mut entries) = (0, 0);
    while written < bytes {
        let common = format!(
            r#""isSidechain":false,"cwd":"/srv/app","sessionId":"s1","version":"2.1.0","timestamp":"2026-11-02T09:00:02.686Z","uuid":"entry-{entries}""#
        );
        let call = entries / 2;
        let line = if entries % 2 == 0 {
            format!(
                r#"{{{common},"type":"assistant","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_{call}","name":"Bash","input":{{"command":"cargo test -p thing{} 2>&1 | tail -40"}}}}]}}}}"#,
                call % 50,
            )
        } else {
            format!(
                r#"{{{common},"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{call}","content":"{output}"}}]}}}}"#
            )
        };
        writeln!(file, "{line}")?;
        written += line.len() + 1;
        entries += 1;
    }
    file.flush()?;
    Ok(entries)
}
