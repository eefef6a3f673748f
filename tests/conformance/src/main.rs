//! `cargo xtask conformance`: runs recorded scenarios on the legacy names and compares what can be
//! observed from outside.
//!
//! A scenario is a script over handlers whose steps are data (`handler`, `script`); an adapter for
//! each profile says what the operations mean on its legacy name (`adapter`). It runs on tokio's
//! paused clock, and what is offloaded takes turns with it (`turns`). The trace is compared with the
//! recorded one (`compare`), and the rows of the matrix with what ran (`matrix`).

#![allow(
    clippy::print_stdout,
    reason = "a program that reports to whoever called it"
)]

mod fields;
mod fault;
mod json;
mod turns;
mod run;
mod log;
mod operation;
mod handler;
mod adapter;
mod script;
mod compare;
mod suite;
mod matrix;
mod options;

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use crate::matrix::Matrix;
use crate::options::{Due, Judged, Options, Report};
use crate::suite::{Outcome, Verdict};

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse(std::env::args().skip(1))?;
    let outcomes = options.tree.run(&options.filter)?;
    for outcome in &outcomes {
        report(outcome, options.report);
    }
    let count = |verdict: &str| {
        outcomes
            .iter()
            .filter(|outcome| outcome.verdict.as_str() == verdict)
            .count()
    };
    let mut blocking = Vec::new();
    if outcomes.is_empty() {
        blocking.push("no scenario ran".to_owned());
    }
    if count("fail") > 0 {
        blocking.push(format!("{} scenarios failed", count("fail")));
    }
    if options.due == Due::Fails && count("due") > 0 {
        blocking.push(format!("{} scenarios are due", count("due")));
    }
    if options.judged == Judged::Matrix {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("matrix.toml");
        let judgement = Matrix::read(&file)?.judge(&outcomes);
        if options.report == Report::Text {
            println!("{}", judgement.table);
        }
        if options.due == Due::Fails && judgement.due > 0 {
            blocking.push(format!("{} rows are due", judgement.due));
        }
        blocking.extend(judgement.blocking);
    }
    match options.report {
        Report::Json => println!(
            "{}",
            json!({
                "scenarios": outcomes.len(),
                "pass": count("pass"),
                "fail": count("fail"),
                "deliberate": count("deliberate"),
                "due": count("due"),
                "blocking": blocking,
            })
        ),
        Report::Text => {
            for reason in &blocking {
                println!("blocks: {reason}");
            }
            println!(
                "{} scenarios: {} pass, {} deliberate, {} fail, {} due",
                outcomes.len(),
                count("pass"),
                count("deliberate"),
                count("fail"),
                count("due"),
            );
        }
    }
    Ok(if blocking.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn report(outcome: &Outcome, report: Report) {
    let difference = match &outcome.verdict {
        Verdict::Failed(difference) => Some(difference),
        Verdict::Passed | Verdict::Deliberate | Verdict::Due => None,
    };
    match (report, difference) {
        (Report::Json, _) => println!(
            "{}",
            json!({
                "id": outcome.id,
                "profile": outcome.profile,
                "verdict": outcome.verdict.as_str(),
                "difference": difference,
            })
        ),
        (Report::Text, Some(difference)) => {
            println!("{}: - recorded, + came\n{difference}", outcome.id);
        }
        (Report::Text, None) => {}
    }
}

#[cfg(test)]
mod tests;
