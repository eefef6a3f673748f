//! `triplane store check`: whether a store agrees with itself.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use triplane::state::{StateError, Store, StoreFinding, StoreOptions};

use crate::args::StoreCheckArgs;
use crate::render::{Output, chain, complain};
use crate::store_mode;

#[derive(Debug, Serialize)]
struct Told<'a> {
    checks: &'a [&'a str],
    findings: &'a [StoreFinding],
}

pub(crate) fn check(args: &StoreCheckArgs) -> ExitCode {
    match look(args) {
        Ok(findings) => {
            show(args, &findings);
            if findings.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            let damaged = error
                .downcast_ref()
                .is_some_and(|error| matches!(error, StateError::Damaged { .. }));
            complain(chain(&error));
            // A file that cannot be opened because it is damaged was looked at, and is not good.
            ExitCode::from(if damaged { 1 } else { 2 })
        }
    }
}

fn look(args: &StoreCheckArgs) -> Result<Vec<StoreFinding>> {
    let path = &args.store.store;
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
    store_mode::report(path);
    tokio.block_on(async {
        let options = StoreOptions::new(path).synchronous(args.store.synchronous.into());
        let store = Store::open(options).await?;
        let found = store.check().await;
        let closed = store.close().await;
        let found = found?;
        // What is damaged may not close well; that is told already.
        if found.is_empty() {
            closed?;
        }
        Ok(found)
    })
}

fn show(args: &StoreCheckArgs, findings: &[StoreFinding]) {
    let mut out = Output::new();
    let checks = Store::checks();
    if args.json {
        return out.json(&Told { checks, findings });
    }
    for finding in findings {
        out.line(finding);
    }
    if findings.is_empty() {
        out.line(format_args!(
            "nothing was found by {} checks: {}",
            checks.len(),
            checks.join(", ")
        ));
    }
}
