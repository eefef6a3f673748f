//! What is judged near its caller: the worst families that are known, and random changes of commands.

use std::time::Duration;

use triplane_interception::Verdict;

use crate::command::near::{BYTES_MAX, Near};
use crate::commands;
use crate::corpus::shell_call;
use crate::fuzz::campaign::child::Campaign;
use crate::fuzz::campaign::corpus::{CommandRow, rows};
use crate::fuzz::campaign::shell::FRAGMENTS;
use crate::fuzz::near::{Compared, compare};
use crate::fuzz::{listen_to_panics, near};
use crate::place::Place;

#[test]
fn any_small_command_is_judged_near_as_it_is_far() {
    Campaign {
        test: "near::any_small_command_is_judged_near_as_it_is_far",
        fragments: FRAGMENTS,
        body: near,
    }
    .run(|| {
        let rows: Vec<CommandRow> = rows(["commands.jsonl", "commands-more.jsonl"]);
        rows.into_iter().map(|row| row.command).collect()
    });
}

/// What can stand around commands, and its end.
const PIECES: [(&str, &str); 55] = [
    ("(", ")"),
    ("((", "))"),
    ("{ ", "; }"),
    ("if ", "; then x; fi"),
    ("if x; then ", "; fi"),
    ("if x; then x; else ", "; fi"),
    ("while ", "; do x; done"),
    ("until x; do ", "; done"),
    ("for x in a; do ", "; done"),
    ("for ((x; x; x)) do ", "; done"),
    ("select x in a; do ", "; done"),
    ("case x in x) ", ";; esac"),
    ("case x in (x) ", ";; esac"),
    ("case ", " in x) x;; esac"),
    ("[[ ( ", " ) ]]"),
    ("[[ ! ", " ]]"),
    ("[[ x && ", " ]]"),
    ("! ", ""),
    ("$(", ")"),
    ("x $(", ")"),
    ("\"$(", ")\""),
    ("`", "`"),
    ("${a:-", "}"),
    ("x \"${a:-", "}\""),
    ("$((", "))"),
    ("x {a,", "}"),
    ("${x/", "}"),
    ("${x[", "]}"),
    ("$[", "]"),
    ("{1..64}", ""),
    ("f() { ", "; }"),
    ("f() ( ", ")"),
    ("function f { ", "; }"),
    ("coproc ", ""),
    ("coproc x ", ""),
    ("x <(", ")"),
    ("x > >(", ")"),
    ("x=(", ")"),
    ("x @(", ")"),
    ("x <<E\n", "\nE\n"),
    ("time ", ""),
    ("x | ", ""),
    ("x && ", ""),
    ("x=y ", ""),
    ("x=$x$x; ", ""),
    ("eval ", ""),
    ("sudo ", ""),
    ("xargs -I x ", ""),
    ("find . -exec ", " \\;"),
    ("sh -c '", "'"),
    ("sh -c \"", "\""),
    ("python3 -c 'import os; os.system(\"", "\")'"),
    ("python3 -c '[", "]'"),
    ("psql -c '(", ")'"),
    ("git -c alias.a='!", "' a"),
];

/// What may stand inside of them.
const INNER: [&str; 8] = [
    "x",
    "",
    " fi if",
    "; ;",
    ") ) }",
    "eval '((((x))))'",
    "sh -c 'x $(if $({ x; }); then x; fi)'",
    "f() { ( { x; } ) }; f",
];

/// `first` and `second` by turns around `inner`, as many as are judged near; of their ends, `closed`
/// quarters.
fn nested(first: (&str, &str), second: (&str, &str), inner: &str, closed: usize) -> String {
    let of = |count: usize| {
        let pieces = || [first, second].into_iter().cycle().take(count);
        let mut text: String = pieces().map(|(open, _)| open).collect();
        text.push_str(inner);
        let ends: Vec<&str> = pieces().map(|(_, end)| end).collect();
        text.extend(ends.into_iter().rev().take(count * closed / 4));
        text
    };
    longest(of)
}

/// The longest that a near judgement may take on the processor's clock.
const TOOK_MAX: Duration = if cfg!(debug_assertions) {
    Duration::from_millis(50)
} else {
    Duration::from_millis(5)
};

