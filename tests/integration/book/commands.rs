//! Every command line of the book, run in the order of its page.
//!
//! A block marked `console` holds commands after `$ ` and, under each, lines of what it says. They
//! must come in that order among the lines that it says in truth; `…` stands for any text, and the
//! width of white space does not count. A command that ends with another code than 0 fails the
//! test.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{Place, program, text, workspace};

/// The only command line that is not run: the program has been built already.
const NOT_RUN: &str = "$ cargo install --path crates/triplane-cli";

/// One command and the lines that it is shown to say.
struct Shown {
    command: String,
    says: Vec<String>,
}

#[test]
fn every_command_of_the_book_does_what_is_shown() {
    let summary = fs::read_to_string(workspace().join("docs/SUMMARY.md")).expect("a summary");
    let pages = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let mut ran = 0;
    for page in pages {
        let text = fs::read_to_string(workspace().join("docs").join(page))
            .unwrap_or_else(|error| panic!("{page}: {error}"));
        ran += run_page(page, &text);
    }
    assert!(ran >= 20, "only {ran} commands were found");
}

/// Runs the page in a folder of its own, with a copy of the examples; tells how many commands ran.
fn run_page(page: &str, content: &str) -> usize {
    let place = Place::new();
    copy(&workspace().join("examples"), &place.path("examples"));
    // The program is called by its name, so it is found by it: the built file may have another one.
    fs::create_dir(place.path("bin")).expect("a folder");
    std::os::unix::fs::symlink(program(), place.path("bin/triplane")).expect("a link");
    let mut path = OsString::from(place.path("bin"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let shown = commands(page, content);
    for Shown { command, says } in &shown {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(place.folder())
            .env("PATH", &path)
            .env("HOME", place.folder())
            .output()
            .expect("sh runs");
        let said = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.success(), "{page}: {command}: {said}");
        let mut lines = said.lines();
        for wanted in says {
            assert!(
                lines.any(|line| is_like(line, wanted)),
                "{page}: {command}\ndoes not say, or not at this place: {wanted}\nit says:\n{said}"
            );
        }
    }
    shown.len()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

fn commands(page: &str, content: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut block = None;
    for line in content.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(kind), None) => block = Some(kind),
            (Some(_), Some(_)) => block = None,
            (None, Some("console")) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    shown.push(Shown {
                        command: command.to_owned(),
                        says: Vec::new(),
                    });
                } else {
                    let last = shown.last_mut();
                    let last = last.unwrap_or_else(|| panic!("{page}: no command before {line}"));
                    last.says.push(line.to_owned());
                }
            }
            (None, Some("console,norun")) => assert_eq!(line, NOT_RUN, "{page}"),
            (None, Some("sh" | "bash" | "shell")) => panic!("{page}: not a console: {line}"),
            (None, _) => {}
        }
    }
    shown
}

/// Whether `line` has the parts of `wanted` between its `…`, in their order.
fn is_like(line: &str, wanted: &str) -> bool {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = line.as_str();
    for part in wanted.split('…').map(str::trim) {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn a_shown_line_is_compared_part_by_part() {
    assert!(is_like("a   b c", "a b c"));
    assert!(is_like("  43  would deny  Bash", "43 would … Bash"));
    assert!(is_like("12 delivered", "… delivered …"));
    assert!(!is_like("delivered 12", "12 … delivered"));
    assert!(!is_like("nothing", "something"));
}
