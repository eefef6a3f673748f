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

/// A way to write a name that some file system takes for the same.
type Form = fn(&str) -> String;

/// Each letter as the one at the same place of another alphabet, whose `a` is `first`.
fn letters(name: &str, first: char) -> String {
    let letter = |c: char| match c {
        'a'..='z' => char::from_u32(first as u32 + (c as u32 - 'a' as u32)).unwrap(),
        other => other,
    };
    name.chars().map(letter).collect()
}

fn behind_the_second(name: &str, inserted: char) -> String {
    let mut chars: Vec<char> = name.chars().collect();
    chars.insert(2, inserted);
    chars.into_iter().collect()
}

/// Forms of letters: the name is the same to who folds case and compatibility.
const LETTERS: [Form; 4] = [
    |name| name.to_uppercase(),
    |name| letters(name, '\u{ff41}'),
    |name| letters(name, '\u{1d41a}'),
    |name| letters(name, '\u{24d0}'),
];

/// Forms of the whole: what some file systems drop from a name.
const DROPPED: [Form; 6] = [
    |name| format!("{name}."),
    |name| format!("{name} "),
    |name| format!("{name}::$DATA"),
    |name| behind_the_second(name, '\u{200b}'),
    |name| behind_the_second(name, '\u{ad}'),
    |name| behind_the_second(name, '\u{fe0f}'),
];

#[test]
fn a_protected_name_is_known_in_each_form_that_a_file_system_may_take_for_it() {
    for (op, path) in [
        (PathOp::Write, ".git/config"),
        (PathOp::Write, ".triplane/state.db"),
        (PathOp::Write, ".claude/settings.json"),
        (PathOp::Write, ".codex/config.toml"),
        (PathOp::Write, ".cursor/hooks.json"),
        (PathOp::Read, "x/.env.local"),
        (PathOp::Read, "x/id_ed25519"),
        (PathOp::Read, ".netrc"),
        (PathOp::Read, "x/server.key"),
    ] {
        for form in LETTERS.iter().chain(&DROPPED) {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let protected_folder = op == PathOp::Write;
            let folder = match folder {
                "" => String::new(),
                folder if protected_folder => form(folder) + "/",
                folder => format!("{folder}/"),
            };
            let written = folder + &form(name);
            for setup in [Vec::new(), vec![file(&format!("$W/{written}"))]] {
                let tried = tried(&row(op, &written, setup, Vec::new()));
                assert_eq!(tried.answer.verdict, Label::Deny, "{written:?}: {tried:?}");
                assert_eq!(tried.reached, None, "{written:?}");
            }
        }
    }
}

#[test]
fn an_ordinary_name_is_ordinary_in_other_letters_too() {
    for form in LETTERS {
        let written = format!("src/{}", form("environment"));
        let tried = tried(&row(PathOp::Write, &written, Vec::new(), Vec::new()));
        assert_eq!(tried.answer.verdict, Label::Allow, "{written:?}: {tried:?}");
    }
}
