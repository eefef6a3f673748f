//! How long one decision takes in process, and how the shared corpora are answered: one JSON object
//! a line and case. `cargo xtask bench guards` runs it in release.
//!
//! `ns` is the median. `goal_ns` and `must_ns` are what issue and design ask for, where they ask.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use triplane_guards::corpus::{
    Row, Score, Subject, World, path_call, shell_call, try_command, try_path,
};
use triplane_guards::{PathGuard, PathOp, Place, commands, paths};
use triplane_interception::{Finding, Guard as _, Presence, ToolCall, Verdict};
use triplane_kernel::Scope;

const ROUNDS: usize = 20_000;

/// 200 bytes of an ordinary command line.
const LONG: &str = "git status --porcelain && cargo test --workspace --all-features 2>&1 | tee build.log; \
                    for f in a b c; do echo \"$f\" > out/$f.txt; done; grep -rn 'DROP TABLE' migrations/ \
                    | head -20 && wc -l x";

/// Ordinary work that takes the guard furthest.
const HARDEST: &str = "set -euo pipefail; d=$(mktemp -d); trap 'rm -rf \"$d\"' EXIT; \
                       git ls-files -z '*.rs' | xargs -0 -n 20 sh -c 'for f; do wc -l \"$f\"; done' _ \
                       | awk '{ n += $1 } END { print n }' > \"$d/n\"; \
                       python3 -c \"import os; print(os.listdir('src'))\" && \
                       cat > notes.md <<'EOF'\nrm -rf / is only text here\nEOF\n";

#[expect(clippy::print_stdout, reason = "the example's purpose")]
fn say(line: &Value) {
    println!("{line}");
}

fn report(case: &str, mut taken: Vec<Duration>, goal_ns: Option<u64>, must_ns: Option<u64>) {
    taken.sort_unstable();
    let at = |share: usize| u64::try_from(taken[taken.len() * share / 100].as_nanos()).ok();
    say(&json!({
        "case": case, "n": taken.len(), "ns": at(50), "p95_ns": at(95), "p99_ns": at(99),
        "goal_ns": goal_ns, "must_ns": must_ns,
    }));
}

fn timed(rounds: usize, mut decide: impl FnMut()) -> Vec<Duration> {
    (0..rounds)
        .map(|_| {
            let start = Instant::now();
            decide();
            start.elapsed()
        })
        .collect()
}

fn denied(verdict: Verdict) -> Option<Finding> {
    match verdict {
        Verdict::SoftDeny(finding) | Verdict::HardDeny(finding) => Some(finding),
        Verdict::Allow | Verdict::Advisory(_) => None,
    }
}

fn score(file: &str, place: &Place) -> Result<Score, Box<dyn std::error::Error>> {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let shell = commands();
    let judge = |guard: PathGuard, call: ToolCall| {
        denied(shell.judge_blocking(&call)).or_else(|| denied(guard.judge_blocking(&call)))
    };
    let mut score = Score::default();
    for line in fs::read_to_string(corpora.join(file))?.lines() {
        let row = Row::read(line)?;
        let answer = match &row.subject {
            Subject::Command(command) => try_command(command, place, judge),
            Subject::Path(path) => {
                let base = tempfile::tempdir()?;
                let world = World::new(base.path(), place.clone())?;
                try_path(path, &world, judge)?.answer
            }
        };
        score.count(row.wanted, answer.verdict);
    }
    Ok(score)
}

/// What a file of 100 rules adds to the first decision of a process, as the hook makes it: reading,
/// checking and asking. Each round has a content that this process has not seen before.
fn user_rules(place: &Place) -> Result<(), Box<dyn std::error::Error>> {
    let rules: String = (0..100).map(rule).collect();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("team.toml");
    let call = shell_call("git status", place);
    let mut taken = Vec::new();
    for round in 0..500 {
        fs::write(&path, format!("version = 1\n# {round}\n{rules}"))?;
        let start = Instant::now();
        let _ = black_box(commands().judge_blocking(&call));
        let without = start.elapsed();
        let start = Instant::now();
        let _ = black_box(commands().rules(&path)?.judge_blocking(&call));
        taken.push(start.elapsed().saturating_sub(without));
    }
    report("rules.100_user_rules", taken, None, Some(1_000_000));
    Ok(())
}

