//! `triplane-referee FOLDER`: judges a store that the campaign has kept.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command speaks to the person who called it"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use triplane_referee::{Extent, judge};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: triplane-referee FOLDER [LEASE_US]");
        return ExitCode::from(2);
    };
    let lease_us = std::env::args().nth(2).and_then(|text| text.parse().ok());
    let judged = tokio::runtime::Builder::new_current_thread()
        .build()
        .and_then(|runtime| {
            runtime.block_on(judge(
                &folder,
                &folder,
                Extent::Recovered,
                lease_us.unwrap_or(0),
            ))
        });
    match judged {
        Err(error) => {
            eprintln!("error: {}: {error}", folder.display());
            ExitCode::from(2)
        }
        Ok(verdict) => {
            for finding in &verdict.findings {
                println!("{:?}: {}", finding.invariant, finding.says);
            }
            println!(
                "{} facts, {} findings",
                verdict.facts,
                verdict.findings.len()
            );
            ExitCode::from(u8::from(!verdict.findings.is_empty()))
        }
    }
}
