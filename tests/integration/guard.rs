//! `triplane guard`: a corpus held against the guards, and one command explained.

use std::process::{Command, Output};

use serde_json::Value;

use crate::program::{Place, program, text, workspace};

/// `triplane guard ARGUMENTS` in the workspace's folder.
fn guard(arguments: &[&str]) -> Output {
    Command::new(program())
        .arg("guard")
        .args(arguments)
        .current_dir(workspace())
        .output()
        .expect("the program runs")
}

/// The exit code, the rows and the summary of `guard check --json`.
fn check(corpus: &str) -> (Option<i32>, Vec<Value>, Value) {
    let output = guard(&["check", "--corpus", corpus, "--json"]);
    let stdout = text(&output.stdout);
    let mut lines: Vec<Value> = stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object"))
        .collect();
    let summary = lines
        .pop()
        .unwrap_or_else(|| panic!("{}", text(&output.stderr)));
    (output.status.code(), lines, summary)
}

#[test]
fn every_row_of_the_corpora_is_right() {
    for corpus in ["commands", "paths", "commands-more", "paths-more"] {
        let (code, rows, summary) = check(&format!("tests/corpus/{corpus}.jsonl"));
        let wrong: Vec<&Value> = rows.iter().filter(|row| row["right"] != true).collect();
        assert!(wrong.is_empty(), "{corpus}: {wrong:?}");
        assert_eq!((code, &summary["rows"]), (Some(0), &rows.len().into()));
        assert_eq!(
            (&summary["recall"], &summary["precision"]),
            (&1.0.into(), &1.0.into())
        );
        assert!(
            rows.iter()
                .all(|row| (row["verdict"] == "deny") == row["rule"].is_string())
        );
    }
}

/// Rows of both kinds, of which one is missed, one refused wrongly, and one right.
const WRONG: &str = r#"{"id": "a", "command": "git status", "verdict": "deny"}

{"id": "b", "command": "rm -rf /", "verdict": "allow"}
{"id": "c", "op": "read", "path": "$W/../s", "setup": [{"file": "$W/../s"}], "verdict": "deny"}
"#;

#[test]
fn wrong_rows_are_shown_and_counted() {
    let place = Place::new();
    let file = place.file("corpus.jsonl", WRONG);
    let file = file.to_str().expect("a path");
    let (code, rows, summary) = check(file);
    let shown = |row: &Value| {
        (
            row["id"].clone(),
            row["verdict"].clone(),
            row["right"].clone(),
        )
    };
    assert_eq!(
        rows.iter().map(shown).collect::<Vec<_>>(),
        [
            ("a".into(), "allow".into(), false.into()),
            ("b".into(), "deny".into(), false.into()),
            ("c".into(), "deny".into(), true.into()),
        ]
    );
    assert_eq!(code, Some(1));
    assert_eq!(
        (&summary["missed"], &summary["refused_wrongly"]),
        (&1.into(), &1.into())
    );
    assert_eq!(
        (&summary["recall"], &summary["precision"]),
        (&0.5.into(), &0.5.into())
    );
    let output = guard(&["check", "--corpus", file]);
    let stdout = text(&output.stdout);
    assert!(
        stdout.contains("     3  b         allow   deny"),
        "{stdout}"
    );
    assert!(stdout.contains("1 of 3 rows right"), "{stdout}");
    assert!(
        stdout.contains("recall 0.5000, precision 0.5000"),
        "{stdout}"
    );
}

