//! `triplane guard rules`: rule files held against the cases beside their rules.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::program::{Place, program, text, workspace};

const RULE: &str = r#"version = 1

[[rule]]
id = "team.deploy"
tier = "dangerous"
programs = ["deploy"]
flags = [["-p", "--production"]]
reason = "production is deployed by a person"
safer = "deploy to staging"
deny = ["deploy --production", "sudo deploy -p"]
allow = ["deploy --staging"]
"#;

const ENTRY: &str = r#"version = 1

[[allow]]
id = "team.deploy-once"
rule = "team.deploy"
command = "deploy --production web"
folder = "web"
reason = "the page is static"
expires = 2001-01-31
"#;

fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command
        .args(["guard", "rules"])
        .args(arguments)
        .current_dir(place.folder());
    command
}

fn rules(place: &Place, arguments: &[&str]) -> Output {
    command(place, arguments)
        .output()
        .expect("the program runs")
}

/// The exit code and the objects of `guard rules --json`.
fn rules_json(place: &Place, files: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = rules(place, &[files, &["--json"]].concat());
    let lines = text(&output.stdout);
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object"));
    (output.status.code(), lines.collect())
}

#[test]
fn every_rule_and_entry_is_listed_with_its_cases() {
    let place = Place::new();
    place.file("team.toml", RULE);
    place.file("web.toml", ENTRY);
    let (code, listed) = rules_json(&place, &["team.toml", "web.toml"]);
    assert_eq!(
        listed,
        [
            json!({
                "kind": "rule", "id": "team.deploy", "place": "team.toml:4:6", "tier": "dangerous",
                "set": "default", "programs": ["deploy"],
                "reason": "production is deployed by a person", "safer": "deploy to staging",
                "deny": ["deploy --production", "sudo deploy -p"], "allow": ["deploy --staging"],
                "broken": [],
            }),
            json!({
                "kind": "entry", "id": "team.deploy-once", "place": "web.toml:4:6",
                "rule": "team.deploy", "command": "deploy --production web", "folder": "web",
                "reason": "the page is static", "expires": "2001-02-01T00:00:00Z", "ended": true,
                "broken": [],
            }),
            json!({
                "summary": true, "files": 2, "rules": 1, "entries": 1, "ended": 1, "cases": 4,
                "broken": 0,
            }),
        ]
    );
    assert_eq!(code, Some(0));
    let output = rules(&place, &["team.toml", "web.toml"]);
    assert_eq!(
        text(&output.stdout),
        "team.deploy (dangerous, in every set) at team.toml:4:6\n\
         \x20 about:   deploy\n\
         \x20 reason:  production is deployed by a person\n\
         \x20 safer:   deploy to staging\n\
         \x20 deny:    deploy --production\n\
         \x20 deny:    sudo deploy -p\n\
         \x20 allow:   deploy --staging\n\
         team.deploy-once (lets team.deploy through) at web.toml:4:6\n\
         \x20 command: deploy --production web\n\
         \x20 folder:  web\n\
         \x20 reason:  the page is static\n\
         \x20 ended:   2001-02-01T00:00:00Z, it lets nothing through any more\n\
         files 2, rules 1, entries 1 (1 ended); cases 4, all hold\n"
    );
    let quiet = rules(&place, &["-q", "team.toml", "web.toml"]);
    assert_eq!(
        (quiet.status.code(), text(&quiet.stdout)),
        (Some(0), String::new())
    );
}

#[test]
fn a_case_that_does_not_hold_is_told_beside_its_rule() {
    let place = Place::new();
    let wrong = RULE
        .replace("sudo deploy -p", "sudo deploy -x")
        .replace("deploy --staging", "(deploy --prod)")
        .replace("deploy --production\"", "deploy $((\"");
    place.file("team.toml", &wrong);
    place.file("web.toml", &ENTRY.replace("--production web", "web"));
    let (code, listed) = rules_json(&place, &["team.toml", "web.toml"]);
    assert_eq!(code, Some(1));
    let broken = |row: &Value| -> Vec<(String, String)> {
        let cases = row["broken"].as_array().expect("cases").iter();
        let part = |case: &Value, name: &str| case[name].as_str().expect("text").to_owned();
        cases
            .map(|case| (part(case, "place"), part(case, "wrong")))
            .collect()
    };
    let of_rule = broken(&listed[0]);
    let places: Vec<&str> = of_rule.iter().map(|(place, _)| place.as_str()).collect();
    assert_eq!(
        places,
        ["team.toml:10:9", "team.toml:10:23", "team.toml:11:10"]
    );
    assert!(of_rule[0].1.starts_with("it is not read: "), "{of_rule:?}");
    assert_eq!(of_rule[1].1, "the rule does not speak against it");
    assert_eq!(of_rule[2].1, "the rule speaks against it");
    assert_eq!(
        broken(&listed[1]),
        [(
            "web.toml:6:11".to_owned(),
            "`team.deploy` does not speak against it".to_owned()
        )]
    );
    assert_eq!(listed[2]["broken"], 4);
    let output = rules(&place, &["team.toml", "web.toml", "--quiet"]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        shown.contains(
            "  wrong: team.toml:10:23: `sudo deploy -x`: the rule does not speak against it\n"
        ),
        "{shown}"
    );
    let output = rules(&place, &["team.toml", "web.toml"]);
    assert!(text(&output.stdout).ends_with("cases 4, 4 do not hold\n"));
}

