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
    rules(&program, calls)?;
    Ok(ExitCode::SUCCESS)
}

/// What a file of so many rules adds to a call: a hook reads it anew each time.
const RULES: usize = 100;

fn rules(program: &Path, calls: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map(|()| path)
    };
    let rules: String = (0..RULES).map(rule).collect();
    write("team.toml", &format!("version = 1\n{rules}"))?;
    let policies = [
        write("with.toml", "version = 1\nrules = [\"team.toml\"]\n")?,
        write("without.toml", "version = 1\n")?,
    ];
    let question = r#"{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/srv/app","tool_name":"Bash","tool_input":{"command":"git status"}}"#;
    let mut times = [Vec::with_capacity(calls), Vec::with_capacity(calls)];
    for _call in 0..calls {
        for (policy, times) in policies.iter().zip(&mut times) {
            let mut hook = Command::new(program);
            hook.args(["hook", "--store"])
                .arg(policy.with_extension("db"))
                .arg("--policy")
                .arg(policy);
            times.push(timed(&mut hook, question.as_bytes())?);
        }
    }
    let [with, without] = times.map(|times| median(&times));
    println!(
        r#"{{"case":"hook.100_user_rules","calls":{calls},"median_ms":{with},"without_median_ms":{without},"added_ms":{:.3}}}"#,
        with - without,
    );
    Ok(())
}

/// A rule as teams write them.
fn rule(number: usize) -> String {
    format!(
        r#"
[[rule]]
id = "team.deploy-{number}"
tier = "dangerous"
programs = ["deploy{number}"]
flags = [["-p", "--production"]]
text = "^prod-[a-z]+{number}$"
reason = "production is deployed by a person"
safer = "deploy to staging, and ask for the rest"
deny = ["deploy{number} -p prod-eu{number}"]
allow = ["deploy{number} staging"]
"#
    )
}

fn median(times: &[Duration]) -> f64 {
    quantile(times, 0.5)
}
