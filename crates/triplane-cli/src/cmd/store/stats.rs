//! `triplane store stats`: counts and sizes. The store is looked at and neither upgraded nor emptied.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use triplane::state::{Scrutiny, Store, StoreInspection};

use crate::args::StoreStatsArgs;
use crate::render::{Output, chain, column, complain, moment};

/// How long a store that others have locked is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    inspection: &'a StoreInspection,
    /// The bytes of the file and of the log beside it.
    file_bytes: u64,
    log_bytes: u64,
}

pub(crate) fn stats(args: &StoreStatsArgs) -> ExitCode {
    match inspect(&args.store) {
        Ok(inspection) => {
            show(args, &inspection);
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(chain(&error));
            ExitCode::from(2)
        }
    }
}

fn inspect(path: &Path) -> Result<StoreInspection> {
    if !path.exists() {
        bail!(
            "{}: there is no store; triplane replay and triplane hook make one",
            path.display()
        );
    }
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    Ok(tokio.block_on(Store::inspect(path, PATIENCE, Scrutiny::Counts))?)
}

fn show(args: &StoreStatsArgs, inspection: &StoreInspection) {
    let bytes = |suffix: &str| {
        let mut path = inspection.path.as_os_str().to_owned();
        path.push(suffix);
        std::fs::metadata(path).map_or(0, |found| found.len())
    };
    let (file_bytes, log_bytes) = (bytes(""), bytes("-wal"));
    let mut out = Output::new();
    if args.json {
        return out.json(&Told {
            inspection,
            file_bytes,
            log_bytes,
        });
    }
    let stats = &inspection.stats;
    let intents = &stats.intents;
    for (name, value) in [
        ("store", inspection.path.display().to_string()),
        ("id", inspection.store_id.clone()),
        ("epoch", inspection.store_epoch.clone()),
        ("made", moment(inspection.created_at_us)),
        (
            "schema",
            format!(
                "version {} of {}, SQLite {}",
                inspection.schema_version, inspection.schema_known, inspection.sqlite_version
            ),
        ),
        (
            "bytes",
            format!("{file_bytes}, {log_bytes} in the log beside it"),
        ),
        ("sessions", stats.sessions.to_string()),
        ("operations", stats.operations.to_string()),
        ("audits", stats.audits.to_string()),
        ("signals", stats.signals.to_string()),
        (
            "intents",
            format!(
                "{}: {} pending, {} delivering, {} delivered, {} acked, {} given up, {} expired",
                intents.total(),
                intents.pending,
                intents.delivering,
                intents.delivered,
                intents.acked,
                intents.dead_letter,
                intents.expired
            ),
        ),
    ] {
        out.line(format_args!("{}  {value}", column(name, 10)));
    }
}
