//! Help, completions, manual pages, colours, and a reader that has gone.

use std::process::{Command, Stdio};

use crate::program::{Place, program, shell_question, text, workspace};

/// Every command with arguments that make it print something, and whether it takes a store.
const COMMANDS: &[(&[&str], bool)] = &[
    (&["replay", "events.jsonl"], true),
    (&["replay", "events.jsonl", "--json"], true),
    (&["hook"], true),
    (&["hook", "--print-config", "codex"], true),
    (&["deliver", "--once"], true),
    (&["signals", "ls"], true),
    (&["outbox", "ls"], true),
    (
        &["outbox", "show", "0199a3c4-5a1b-7c3d-8e4f-001122334455"],
        true,
    ),
    (&["session", "ls"], true),
    (&["session", "show", "s1"], true),
    (&["session", "show", "s1", "--json"], true),
    (
        &["guard", "check", "--corpus", "corpus.jsonl", "--json"],
        false,
    ),
    (&["guard", "explain", "--", "rm", "-rf", "/"], false),
    (&["guard", "rules", "team.toml"], false),
    (&["guard", "rules", "team.toml", "--json"], false),
    (&["doctor"], true),
    (&["doctor", "--json"], true),
    (&["completions", "bash"], false),
    (&["completions", "zsh"], false),
    (&["completions", "fish"], false),
    (&["man"], false),
    (&["man", "--out", "pages"], false),
    (&["--help"], false),
    (&["session", "show", "--help"], false),
    (&["--version"], false),
];

#[test]
fn a_reader_that_has_gone_is_no_reason_to_panic() {
    let place = Place::new();
    let events = format!("{}\n", shell_question("rm -rf /")).repeat(3);
    place.file("events.jsonl", &events);
    let row = r#"{"id": "a", "command": "ls", "verdict": "allow"}"#;
    place.file("corpus.jsonl", row);
    let rules = std::fs::read(workspace().join("examples/rules/team.toml")).expect("rules");
    std::fs::write(place.path("team.toml"), rules).expect("a file");
    place.hook(&[], shell_question("rm -rf /").as_bytes());
    for (arguments, with_store) in COMMANDS {
        let mut command = if *with_store {
            place.command(arguments)
        } else {
            let mut command = Command::new(program());
            command
                .args(*arguments)
                .current_dir(place.path(""))
                .stdin(Stdio::null());
            command
        };
        // The pipe has no reader from the first byte on, as with `| head -1` at its worst.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = command
            .env("HOME", place.path("home"))
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .expect("the program runs");
        let errors = text(&output.stderr);
        assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
        assert!(
            output.status.code().is_some_and(|code| code <= 2),
            "{arguments:?}: {:?}\n{errors}",
            output.status
        );
    }
}

#[test]
fn colours_are_shown_where_they_are_asked_for() {
    let place = Place::new();
    place.file("events.jsonl", &format!("{}\n", shell_question("rm -rf /")));
    let painted = |arguments: &[&str], no_color: &str| {
        std::fs::remove_file(place.store()).ok();
        let arguments = [&["replay", "events.jsonl"], arguments].concat();
        let output = place
            .command(&arguments)
            .env("NO_COLOR", no_color)
            .output()
            .expect("the program runs");
        text(&output.stdout).contains("\u{1b}[31mwould deny")
    };
    assert!(painted(&["--color", "always"], ""));
    assert!(
        painted(&["--color", "always"], "1"),
        "an option is stronger than the environment"
    );
    assert!(!painted(&["--color", "never"], ""));
    assert!(!painted(&[], ""), "a pipe is no terminal");
    assert!(
        !painted(&["--color", "always", "--json"], ""),
        "JSON has no colours"
    );
}

#[test]
fn a_quiet_replay_says_only_what_went_wrong() {
    let place = Place::new();
    place.file(
        "events.jsonl",
        &format!("{}\n{{\n", shell_question("rm -rf /")),
    );
    let output = place.run(&["replay", "events.jsonl", "--quiet"]);
    assert!(output.status.success());
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).contains("line 2: "));
    assert_eq!(text(&place.run(&["deliver", "--once", "-q"]).stdout), "");
    let json = text(&place.run(&["deliver", "--once", "-q", "--json"]).stdout);
    assert!(json.contains("\"pending\":0"), "{json}");
}

#[test]
fn completions_are_scripts_that_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let output = Command::new(program())
            .args(["completions", shell])
            .output();
        let script = text(&output.expect("the program runs").stdout);
        for command in [
            "replay", "hook", "deliver", "signals", "outbox", "session", "guard", "doctor",
        ] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    let output = Command::new(program())
        .args(["completions", "bash"])
        .output();
    let script = output.expect("the program runs").stdout;
    let place = Place::new();
    let file = place.file("triplane.bash", &text(&script));
    let checked = Command::new("bash")
        .arg("-n")
        .arg(file)
        .status()
        .expect("bash runs");
    assert!(checked.success());
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let out = place.path("deep/pages");
    let output = Command::new(program())
        .args(["man", "--out"])
        .arg(&out)
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let listed = text(&output.stdout);
    for page in [
        "triplane",
        "triplane-replay",
        "triplane-session-show",
        "triplane-man",
    ] {
        let path = out.join(format!("{page}.1"));
        let content = std::fs::read_to_string(&path).expect("a page");
        assert!(
            content.contains(".TH") && content.contains("Example"),
            "{page}:\n{content}"
        );
        assert!(listed.contains(path.to_str().expect("a path")), "{listed}");
    }
    let one = Command::new(program())
        .arg("man")
        .output()
        .expect("the program runs");
    assert!(text(&one.stdout).contains(".SH NAME"));
}

#[test]
fn a_wrong_command_line_is_answered_with_the_right_one() {
    for (arguments, wanted) in [
        (&["sesion", "ls"][..], "session"),
        (&["replay"], "<FILE>"),
        (&["session", "show"], "<ID>"),
        (&["deliver"], "--once"),
        (&["--color", "blue", "doctor"], "auto"),
        (&["completions", "tcsh"], "zsh"),
        (&["outbox", "ls", "--status", "lost"], "dead_letter"),
        (&["signals", "ls", "--limit", "many"], "--limit"),
    ] {
        let output = Command::new(program()).args(arguments).output();
        let output = output.expect("the program runs");
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(wanted), "{arguments:?}: {errors}");
    }
}
