//! `triplane doctor`: what is wrong is said, with the way out, and nothing is touched.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::program::{Place, shell_question, text};

/// A doctor with a home of its own, so that the settings of whoever runs the test do not count.
fn doctor(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(&[&["doctor"], arguments].concat());
    command
        .env("HOME", place.path("home"))
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME");
    command
}

fn run(place: &Place, arguments: &[&str]) -> Output {
    doctor(place, arguments).output().expect("the program runs")
}

/// The exit code, and the report as JSON.
fn report(place: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = run(place, &[&["--json"], arguments].concat());
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)));
    (output.status.code(), report)
}

/// The grade and the sentence of the findings on `topic`.
fn found(report: &Value, topic: &str) -> Vec<(String, String)> {
    let findings = report["findings"].as_array().expect("findings");
    let of_topic = findings.iter().filter(|finding| finding["topic"] == topic);
    let word = |value: &Value| value.as_str().expect("text").to_owned();
    of_topic
        .map(|finding| (word(&finding["grade"]), word(&finding["says"])))
        .collect()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(path).expect("a file")))
        .collect()
}

#[test]
fn a_healthy_store_is_left_as_it_is() {
    let place = Place::new();
    place.hook(&[], shell_question("ls").as_bytes());
    place.summary(&["deliver", "--once", "--json"]);
    let before = files(&place.path(""));
    let (code, report) = report(&place, &["--full"]);
    assert_eq!(
        (code, &report["healthy"]),
        (Some(0), &json!(true)),
        "{report:#}"
    );
    assert_eq!(report["store"]["stats"]["operations"], 1);
    assert_eq!(report["store"]["stats"]["intents"]["delivered"], 1);
    assert_eq!(
        report["store"]["schema_version"],
        report["store"]["schema_known"]
    );
    let sqlite = report["store"]["sqlite_version"]
        .as_str()
        .expect("a version");
    assert!(found(&report, "sqlite")[0].1.contains(sqlite));
    for topic in [
        "store",
        "schema",
        "journal",
        "modes",
        "pages",
        "deliveries",
        "sink",
        "canary",
    ] {
        assert_eq!(found(&report, topic)[0].0, "good", "{topic}: {report:#}");
    }
    assert_eq!(files(&place.path("")), before);

    let shown = run(&place, &[]);
    assert!(
        text(&shown.stdout).ends_with("healthy\n"),
        "{}",
        text(&shown.stdout)
    );
    assert_eq!(text(&run(&place, &["--quiet"]).stdout), "");
}

#[test]
fn rule_files_of_the_policy_are_looked_at() {
    let place = Place::new();
    place.hook(&[], shell_question("ls").as_bytes());
    place.summary(&["deliver", "--once", "--json"]);
    let rule = "version = 1\n[[rule]]\nid = \"team.ls\"\ntier = \"dangerous\"\nprograms = [\"ls\"]\n\
                reason = \"it lists\"\nsafer = \"look elsewhere\"\ndeny = [\"ls\"]\n\
                [[allow]]\nid = \"once\"\nrule = \"team.ls\"\ncommand = \"ls\"\n\
                reason = \"the move of March\"\nexpires = 2020-03-31\n";
    place.file("team.toml", rule);
    place.file("policy.toml", "version = 1\nrules = [\"team.toml\"]\n");
    let (code, all) = report(&place, &["--policy", "policy.toml"]);
    assert_eq!((code, &all["healthy"]), (Some(0), &json!(true)), "{all:#}");
    assert_eq!(
        found(&all, "policy"),
        [(
            "good".to_owned(),
            "policy.toml uses the set `default` and names one rule file".to_owned()
        )]
    );
    let rules = found(&all, "rules");
    let told = |at: usize| (rules[at].0.as_str(), rules[at].1.as_str());
    assert_eq!(told(0), ("good", "team.toml: 1 rule, 1 entry"));
    assert_eq!(
        told(1),
        (
            "note",
            "team.toml:10:6: the entry `once` has ended at 2020-04-01T00:00:00Z; it is about `ls`: the move of March"
        )
    );
    assert_eq!(
        all["policy"],
        json!({"path": "policy.toml", "set": "default", "files": [{
            "path": "team.toml", "rules": 1, "entries": 1, "error": null, "ending": [{
                "place": "team.toml:10:6", "id": "once", "rule": "team.ls", "command": "ls",
                "reason": "the move of March", "ended": true, "expires": "2020-04-01T00:00:00Z"}]}]})
    );

    place.file("team.toml", &rule.replace("tier", "tear"));
    let (code, all) = report(&place, &["--policy", "policy.toml"]);
    assert_eq!(code, Some(1), "{all:#}");
    let (grade, says) = &found(&all, "rules")[0];
    assert_eq!(grade, "wrong");
    assert!(says.contains("team.toml:4:1: "), "{says}");
    place.file("policy.toml", "version = 7\n");
    let (code, all) = report(&place, &["--policy", "policy.toml"]);
    assert_eq!(
        (code, found(&all, "policy")[0].0.as_str()),
        (Some(1), "wrong")
    );
    assert_eq!(all["policy"], Value::Null);
}

