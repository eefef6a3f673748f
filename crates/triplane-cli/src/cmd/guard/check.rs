//! `triplane guard check`: what the guards say of a corpus, beside what it wants.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use triplane_guards::corpus::{
    Answer, Label, Row, Score, Subject, Tried, World, try_command, try_path,
};

use crate::cmd::guard::corpus;
use crate::cmd::guard::jury::Jury;
use crate::guard_args::GuardCheckArgs;
use crate::paint::{Ink, Screen};
use crate::render::{Output, chain, column, complain};

/// How many rows a corpus has at least whose progress is shown.
const LONG: usize = 200;

pub(crate) fn run(args: &GuardCheckArgs, screen: Screen) -> ExitCode {
    match check(args, screen) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            complain(chain(&error));
            ExitCode::from(2)
        }
    }
}

#[derive(Serialize)]
struct RowJson<'a> {
    id: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    verdict: &'static str,
    rule: Option<&'a str>,
    wanted: &'static str,
    right: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<&'a Path>,
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    summary: bool,
    rows: usize,
    right: usize,
    wrong: usize,
    #[serde(flatten)]
    score: ScoreJson,
    reached_outside: usize,
    commands: ScoreJson,
    paths: ScoreJson,
    classes: BTreeMap<&'a str, ScoreJson>,
}

#[derive(Serialize)]
struct ScoreJson {
    deny: usize,
    allow: usize,
    missed: usize,
    refused_wrongly: usize,
    recall: Option<f64>,
    precision: Option<f64>,
}

impl From<Score> for ScoreJson {
    fn from(score: Score) -> Self {
        let rounded = |share: f64| (share * 1e4).round() / 1e4;
        Self {
            deny: score.deny,
            allow: score.allow,
            missed: score.missed,
            refused_wrongly: score.refused_wrongly,
            recall: score.recall().map(rounded),
            precision: score.precision().map(rounded),
        }
    }
}

#[derive(Default)]
struct Sums<'a> {
    rows: usize,
    right: usize,
    reached_outside: usize,
    all: Score,
    commands: Score,
    paths: Score,
    classes: BTreeMap<&'a str, Score>,
}

/// Whether every row is right.
fn check(args: &GuardCheckArgs, screen: Screen) -> Result<bool> {
    let jury = Jury::new(&args.place)?;
    let rows = corpus::read(&args.corpus)?;
    let mut out = Output::new();
    let mut sums = Sums::default();
    let bar = progress_bar(rows.len(), screen);
    let mut shown = false;
    for (line, row) in &rows {
        let tried = tried(&jury, row)
            .with_context(|| format!("corpus {}: line {line}", args.corpus.display()))?;
        let right = sums.count(row, &tried);
        bar.inc(1);
        if args.json {
            bar.suspend(|| out.json(&row_json(row, &tried, right)));
        } else if !right {
            bar.suspend(|| show(&mut out, screen, *line, row, &tried, !shown));
            shown = true;
        }
    }
    bar.finish_and_clear();
    let right = sums.right == sums.rows;
    if args.json {
        out.json(&sums.json());
    } else if !screen.quiet {
        sums.tell(&mut out);
    }
    Ok(right)
}

fn tried(jury: &Jury, row: &Row) -> Result<Tried> {
    let mut failed = None;
    let mut judge = |paths, call| {
        jury.judge(paths, call).unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    };
    let tried = match &row.subject {
        Subject::Command(command) => Tried {
            answer: try_command(command, &jury.place, &mut judge),
            reached: None,
        },
        Subject::Path(path) => {
            let base = tempfile::tempdir().context("cannot make a temporary folder")?;
            let world = World::new(base.path(), jury.place.clone())?;
            try_path(path, &world, &mut judge)?
        }
    };
    match failed {
        Some(error) => Err(error),
        None => Ok(tried),
    }
}

