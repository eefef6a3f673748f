//! Every labelled path gets its label, and no operation reaches what is outside.

use std::fs;
use std::path::Path;

use triplane_guards::corpus::{Label, PathRow, Row, Step, Subject, Tried, World, try_path};
use triplane_guards::{PathGuard, PathOp};
use triplane_interception::Verdict;

use crate::support::place;

fn rows(file: &str) -> Vec<Row> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    fs::read_to_string(corpus.join(file))
        .unwrap()
        .lines()
        .map(|line| Row::read(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

/// Tries a row in a world of its own.
fn tried(row: &PathRow) -> Tried {
    let base = tempfile::tempdir().unwrap();
    let world = World::new(base.path(), place()).unwrap();
    let judge = |guard: PathGuard, call| match guard.judge_blocking(&call) {
        Verdict::Allow | Verdict::Advisory(_) => None,
        Verdict::SoftDeny(finding) | Verdict::HardDeny(finding) => Some(finding),
    };
    try_path(row, &world, judge).unwrap_or_else(|error| panic!("{row:?}: {error}"))
}

fn misses(file: &str) -> Vec<String> {
    let miss = |row: Row| {
        let Subject::Path(path) = &row.subject else {
            panic!("{} is no row of a path", row.id);
        };
        let tried = tried(path);
        let right = tried.answer.verdict == row.wanted && tried.reached.is_none();
        (!right).then(|| format!("{row:?} got {tried:?}"))
    };
    rows(file).into_iter().filter_map(miss).collect()
}

#[test]
fn every_labelled_path_gets_its_verdict_and_nothing_outside_is_reached() {
    assert!(rows("paths.jsonl").len() >= 99);
    let misses = misses("paths.jsonl");
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn every_further_path_gets_its_verdict_too() {
    let misses = misses("paths-more.jsonl");
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

fn row(op: PathOp, path: &str, setup: Vec<Step>, between: Vec<Step>) -> PathRow {
    PathRow {
        op,
        path: path.to_owned(),
        cwd: None,
        setup,
        between,
        workspace_by_link: false,
    }
}

fn file(at: &str) -> Step {
    Step::File(at.to_owned())
}

fn remove(at: &str) -> Step {
    Step::Remove(at.to_owned())
}

fn symlink(at: &str, to: &str) -> Step {
    Step::Symlink {
        at: at.to_owned(),
        to: to.to_owned(),
    }
}

fn hardlink(at: &str, to: &str) -> Step {
    Step::Hardlink {
        at: at.to_owned(),
        to: to.to_owned(),
    }
}

#[test]
fn what_is_put_in_a_files_place_after_the_check_is_not_reached() {
    let ops = [PathOp::Read, PathOp::Write];
    let swaps = [
        symlink("$W/a", "$OUT/s"),
        hardlink("$W/a", "$OUT/s"),
        Step::Fifo("$W/a".to_owned()),
    ];
    for (op, swap) in ops
        .into_iter()
        .flat_map(|op| swaps.clone().map(|swap| (op, swap)))
    {
        let between = vec![remove("$W/a"), swap.clone()];
        let tried = tried(&row(op, "a", vec![file("$W/a"), file("$OUT/s")], between));
        assert_eq!(
            (tried.answer.verdict, tried.reached),
            (Label::Deny, None),
            "{op:?} {swap:?}"
        );
    }
    for swap in swaps {
        let tried = tried(&row(
            PathOp::Write,
            "a",
            vec![file("$OUT/s")],
            vec![swap.clone()],
        ));
        assert_eq!(
            (tried.answer.verdict, tried.reached),
            (Label::Deny, None),
            "{swap:?}"
        );
    }
}

#[test]
fn a_second_name_that_comes_after_the_check_is_seen() {
    let setup = vec![file("$W/a")];
    let between = vec![hardlink("$OUT/b", "$W/a")];
    let tried = tried(&row(PathOp::Write, "a", setup, between));
    assert_eq!((tried.answer.verdict, tried.reached), (Label::Deny, None));
}

#[test]
fn a_file_that_is_written_anew_after_the_check_is_still_the_workspaces_own() {
    for op in [PathOp::Read, PathOp::Write, PathOp::Delete] {
        let between = vec![remove("$W/a"), file("$W/a")];
        let tried = tried(&row(op, "a", vec![file("$W/a")], between));
        assert_eq!(
            (tried.answer.verdict, tried.reached),
            (Label::Allow, None),
            "{op:?}"
        );
    }
}
