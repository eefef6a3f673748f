//! The steps, cheapest first.

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, bail};
use toml::{Table, Value};

use crate::ci::Extent::{Fast, Whole};
use crate::ci::command::{Invocation, Shop};
use crate::ci::downstream::downstream;
use crate::ci::step::Outcome::{Passed, Skipped};
use crate::ci::step::{Outcome, Step};
use crate::ci::tools::{DENY, NEXTEST};
use crate::finding::{Finding, failures};
use crate::{api, crash, layers, unused};

/// Every step in the order in which they run.
///
/// The tests come last, so that their closing lines stand right above the table.
pub(crate) const STEPS: &[Step] = &[
    Step::new("format", Fast, format),
    Step::new("layers", Fast, |shop| {
        judge(&layers::check(shop.workspace)?)
    }),
    Step::new("unused", Fast, |shop| judge(&unused::check(shop.workspace))),
    Step::new("lint", Fast, lint),
    Step::new("features", Whole, features),
    Step::new("downstream", Whole, |shop| {
        downstream(shop)?;
        Ok(Passed)
    }),
    Step::new("fuzz targets", Whole, fuzz_targets),
    Step::new("package", Whole, package),
    Step::new("docs", Whole, docs),
    Step::new("api", Whole, api),
    Step::new("deny", Whole, deny),
    Step::new("advisories", Whole, advisories),
    Step::new("build", Fast, build),
    Step::new("doc tests", Whole, doc_tests),
    Step::new("conformance", Whole, conformance),
    Step::new("crash", Whole, kills),
    Step::new("tests", Fast, tests),
];

/// The same choice for every step that compiles: another one would compile dependencies again.
const EVERYTHING: &str = "--workspace --all-features --locked";

fn judge(findings: &[Finding]) -> anyhow::Result<Outcome> {
    for finding in findings {
        println!("{finding}");
    }
    match failures(findings) {
        0 => Ok(Passed),
        broken => bail!("{broken} broken"),
    }
}

fn passed(invocation: Invocation) -> anyhow::Result<Outcome> {
    invocation.run()?;
    Ok(Passed)
}

fn format(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    passed(shop.cargo("fmt --all -- --check"))
}

fn lint(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    // What is compiled for the crash campaign only.
    let crash = shop.cargo("clippy --all-features --locked --package triplane-crash");
    crash.args("-- -D warnings --cfg triplane_crash").run()?;
    passed(
        shop.cargo("clippy --all-targets")
            .args(EVERYTHING)
            .args("-- -D warnings"),
    )
}

/// Each feature of each crate by itself, and none at all.
fn features(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    let mut failed = Vec::new();
    for member in &shop.workspace.members {
        let features = member.manifest.table.get("features");
        let features = features.and_then(Value::as_table).into_iter();
        let names = features.flat_map(Table::keys).map(String::as_str);
        let mut alone: Vec<_> = names.filter(|name| *name != "default").collect();
        if !alone.is_empty() {
            alone.push("");
        }
        for feature in alone {
            let lint = shop.cargo("clippy --locked --lib --no-default-features --package");
            let lint = lint.arg(&member.name).arg(format!("--features={feature}"));
            if lint.args("-- -D warnings").run().is_err() {
                failed.push(format!("{} with [{feature}]", member.name));
            }
        }
    }
    if failed.is_empty() {
        return Ok(Passed);
    }
    bail!("{}", failed.join(", "))
}

/// Whether the fuzz targets compile; to run them takes a nightly toolchain and `cargo fuzz`.
///
/// They are no member, so that what they need is not needed by the workspace: where it is not at
/// hand and cannot be fetched, the step is skipped.
fn fuzz_targets(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    const FETCH_LIMIT: Duration = Duration::from_mins(2);
    let root = &shop.workspace.root;
    // Every version is the one that the workspace is tested with.
    fs::copy(root.join("Cargo.lock"), root.join("fuzz/Cargo.lock"))
        .context("cannot copy Cargo.lock")?;
    let fuzz = |cargo: Invocation| cargo.args("--manifest-path fuzz/Cargo.toml");
    if !fuzz(shop.cargo("fetch")).succeeds_within(FETCH_LIMIT)? {
        let note = "fuzz targets were not checked: what they need cannot be fetched from here";
        println!("{note}");
        shop.notes.push(note.to_owned());
        return Ok(Skipped);
    }
    let check = fuzz(shop.cargo("check --quiet"));
    passed(check.env("CARGO_TARGET_DIR", shop.target_folder.join("fuzz")))
}

