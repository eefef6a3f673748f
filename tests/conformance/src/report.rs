//! What a run says, as text and as JSON, and what of it blocks.

use std::path::Path;

use serde_json::json;

use crate::divergent::Divergent;
use crate::evidence;
use crate::live::{Campaign, Found, Live};
use crate::matrix::Matrix;
use crate::mutations::{self, Unobservable};
use crate::options::{Due, Evidence, Judged, Options, Report};
use crate::record;
use crate::suite::{Outcome, Verdict};

/// Runs the scenarios, and returns what blocks.
pub(crate) fn scenarios(options: &Options) -> anyhow::Result<Vec<String>> {
    let mut outcomes = options.tree.run(&options.filter)?;
    let mut blocking = Vec::new();
    if options.judged == Judged::Matrix {
        blocking.extend(Divergent::read(&own_file("divergent.toml"))?.judge(&mut outcomes));
        for trace in options.tree.orphans()? {
            blocking.push(format!("the trace {} has no scenario", trace.display()));
        }
    }
    for outcome in &outcomes {
        show(outcome, options.report);
    }
    let count = |verdict: &str| {
        outcomes
            .iter()
            .filter(|outcome| outcome.verdict.as_str() == verdict)
            .count()
    };
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
        let matrix = Matrix::read(&own_file("matrix.toml"))?;
        let ran = match options.evidence {
            Evidence::Everything => evidence::run(&matrix.tests())?,
            #[cfg(test)]
            Evidence::ScenariosOnly => evidence::Ran::new(),
        };
        let judgement = matrix.judge(&outcomes, &ran);
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
                "divergent": count("divergent"),
                "deliberate": count("deliberate"),
                "due": count("due"),
                "blocking": blocking,
            })
        ),
        Report::Text => {
            show_blocking(&blocking);
            println!(
                "{} scenarios: {} pass, {} divergent, {} deliberate, {} fail, {} due",
                outcomes.len(),
                count("pass"),
                count("divergent"),
                count("deliberate"),
                count("fail"),
                count("due"),
            );
        }
    }
    Ok(blocking)
}

/// Changes the profiles, and returns what blocks.
pub(crate) fn mutations(options: &Options) -> anyhow::Result<Vec<String>> {
    // A changed profile may make the runner's own handlers panic, which is caught and counts as seen.
    std::panic::set_hook(Box::new(|_| {}));
    let mutations = mutations::run(&options.tree, &options.filter);
    drop(std::panic::take_hook());
    let mutations = mutations?;
    let unobservable = Unobservable::read(&own_file("unobservable.toml"))?;
    let mut blocking = unobservable.judge(&mutations);
    if mutations.is_empty() {
        blocking.push("no profile was changed".to_owned());
    }
    let seen = mutations
        .iter()
        .filter(|mutation| mutation.seen_by.is_some())
        .count();
    if options.report == Report::Json {
        for mutation in &mutations {
            let line = json!({
                "profile": mutation.profile,
                "change": mutation.written(),
                "seen_by": mutation.seen_by,
                "unobservable": unobservable.reason(mutation),
            });
            println!("{line}");
        }
        let summary = json!({
            "mutations": mutations.len(),
            "seen": seen,
            "not_seen": mutations.len() - seen,
            "blocking": blocking,
        });
        println!("{summary}");
        return Ok(blocking);
    }
    show_blocking(&blocking);
    println!("{:22}  changes  seen  listed", "profile");
    for of_one in mutations.chunk_by(|one, two| one.profile == two.profile) {
        let seen = of_one.iter().filter(|one| one.seen_by.is_some()).count();
        let listed = of_one
            .iter()
            .filter(|one| one.seen_by.is_none() && unobservable.reason(one).is_some())
            .count();
        let (profile, changes) = (of_one[0].profile, of_one.len());
        println!("{profile:22}  {changes:7}  {seen:4}  {listed:6}");
    }
    println!(
        "{} changes of profiles: {seen} seen, {} not",
        mutations.len(),
        mutations.len() - seen
    );
    Ok(blocking)
}

/// Records the tree again; nothing of it blocks.
pub(crate) fn record(options: &Options) -> anyhow::Result<Vec<String>> {
    println!("{}", record::run(&options.tree)?);
    Ok(Vec::new())
}

/// Runs random scenarios on both sides, and returns what blocks.
pub(crate) fn live(live: &Live, report: Report) -> anyhow::Result<Vec<String>> {
    let campaign = Campaign::begin()?;
    let (mut scenarios, mut differing, mut deliberate) = (0, 0, 0);
    // What panics is caught, and shown as a difference.
    std::panic::set_hook(Box::new(|_| {}));
    let ran = campaign.run(live, &mut |found| {
        scenarios += found.same + found.deliberate + found.differing;
        differing += found.differing;
        deliberate += found.deliberate;
        show_found(found, report);
    });
    drop(std::panic::take_hook());
    ran?;
    let mut blocking = Vec::new();
    if scenarios == 0 {
        blocking.push("no scenario ran".to_owned());
    }
    if differing > 0 {
        blocking.push(format!("{differing} scenarios differ"));
    }
    if report == Report::Json {
        let summary = json!({
            "seed": live.seed,
            "scenarios": scenarios,
            "differences": differing,
            "deliberate": deliberate,
            "blocking": blocking,
        });
        println!("{summary}");
        return Ok(blocking);
    }
    if differing > 0 {
        println!(
            "run them again: cargo xtask conformance --scenarios {} --traces {}",
            shown(&campaign.scenarios()),
            shown(&campaign.traces())
        );
    }
    println!(
        "{scenarios} scenarios of {} profiles, seed {}: {differing} differences, {deliberate} deliberate",
        live.profiles.len(),
        live.seed
    );
    Ok(blocking)
}

fn show_found(found: &Found, report: Report) {
    let scenarios = found.same + found.deliberate + found.differing;
    for finding in &found.findings {
        if report == Report::Json {
            let line = json!({
                "id": finding.id,
                "handlers": finding.handlers,
                "operations": finding.operations,
                "difference": finding.difference,
                "scenario": finding.file,
            });
            println!("{line}");
        } else {
            println!(
                "{}, with {} handlers and {} operations left: - recorded, + came\n{}    {}\n",
                finding.id,
                finding.handlers,
                finding.operations,
                finding.difference,
                shown(&finding.file)
            );
        }
    }
    if report == Report::Json {
        let line = json!({
            "profile": found.profile,
            "scenarios": scenarios,
            "differences": found.differing,
            "deliberate": found.deliberate,
        });
        println!("{line}");
    } else {
        println!(
            "{:22} {scenarios} scenarios, {} differences, {} of them made smaller, {} deliberate",
            found.profile,
            found.differing,
            found.findings.len(),
            found.deliberate
        );
    }
}

/// A path as it is typed: from here, when it is below.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// A file of this package.
pub(crate) fn own_file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn show_blocking(blocking: &[String]) {
    for reason in blocking {
        println!("blocks: {reason}");
    }
}

fn show(outcome: &Outcome, report: Report) {
    let difference = match &outcome.verdict {
        Verdict::Failed(difference) => Some(difference),
        Verdict::Passed | Verdict::Divergent | Verdict::Deliberate | Verdict::Due => None,
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