#[test]
fn the_worst_families_are_judged_near_on_a_small_stack_and_soon() {
    listen_to_panics();
    for (at, first) in PIECES.into_iter().enumerate() {
        for (beside, second) in PIECES.into_iter().enumerate() {
            for (nth, inner) in INNER.into_iter().enumerate() {
                for closed in [0, 2, 4] {
                    // What stands alone is tried in every way, two by turns in the worst ones.
                    if at == beside || at < beside && nth == 0 && closed != 2 {
                        is_soon(&nested(first, second, inner, closed));
                    }
                }
            }
        }
    }
}

/// What is read in one way to its end, and the end.
const TEXTS: [(&str, &str); 11] = [
    ("", ""),
    ("echo ", ""),
    ("echo \"", "\""),
    ("cat <<E\n", "\nE"),
    ("sh -c '", "'"),
    ("python3 -c '", "'"),
    ("node -e 'child_process;", "'"),
    ("perl -e '", "'"),
    ("awk '", "'"),
    ("ruby -e '", "'"),
    ("psql -c '", "'"),
];

#[test]
fn what_repeats_itself_is_judged_near_and_soon() {
    listen_to_panics();
    for (start, end) in TEXTS {
        for part in FRAGMENTS {
            let of = |count: usize| format!("{start}{}{end}", part.repeat(count));
            is_soon(&longest(of));
        }
    }
}

/// The longest of these that is judged near.
fn longest(of: impl Fn(usize) -> String) -> String {
    let most = (1..=BYTES_MAX).find(|count| Near::new().read(&of(*count)).is_err());
    of(most.map_or(0, |most| most - 1))
}

/// Another program may have had the caches: the shortest of a few times is the guard's.
fn is_soon(text: &str) {
    let mut tries = (0..5).map(|_| near(text.as_bytes()));
    assert!(tries.any(|took| took < TOOK_MAX), "{text:?}");
}

#[test]
fn nearly_all_commands_of_the_corpora_are_judged_near_as_they_are_far() {
    let rows: Vec<CommandRow> = rows(["commands.jsonl", "commands-more.jsonl"]);
    let answered = rows.iter().filter(|row| compare(&row.command).is_near());
    let answered = answered.count();
    assert!(
        answered * 20 > rows.len() * 19,
        "{answered} of {}",
        rows.len()
    );
}

impl Compared {
    fn is_near(&self) -> bool {
        matches!(self, Self::Near(_))
    }
}

/// A command of `count` openers, bytes, words and so on around `inner`.
type Growing = fn(count: usize, inner: &str) -> String;

#[test]
fn either_side_of_each_limit_has_the_same_verdict() {
    let growing: [Growing; 8] = [
        |count, inner| format!("{}{inner}{}", "{ ".repeat(count), "; }".repeat(count)),
        |count, inner| format!("echo '{}'; {inner}", "(".repeat(count)),
        |count, inner| format!("echo '{}'; {inner}", "x".repeat(count)),
        |count, inner| format!("{} {inner}", "env ".repeat(count)),
        |count, inner| format!("{}{inner}", "eval ".repeat(count)),
        |count, inner| format!("x=ab; {} {inner}", "x=$x$x;".repeat(count)),
        |count, inner| format!("{} {inner}", "echo {1..64};".repeat(count)),
        |count, inner| format!("{} {inner}", "x=1; echo $x | wc -l;".repeat(count)),
    ];
    let place = Place::new("/srv/app", None);
    for grown in growing {
        let near = |count: &usize| compare(&grown(*count, "ls")).is_near();
        let most = (1..BYTES_MAX).take_while(near).last().unwrap();
        for count in [most, most + 1] {
            for (inner, refused) in [("ls", false), ("rm -rf /data", true)] {
                let command = grown(count, inner);
                let verdict = commands().judge_blocking(&shell_call(&command, &place));
                assert_eq!(
                    verdict != Verdict::Allow,
                    refused,
                    "{command:?}: {verdict:?}"
                );
            }
        }
    }
}