/// A rule as teams write them: every third asks for an option, every other looks at an expression.
fn rule(nth: u32) -> String {
    let flags = if nth.is_multiple_of(3) {
        "flags = [[\"-p\", \"--production\"]]\n"
    } else {
        ""
    };
    let text = if nth.is_multiple_of(2) {
        "text = \"^(prod|live)(-[a-z0-9]+)*$\"\n"
    } else {
        ""
    };
    let option = if nth.is_multiple_of(3) { " -p" } else { "" };
    format!(
        "\n[[rule]]\nid = \"team.deploy-{nth}\"\ntier = \"dangerous\"\nprograms = [\"deploy-{nth}\"]\n\
         {flags}{text}reason = \"production is deployed by a person, and not from here\"\n\
         safer = \"deploy to staging, and ask for the rest\"\n\
         deny = [\"deploy-{nth}{option} prod\", \"sudo deploy-{nth}{option} live\"]\n\
         allow = [\"echo deploy-{nth} prod\", \"deploy --help\"]\n"
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let place = Place::new("/srv/app", Some(Path::new("/home/dev")));
    let pipeline = vec!["grep -v x"; 100].join(" | ");
    let cases = [
        ("git_status", "git status", Some(10_000), None),
        ("bytes_200", LONG, Some(50_000), None),
        ("hardest_allowed", HARDEST, None, Some(50_000_000)),
        ("pipeline_of_100", pipeline.as_str(), None, Some(50_000_000)),
        ("quoted", "echo 'aaaaaaaaaaaaaaaa'", None, None),
        ("refused", "rm -rf /", None, None),
        ("refused_by_parser", "echo 'rm -rf /data' | sh", None, None),
    ];
    let guard = commands();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    for (case, command, goal, must) in cases {
        let call = shell_call(command, &place);
        let rounds = ROUNDS * 20 / command.len().max(20);
        let taken = timed(rounds, || {
            let _ = black_box(guard.judge_blocking(black_box(&call)));
        });
        report(&format!("command.{case}"), taken, goal, must);
        let scope = Scope::new();
        let taken = timed(rounds, || {
            let _ = black_box(runtime.block_on(guard.judge(&call, &scope).resolve()));
        });
        report(&format!("command.{case}.async"), taken, goal, must);
    }
    // What its openers bring to the parser's thread, although they open nothing: what it takes beyond
    // `command.quoted` is the hop to it and back.
    let hop = shell_call("echo '(((((((((((((((('", &place);
    let taken = timed(ROUNDS, || {
        let _ = black_box(guard.judge_blocking(black_box(&hop)));
    });
    report("parser_thread.hop", taken, None, None);
    let here = Place::new(std::env::current_dir()?, None);
    for (case, place, presence) in [
        ("as_text", &place, Presence::Elsewhere),
        ("opened", &here, Presence::Here),
    ] {
        let guard = paths();
        let call = path_call(PathOp::Write, "crates/x/src/lib.rs", place, presence);
        let taken = timed(ROUNDS, || {
            let _ = black_box(guard.judge_blocking(black_box(&call)));
        });
        report(&format!("path.{case}"), taken, None, None);
    }
    user_rules(&place)?;
    for file in [
        "commands.jsonl",
        "paths.jsonl",
        "commands-more.jsonl",
        "paths-more.jsonl",
    ] {
        let score = score(file, &place)?;
        say(&json!({
            "case": format!("corpus.{}", PathBuf::from(file).with_extension("").display()),
            "n": score.deny + score.allow, "missed": score.missed,
            "refused_wrongly": score.refused_wrongly,
            "recall": score.recall(), "precision": score.precision(),
        }));
    }
    Ok(())
}