#[test]
fn a_corpus_that_cannot_be_read_is_wrong_input() {
    let place = Place::new();
    let refused = |content: &str, wanted: &str| {
        let file = place.file("corpus.jsonl", content);
        let output = guard(&[
            "check",
            "--corpus",
            file.to_str().expect("a path"),
            "--json",
        ]);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{content}: {errors}");
        assert!(errors.contains(wanted), "{content}: {errors}");
        assert_eq!(text(&output.stdout), "", "{content}");
    };
    let good = r#"{"id": "a", "command": "ls", "verdict": "allow"}"#;
    refused(&format!("{good}\n{{\n"), "line 2: not a row: EOF");
    refused(
        &format!("{good}\n\n{{\"id\": \"x\", \"verdict\": \"deny\"}}"),
        "line 3: the row is of no known kind",
    );
    refused("", "there is no row in it");
    refused(
        r#"{"id": "a", "op": "read", "path": "x", "setup": [{"file": "/etc/triplane-test"}], "verdict": "deny"}"#,
        "line 1: the step at `/etc/triplane-test` would change something outside",
    );
    let missing = guard(&["check", "--corpus", "/nonexistent/corpus.jsonl"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("/nonexistent/corpus.jsonl"));
}

#[test]
fn root_home_and_policy_are_those_that_are_named() {
    let place = Place::new();
    let corpus = concat!(
        r#"{"id": "a", "command": "rm -rf /work/x/build", "verdict": "allow"}"#,
        "\n",
        r#"{"id": "b", "command": "rm -rf /home/me", "verdict": "deny"}"#,
        "\n",
        r#"{"id": "c", "command": "make deploy", "verdict": "deny"}"#,
    );
    let file = place.file("corpus.jsonl", corpus);
    let policy = place.file(
        "policy.toml",
        "version = 1\n[[deny]]\nid = \"no-deploy\"\ntool = \"Bash\"\nargument = \"command\"\npattern = \"deploy\"\n",
    );
    let file = file.to_str().expect("a path");
    let policy = policy.to_str().expect("a path");
    let place = [
        "--root", "/work/x", "--home", "/home/me", "--policy", policy,
    ];
    let output = guard(&[&["check", "--corpus", file][..], &place[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stdout));
    let output = guard(&[&["explain"][..], &place[..], &["--", "make", "deploy"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("denied, by no-deploy"));
}

fn explained(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = guard(&[&["explain", "--json"], arguments].concat());
    let answer = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        answer.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr))),
    )
}

#[test]
fn an_explanation_shows_the_words_and_every_rule_that_spoke() {
    let (code, found) = explained(&["--", "X=/etc; cd build && rm -rf \"$X\" *.o; echo $Y | sh"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        (&found["verdict"], &found["rule"]),
        (&"deny".into(), &"rm.recursive-system".into())
    );
    let rm = &found["commands"][0];
    assert_eq!(
        (&rm["program"], &rm["cwd"][0]),
        (&"rm".into(), &"/srv/app/build".into())
    );
    let words: Vec<(&str, &str)> = rm["words"]
        .as_array()
        .expect("words")
        .iter()
        .map(|word| {
            (
                word["shown"].as_str().expect("text"),
                word["known"].as_str().expect("text"),
            )
        })
        .collect();
    assert_eq!(
        words,
        [
            ("-rf", "literal"),
            ("/etc", "literal"),
            ("*.o", "partly known")
        ]
    );
    assert_eq!(found["commands"][1]["words"][0]["known"], "unknown");
    let finding = &found["findings"][0];
    assert_eq!(
        (&finding["tier"], &finding["offence"]),
        (&"catastrophic".into(), &"\"$X\"".into())
    );
    assert_eq!(finding["span"], serde_json::json!([27, 31]));
    assert!(finding["reason"].is_string() && finding["safer"].is_string());
    assert_eq!(found["findings"][1]["rule"], "shell.unknown-script");
    let (code, found) = explained(&["--", "git", "commit", "-m", "rm -rf /"]);
    assert_eq!((code, &found["verdict"]), (Some(0), &"allow".into()));
    assert_eq!(found["command"], "git commit -m 'rm -rf /'");
}

#[test]
fn a_path_is_explained_too() {
    let (code, found) = explained(&["--path", ".git/config", "--operation", "write"]);
    assert_eq!((code, &found["rule"]), (Some(1), &"path.switch".into()));
    assert!(found["reason"].is_string() && found["safer"].is_string());
    let root = workspace().to_str().expect("a path");
    let (code, found) = explained(&["--root", root, "--path", "docs/../Cargo.toml"]);
    let leads_to = workspace()
        .canonicalize()
        .expect("a folder")
        .join("Cargo.toml");
    assert_eq!(
        (code, &found["leads_to"]),
        (Some(0), &leads_to.to_str().into())
    );
    let output = guard(&["explain", "--path", "~/x"]);
    assert!(text(&output.stdout).contains("denied, by path.home"));
    assert_eq!(guard(&["explain"]).status.code(), Some(2));
}
