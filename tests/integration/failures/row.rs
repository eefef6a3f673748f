//! One row of a table of failures: what happened, what was said, how it ended.

#![expect(clippy::print_stdout, reason = "the tests show their tables")]

use std::path::Path;
use std::process::Output;

use crate::program::{Place, denial, shell_question, text};

/// What a program said, with the names of this run's places and times taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    pub(crate) fn of(output: &Output, folder: &Path) -> Self {
        Self {
            exit: output.status.code(),
            stdout: masked(&text(&output.stdout), folder),
            stderr: masked(&text(&output.stderr), folder),
        }
    }
}

/// `said` with `folder` as PLACE and every measured time as TIME.
pub(crate) fn masked(said: &str, folder: &Path) -> String {
    let said = said.replace(&folder.display().to_string(), "PLACE");
    let words = said.split_inclusive([' ', '\n']).map(|word| {
        let bare = word.trim_end_matches([' ', '\n', ';', ',']);
        let number = bare.trim_end_matches(|c: char| c.is_alphabetic() || c == 'µ');
        let is_time = number.len() < bare.len()
            && ["ms", "s", "µs"].contains(&&bare[number.len()..])
            && number.parse::<f64>().is_ok();
        if is_time {
            word.replacen(bare, "TIME", 1)
        } else {
            word.to_owned()
        }
    });
    words.collect()
}

/// Prints a row, as a table in Markdown. What happens inside a library has no exit code.
pub(crate) fn show(what: &str, exit: Option<i32>, said: &str) {
    let exit = exit.map_or_else(|| "-".to_owned(), |code| code.to_string());
    let said = said.trim().replace('\n', " / ");
    println!("| {what} | {exit} | {said} |");
}

/// Says why a row cannot be shown on this machine.
pub(crate) fn skip(what: &str, why: &str) {
    println!("| {what} | skipped | {why} |");
}

/// How every command answers when its store cannot be used: a guard denies, the others end with 2.
///
/// `folder` is what the message calls PLACE.
pub(crate) fn check_refused(what: &str, place: &Place, folder: &Path, message: &str) {
    check_hook(what, place, folder, message);
    let session = session(place);
    for command in [
        &["replay", &session][..],
        &["deliver", "--once"],
        &["signals", "ls"],
        &["outbox", "ls"],
    ] {
        check_command(what, place, folder, command, message);
    }
}

/// A hook denies with the message as its reason, in the harness's own form.
pub(crate) fn check_hook(what: &str, place: &Place, folder: &Path, message: &str) {
    let output = place.hook(&["--timeout", "2s"], shell_question("ls").as_bytes());
    let reason = masked(&denial(&output).unwrap_or_default(), folder);
    show(&format!("{what}: hook"), output.status.code(), &reason);
    assert_eq!(
        reason,
        format!("triplane cannot judge this: {message} [triplane.unavailable]"),
        "{what}: {}",
        text(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(0), "{what}");
}

/// Another command ends with 2, says the message and nothing else.
pub(crate) fn check_command(
    what: &str,
    place: &Place,
    folder: &Path,
    command: &[&str],
    message: &str,
) {
    let said = Said::of(&place.run(command), folder);
    show(&format!("{what}: {}", command[0]), said.exit, &said.stderr);
    let wanted = Said {
        exit: Some(2),
        stdout: String::new(),
        stderr: format!("triplane: {message}\n"),
    };
    assert_eq!(said, wanted, "{what}: {command:?}");
}

/// A recording of one harmless event and one that is denied.
pub(crate) fn session(place: &Place) -> String {
    let lines: String = ["git status", "rm -rf /"]
        .iter()
        .zip(1..)
        .map(|(command, n)| event(command, n) + "\n")
        .collect();
    let path = place.file("session.jsonl", &lines);
    path.to_str().expect("a path").to_owned()
}

/// The recorded event of a shell command, with an id of its own.
pub(crate) fn event(command: &str, n: u32) -> String {
    shell_question(command).replacen('{', &format!("{{\"tool_use_id\":\"toolu_{n:05}\","), 1)
}

#[test]
fn times_and_places_are_taken_out() {
    let said = masked(
        "/t/x/state.db was locked by others for 261ms; wait 5s longer or 7 times",
        Path::new("/t/x"),
    );
    assert_eq!(
        said,
        "PLACE/state.db was locked by others for TIME; wait TIME longer or 7 times"
    );
}