/// Whether each crate could be published: its manifest is complete, and its files are there.
/// What is for this workspace only may stand on what no registry has.
fn package(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    let stays = |manifest: &Table| {
        let package = manifest.get("package").and_then(Value::as_table);
        package.and_then(|package| package.get("publish")) == Some(&Value::Boolean(false))
    };
    let members = shop.workspace.members.iter();
    let staying: Vec<_> = members
        .filter(|member| stays(&member.manifest.table))
        .map(|member| format!("--exclude={}", member.name))
        .collect();
    // Not the tree of the last commit is checked, but the one at hand.
    let package = shop.cargo("package --workspace --no-verify --allow-dirty --quiet");
    passed(staying.into_iter().fold(package, Invocation::arg))
}

/// The programs first: one of them has the name of a library, whose pages are to stay.
fn docs(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    for kind in ["--bins", "--lib"] {
        let doc = shop.cargo("doc --no-deps").arg(kind).args(EVERYTHING);
        doc.env("RUSTDOCFLAGS", "-D warnings").run()?;
    }
    Ok(Passed)
}

fn api(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    let changes = api::changes(shop.workspace)?;
    for change in &changes {
        println!("{change}");
    }
    match changes.len() {
        0 => Ok(Passed),
        count => bail!("{count} lines differ; {}", api::WAY_OUT),
    }
}

fn deny(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    let deny = DENY.program(shop)?;
    passed(shop.program(deny).args("check bans licenses sources"))
}

/// The database of advisories is a repository of its own, so this step needs the network.
fn advisories(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    const FETCH_LIMIT: Duration = Duration::from_mins(1);
    let deny = DENY.program(shop)?;
    if !shop
        .program(&deny)
        .args("fetch db")
        .succeeds_within(FETCH_LIMIT)?
    {
        let note = "advisories were not checked: their database cannot be fetched from here";
        println!("{note}");
        shop.notes.push(note.to_owned());
        return Ok(Skipped);
    }
    passed(shop.program(deny).args("check --disable-fetch advisories"))
}

/// Everything that the tests run, among it the program itself, with the features of the tests.
fn build(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    passed(shop.cargo("build --all-targets").args(EVERYTHING))
}

fn doc_tests(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    passed(shop.cargo("test --doc").args(EVERYTHING))
}

/// The matrix with all that its rows name; the program was built before.
fn conformance(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    let built = shop.target_folder.join("debug");
    let run = shop.program(built.join("triplane-conformance"));
    passed(run.env("TRIPLANE_BIN", built.join("triplane")))
}

/// Every label, a hundred kills, workers that are stopped, power cuts where they are permitted, and
/// whether the campaign finds what is planted.
fn kills(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    for arguments in [
        &["--labels"][..],
        &["--iterations", "100"],
        &["--stops", "--intents", "1000"],
        &["--power", "--iterations", "5"],
        &["--planted"],
    ] {
        if crash::campaign(shop.workspace, arguments)? != Some(0) {
            bail!("cargo xtask crash {} found something", arguments.join(" "));
        }
    }
    Ok(Passed)
}

fn tests(shop: &mut Shop<'_>) -> anyhow::Result<Outcome> {
    let nextest = NEXTEST.program(shop)?;
    let run = shop.program(nextest).args("nextest run --no-fail-fast");
    // Otherwise each test that runs the program would ask cargo to build it.
    let program = shop.target_folder.join("debug").join("triplane");
    passed(run.args(EVERYTHING).env("TRIPLANE_BIN", program))
}