#[test]
fn a_quiet_run_tells_only_of_what_is_wrong() {
    let place = Place::new();
    place.file("team.toml", RULE);
    place.file("web.toml", &ENTRY.replace("--production web", "web"));
    let output = rules(&place, &["team.toml", "web.toml", "-q"]);
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("team.deploy-once (lets team.deploy through) at web.toml:4:6\n"),
        "{shown}"
    );
    assert!(!shown.contains("files 2"), "{shown}");
}

#[test]
fn a_file_that_is_refused_is_wrong_input_and_nothing_is_listed() {
    let place = Place::new();
    let good = place.file("team.toml", RULE);
    let refused = |files: &[(&str, &str)], wanted: &[&str]| {
        for (name, content) in files {
            place.file(name, content);
        }
        let mut arguments = vec![good.to_str().expect("a path")];
        arguments.extend(files.iter().map(|(name, _)| *name));
        for json in [&["--json"][..], &[]] {
            let output = rules(&place, &[&arguments, json].concat());
            assert_eq!(output.status.code(), Some(2), "{files:?}");
            assert_eq!(text(&output.stdout), "", "{files:?}");
            let errors = text(&output.stderr);
            let lines: Vec<&str> = errors.lines().collect();
            assert_eq!(lines.len(), wanted.len(), "{errors}");
            for (line, wanted) in lines.iter().zip(wanted) {
                assert!(
                    line.starts_with("triplane: ") && line.contains(wanted),
                    "{errors}"
                );
            }
        }
    };
    refused(
        &[
            ("a.toml", "version = 1\nrules = []"),
            ("b.toml", "version = 2"),
            ("c.toml", ""),
        ],
        &[
            "a.toml:2:1: unknown field",
            "b.toml:1:11: ",
            "c.toml:1:1: missing field `version`",
        ],
    );
    refused(
        &[("d.toml", RULE)],
        &["d.toml:4:6: the id `team.deploy` is taken at "],
    );
    refused(
        &[(
            "e.toml",
            &ENTRY.replace("team.deploy\"", "rm.recursive-system\""),
        )],
        &["e.toml:5:8: `rm.recursive-system` is catastrophic"],
    );
    refused(
        &[("f.toml", &RULE.replace("team.deploy", "git.push-force"))],
        &["f.toml:4:6: the id `git.push-force` is that of a rule that triplane ships"],
    );
    let output = rules(&place, &["/nonexistent/team.toml", "team.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("/nonexistent/team.toml: "));
    assert_eq!(rules(&place, &[]).status.code(), Some(2));
}

#[test]
fn a_file_of_which_only_the_beginning_could_be_read_is_refused() {
    let place = Place::new();
    // A pipe tells no length; cut at a mebibyte, the file would hold comments and no rule.
    let long = format!(
        "version = 1\n{}{}",
        "# padding\n".repeat(120_000),
        &RULE["version = 1\n".len()..]
    );
    place.file("long.toml", &long);
    let mut child = command(&place, &["/dev/stdin"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    // The program reads no further than it must.
    let _closed = pipe.write_all(long.as_bytes());
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(
        errors.contains("/dev/stdin: 1048577 bytes are more than 1048576"),
        "{errors}"
    );
    let output = rules(&place, &["long.toml"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_rules_that_the_repository_shows_hold() {
    let place = Place::new();
    let example = workspace().join("examples/rules/team.toml");
    let output = rules(&place, &[example.to_str().expect("a path")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    // The page on rules: what it shows of a file, put together, is a file.
    let page = std::fs::read_to_string(workspace().join("docs/rules.md")).expect("a page");
    let parts = page.split("```toml\n").skip(1);
    let parts = parts.filter_map(|part| part.split("```").next());
    let shown: String = parts.filter(|part| part.contains("[[")).collect();
    place.file("shown.toml", &shown);
    let (code, listed) = rules_json(&place, &["shown.toml"]);
    assert_eq!((code, listed.len()), (Some(0), 3), "{listed:?}");
}