#[test]
fn the_canary_is_answered_by_the_hook_itself() {
    let place = Place::new();
    let (_code, report) = report(&place, &[]);
    let canary = report["canary"].as_array().expect("two answers");
    let answers: Vec<_> = canary
        .iter()
        .map(|it| (it["command"].as_str(), it["allowed"].as_bool()))
        .collect();
    assert_eq!(
        answers,
        [
            (Some("git status"), Some(true)),
            (Some("rm -rf /"), Some(false))
        ]
    );
    assert!(
        canary[1]["reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty())
    );
}

#[test]
fn a_missing_store_is_no_fault_and_not_made() {
    let place = Place::new();
    let (code, report) = report(&place, &[]);
    assert_eq!(code, Some(0));
    assert_eq!(found(&report, "store")[0].0, "note");
    assert_eq!(files(&place.path("")).len(), 0);
}

/// What stands in the store's place, and what is said of it.
#[test]
fn what_is_no_store_is_wrong_with_the_way_out() {
    type Make = fn(&Place);
    let cases: [(Make, &str, &str); 5] = [
        (
            |place| std::fs::create_dir(place.store()).expect("a folder"),
            "store",
            "is not a file",
        ),
        (
            |place| {
                place.file("state.db", &"no database ".repeat(100));
            },
            "store",
            "no SQLite database",
        ),
        (
            |place| {
                place.file("state.db", "");
            },
            "store",
            "another program",
        ),
        (
            |place| {
                place.hook(&[], shell_question("ls").as_bytes());
                let wide = std::fs::Permissions::from_mode(0o644);
                std::fs::set_permissions(place.store(), wide).expect("a mode");
            },
            "modes",
            "0644",
        ),
        (
            |place| {
                place.hook(&[], shell_question("ls").as_bytes());
                std::fs::create_dir(place.path("deliveries.jsonl")).expect("a folder");
            },
            "sink",
            "is not a file",
        ),
    ];
    for (make, topic, wanted) in cases {
        let place = Place::new();
        make(&place);
        let (code, report) = report(&place, &[]);
        let finding = found(&report, topic);
        assert_eq!(code, Some(1), "{wanted}: {report:#}");
        assert_eq!(finding[0].0, "wrong", "{report:#}");
        assert!(finding[0].1.contains(wanted), "{wanted}: {finding:?}");
        let shown = text(&run(&place, &[]).stdout);
        assert!(
            shown.contains("-> ") && shown.ends_with("something is wrong\n"),
            "{shown}"
        );
    }
}

#[test]
fn pending_deliveries_are_named_with_the_oldest() {
    let place = Place::new();
    place.hook(&[], shell_question("ls").as_bytes());
    let (code, report) = report(&place, &[]);
    assert_eq!(code, Some(0));
    let (grade, says) = &found(&report, "deliveries")[0];
    assert_eq!(grade, "note");
    let oldest = report["store"]["oldest_unsettled"]["id"]
        .as_str()
        .expect("an id");
    assert!(
        says.starts_with("1 pending") && says.contains(oldest),
        "{says}"
    );
}

#[test]
fn a_registered_hook_is_found_and_one_without_its_program_is_wrong() {
    let place = Place::new();
    let settings = [
        ("claude", "home/.claude/settings.json"),
        ("codex", "home/.codex/hooks.json"),
    ];
    for (harness, file) in settings {
        let file = place.path(file);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        let printed = place.run(&["hook", "--print-config", harness]).stdout;
        std::fs::write(&file, &printed).expect("settings");
        let (code, healthy) = report(&place, &[]);
        assert_eq!(
            (code, found(&healthy, harness)[0].0.as_str()),
            (Some(0), "good")
        );

        let program = crate::program::program().to_str().expect("a path");
        let gone = text(&printed).replace(program, "/nowhere/triplane");
        std::fs::write(&file, gone).expect("settings");
        let (code, broken) = report(&place, &[]);
        assert_eq!(
            (code, found(&broken, harness)[0].0.as_str()),
            (Some(1), "wrong")
        );
        assert!(found(&broken, harness)[0].1.contains("/nowhere/triplane"));
        std::fs::remove_file(&file).expect("settings");
    }
}

#[test]
fn a_command_sink_is_looked_for_in_the_path() {
    let place = Place::new();
    for (sink, code, grade) in [
        (r#"argv:["cat"]"#, 0, "good"),
        (r#"argv:["no-such-program-anywhere"]"#, 1, "wrong"),
        ("nonsense", 1, "wrong"),
    ] {
        let (ended, report) = report(&place, &["--sink", sink]);
        assert_eq!(ended, Some(code), "{sink}");
        assert_eq!(found(&report, "sink")[0].0, grade, "{sink}");
    }
}