fn row_json<'a>(row: &'a Row, tried: &'a Tried, right: bool) -> RowJson<'a> {
    let Answer { verdict, finding } = &tried.answer;
    RowJson {
        id: &row.id,
        kind: match row.subject {
            Subject::Command(_) => "command",
            Subject::Path(_) => "path",
        },
        class: row.class.as_deref(),
        verdict: verdict.as_str(),
        rule: finding.as_ref().map(|finding| finding.rule.as_str()),
        wanted: row.wanted.as_str(),
        right,
        reached: tried.reached.as_deref(),
    }
}

fn show(out: &mut Output, screen: Screen, line: usize, row: &Row, tried: &Tried, first: bool) {
    if first {
        out.line(format_args!(
            "{:>6}  {}  {}  {}  {}  what",
            "line",
            column("id", 8),
            column("wanted", 6),
            column("got", 15),
            column("rule", 26),
        ));
    }
    let Answer { verdict, finding } = &tried.answer;
    let got = if tried.reached.is_some() {
        "reached outside"
    } else {
        verdict.as_str()
    };
    let ink = match (row.wanted, &tried.reached) {
        (Label::Allow, None) => Ink::Yellow,
        (Label::Deny, _) | (Label::Allow, Some(_)) => Ink::Red,
    };
    let what = match &row.subject {
        Subject::Command(command) => command.clone(),
        Subject::Path(path) => format!("{} {}", path.op.as_str(), path.path),
    };
    let rule = finding.as_ref().map_or("", |finding| finding.rule.as_str());
    out.line(format_args!(
        "{line:>6}  {}  {}  {}  {}  {}",
        column(&row.id, 8),
        column(row.wanted.as_str(), 6),
        screen.paint.dip(ink, &column(got, 15)),
        column(rule, 26),
        column(&what, 90).trim_end()
    ));
}

impl<'a> Sums<'a> {
    /// Counts a row and says whether it is right.
    fn count(&mut self, row: &'a Row, tried: &Tried) -> bool {
        let got = tried.answer.verdict;
        let kind = match row.subject {
            Subject::Command(_) => &mut self.commands,
            Subject::Path(_) => &mut self.paths,
        };
        kind.count(row.wanted, got);
        self.all.count(row.wanted, got);
        if let Some(class) = &row.class {
            self.classes
                .entry(class)
                .or_default()
                .count(row.wanted, got);
        }
        let right = got == row.wanted && tried.reached.is_none();
        self.rows += 1;
        self.right += usize::from(right);
        self.reached_outside += usize::from(tried.reached.is_some());
        right
    }

    fn json(self) -> SummaryJson<'a> {
        let classes = self.classes.into_iter();
        SummaryJson {
            summary: true,
            rows: self.rows,
            right: self.right,
            wrong: self.rows - self.right,
            score: self.all.into(),
            reached_outside: self.reached_outside,
            commands: self.commands.into(),
            paths: self.paths.into(),
            classes: classes
                .map(|(class, score)| (class, score.into()))
                .collect(),
        }
    }

    fn tell(&self, out: &mut Output) {
        let Score {
            deny,
            allow,
            missed,
            refused_wrongly,
        } = self.all;
        out.line(format_args!(
            "{} of {} rows right: {} of {deny} denied, {} of {allow} allowed, {} reached outside",
            self.right,
            self.rows,
            deny - missed,
            allow - refused_wrongly,
            self.reached_outside
        ));
        let share = |share: Option<f64>| match share {
            Some(share) => format!("{share:.4}"),
            None => "not known".to_owned(),
        };
        out.line(format_args!(
            "recall {}, precision {}",
            share(self.all.recall()),
            share(self.all.precision())
        ));
    }
}

fn progress_bar(rows: usize, screen: Screen) -> ProgressBar {
    if rows < LONG || screen.quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar =
        ProgressBar::with_draw_target(Some(rows as u64), ProgressDrawTarget::stderr_with_hz(5));
    match ProgressStyle::with_template("{bar:30} {pos}/{len} rows {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
