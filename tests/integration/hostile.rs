//! Commands made to break the parser: each is denied, quickly, by a process that lives.

use std::time::{Duration, Instant};

use crate::program::{Place, denial, shell_question, text};

/// The time within which every hostile command is denied, the start of the program included.
const BAR: Duration = Duration::from_millis(100);

/// How often a command may be asked until one answer stays below the bar: the bar is for the
/// program, and a busy machine can hold up any one of its runs.
const TRIES: usize = 10;

/// `opening` as often as 64 KiB hold it.
fn filled(opening: &str) -> String {
    opening.repeat((64 << 10) / opening.len())
}

fn hostile() -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = [
        "$(",
        "{ ",
        "if ",
        "while ",
        "case x in x) ",
        "${a:-",
        "$((",
        "f(){ ",
        "[[ (",
        "[[ ! ",
        "`",
        "(",
        "<(",
        "until ",
        "for i in x; do ",
        "select i in x; do ",
        "((",
        "\"$(",
    ]
    .iter()
    .map(|opening| (format!("64 KiB of {opening:?}"), filled(opening)))
    .collect();
    for (opening, closing) in [("$(", ")"), ("(", ")"), ("{ ", "; }"), ("if ", "; fi")] {
        let nested = format!("{}true{}", opening.repeat(10_000), closing.repeat(10_000));
        commands.push((format!("10,000 deep {opening:?}"), nested));
        commands.push((format!("10,000 open {opening:?}"), opening.repeat(10_000)));
    }
    for open in [22, 26] {
        commands.push((format!("{open} unclosed parentheses"), "(".repeat(open)));
    }
    let case = "case x in (x) ".repeat(9) + ";; ;; ( " + &"esac ".repeat(9);
    commands.push(("nested case with a syntax error".to_owned(), case));
    commands.push((
        "a heredoc that never returns".to_owned(),
        "<<E$[\t\t".to_owned(),
    ));
    commands.push((
        "over 64 KiB".to_owned(),
        format!("echo {}", "a".repeat(70 << 10)),
    ));
    commands.push(("too many separators".to_owned(), "true;".repeat(6_000)));
    commands
}

#[test]
fn every_hostile_command_is_denied_in_time() {
    let place = Place::new();
    let warm = place.hook(&[], shell_question("true").as_bytes());
    assert!(warm.status.success(), "{}", text(&warm.stderr));
    for (name, command) in hostile() {
        let question = shell_question(&command);
        let mut quickest = Duration::MAX;
        for _ in 0..TRIES {
            let started = Instant::now();
            let output = place.hook(&[], question.as_bytes());
            quickest = quickest.min(started.elapsed());
            let errors = text(&output.stderr);
            assert!(
                output.status.success(),
                "{name}: {:?} {errors}",
                output.status
            );
            let reason = denial(&output);
            assert!(
                reason.is_some_and(|reason| !reason.is_empty()),
                "{name}: not denied"
            );
            if quickest < BAR {
                break;
            }
        }
        assert!(quickest < BAR, "{name}: {quickest:?} at best");
    }
}
