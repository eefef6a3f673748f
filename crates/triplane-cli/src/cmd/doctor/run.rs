//! Looking at everything, and saying it.

use std::process::ExitCode;

use jiff::Timestamp;
use serde::Serialize;
use triplane::state::StoreInspection;

use crate::args::DoctorArgs;
use crate::cmd::doctor::canary::{self, Chirp};
use crate::cmd::doctor::finding::{Finding, Grade};
use crate::cmd::doctor::rules::{self, PolicyReport};
use crate::cmd::doctor::{settings, sink, store};
use crate::paint::{Ink, Screen};
use crate::render::{Output, column, complain};

/// All of it, as one JSON object.
#[derive(Serialize)]
struct Report<'a> {
    healthy: bool,
    version: &'static str,
    program: Option<String>,
    findings: &'a [Finding],
    store: Option<StoreInspection>,
    /// Nothing without `--policy`, and when that cannot be read.
    policy: Option<PolicyReport>,
    canary: Vec<Chirp>,
}

pub(crate) fn run(args: &DoctorArgs, screen: Screen) -> ExitCode {
    let tokio = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(tokio) => tokio,
        Err(error) => {
            complain(format_args!("cannot start the runtime: {error}"));
            return ExitCode::from(2);
        }
    };
    let program = std::env::current_exe().ok();
    let program = program.map(|path| path.display().to_string());
    let version = env!("CARGO_PKG_VERSION");
    let mut findings = vec![Finding::good(
        "program",
        format!("triplane {version}, {}", program.as_deref().unwrap_or("?")),
    )];
    let store = tokio.block_on(store::look(args, &mut findings));
    sink::look(args, &mut findings);
    settings::look(&mut findings);
    let policy = rules::look(args.policy.as_deref(), Timestamp::now(), &mut findings);
    let canary = canary::look(&tokio, &mut findings);

    let worst = findings.iter().map(|it| it.grade).max();
    let worst = worst.unwrap_or(Grade::Good);
    let mut out = Output::new();
    if args.json {
        out.json(&Report {
            healthy: worst <= Grade::Note,
            version,
            program,
            findings: &findings,
            store,
            policy,
            canary,
        });
    } else {
        tell(&findings, worst, screen, &mut out);
    }
    match worst {
        Grade::Good | Grade::Note => ExitCode::SUCCESS,
        Grade::Wrong => ExitCode::from(1),
        Grade::Unknown => ExitCode::from(2),
    }
}

fn tell(findings: &[Finding], worst: Grade, screen: Screen, out: &mut Output) {
    for finding in findings {
        let (word, ink) = match finding.grade {
            Grade::Good => ("ok", Ink::Green),
            Grade::Note => ("note", Ink::Yellow),
            Grade::Wrong => ("wrong", Ink::Red),
            Grade::Unknown => ("unknown", Ink::Magenta),
        };
        if screen.quiet && finding.grade < Grade::Wrong {
            continue;
        }
        out.line(format_args!(
            "{}  {}  {}",
            screen.paint.dip(ink, &column(word, 7)),
            column(finding.topic, 10),
            finding.says
        ));
        if let Some(way_out) = &finding.way_out {
            out.line(format_args!("{:21}-> {way_out}", ""));
        }
    }
    if screen.quiet {
        return;
    }
    out.line(match worst {
        Grade::Good | Grade::Note => "healthy",
        Grade::Wrong => "something is wrong",
        Grade::Unknown => "something could not be looked at",
    });
}
