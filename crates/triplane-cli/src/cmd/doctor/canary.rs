//! The canary: two questions to the hook itself, one that it must deny and one that it must not.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use serde::Serialize;
use serde_json::json;
use tokio::runtime::Runtime;
use triplane::state::{Scrutiny, Store, StoreInspection};
use triplane_external_hooks::Ruling;

use crate::args::{Cli, Command, HookArgs};
use crate::cmd::doctor::finding::Finding;
use crate::cmd::hook;
use crate::render::chain;

const TOPIC: &str = "canary";

/// Nothing of this is run: it is only asked about.
const HARMLESS: &str = "git status";
const CATASTROPHIC: &str = "rm -rf /";

/// How one question was answered.
#[derive(Debug, Serialize)]
pub(crate) struct Chirp {
    command: &'static str,
    allowed: bool,
    reason: Option<String>,
    ms: f64,
}

/// Asks both, against a store in a folder of its own that is gone afterwards.
pub(crate) fn look(tokio: &Runtime, findings: &mut Vec<Finding>) -> Vec<Chirp> {
    match try_out(tokio) {
        Ok((chirps, trial)) => {
            findings.push(Finding::good(
                "sqlite",
                format!("version {} is linked", trial.sqlite_version),
            ));
            findings.push(judged(&chirps));
            chirps
        }
        Err(error) => {
            findings.push(Finding::unknown(
                TOPIC,
                chain(&error),
                "look at the folder for temporary files; TMPDIR names another",
            ));
            Vec::new()
        }
    }
}

fn try_out(tokio: &Runtime) -> Result<(Vec<Chirp>, StoreInspection)> {
    let folder = tempfile::tempdir().context("cannot make a folder for a trial store")?;
    let path = folder.path().join("state.db");
    let args = hook_args(&path)?;
    let chirps = [HARMLESS, CATASTROPHIC].map(|command| ask(&args, folder.path(), command));
    let chirps = chirps.into_iter().collect::<Result<_>>()?;
    let trial = tokio.block_on(Store::inspect(&path, args.timeout, Scrutiny::Counts))?;
    Ok((chirps, trial))
}

/// The arguments that a hook has when it is given none.
fn hook_args(store: &Path) -> Result<HookArgs> {
    let line = [
        "triplane".as_ref(),
        "hook".as_ref(),
        "--store".as_ref(),
        store.as_os_str(),
    ];
    match Cli::try_parse_from(line)?.command {
        Command::Hook(args) => Ok(args),
        other => anyhow::bail!("{other:?} is no hook"),
    }
}

fn ask(args: &HookArgs, folder: &Path, command: &'static str) -> Result<Chirp> {
    let question = json!({
        "hook_event_name": "PreToolUse", "session_id": "doctor", "cwd": folder,
        "tool_name": "Bash", "tool_input": {"command": command},
    });
    let started = Instant::now();
    let ruling = hook::rule(args, question.to_string().as_bytes())?;
    let ms = (started.elapsed().as_secs_f64() * 1e4).round() / 10.0;
    let reason = match &ruling {
        Ruling::Deny(finding) => Some(finding.to_string()),
        Ruling::Allow | Ruling::Rewrite { .. } => None,
    };
    Ok(Chirp {
        command,
        allowed: reason.is_none(),
        reason,
        ms,
    })
}

fn judged(chirps: &[Chirp]) -> Finding {
    for Chirp {
        command,
        allowed,
        reason,
        ..
    } in chirps
    {
        if *allowed == (*command == CATASTROPHIC) {
            let said = reason.as_deref().unwrap_or("it was allowed");
            return Finding::wrong(
                TOPIC,
                format!("the hook judges {command:?} wrongly: {said}"),
                "do not rely on this program; please report what it says",
            );
        }
    }
    let took = chirps.iter().map(|chirp| format!("{} ms", chirp.ms));
    let took = took.collect::<Vec<_>>().join(" and ");
    Finding::good(
        TOPIC,
        format!("the hook allows {HARMLESS:?} and denies {CATASTROPHIC:?}, in {took}"),
    )
}
