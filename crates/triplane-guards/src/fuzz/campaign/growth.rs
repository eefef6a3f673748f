//! Fragments of shell over and over: what costs more than its reading shows here before it is found.
//!
//! An ordinary run tries each fragment alone, and those pairs that were slow once. A campaign tries
//! every pair, and says which were the slowest.

use std::time::Duration;

use crate::command::scan::{BYTES_MAX, scan};
use crate::fuzz::campaign::shell::FRAGMENTS;
use crate::fuzz::campaign::trial::campaign;
use crate::fuzz::{SLOW, listen_to_panics, shell};

/// The longest text that is tried, in bytes.
const LENGTH_MAX: usize = if cfg!(debug_assertions) {
    BYTES_MAX / 4
} else {
    BYTES_MAX
};

/// What people write, over and over: how long this machine takes for it says how quick it is.
const ORDINARY: &str = "ls -la src; ";

/// How many times as long as what is ordinary it may take. Without optimisation, beside other work, the
/// slowest of these was seen at thirteen times.
const TIMES_MAX: u32 = if cfg!(debug_assertions) { 20 } else { 5 };

/// What closes a text that the scan would refuse for what is open at its end.
const CLOSERS: [&str; 13] = [
    "", "'", "\"", "}", ")", "`", "))", "\nE\n", "; fi", "; done", ";; esac", "; }", " ]]",
];

/// A beginning and what follows it over and over: each was slow once.
const WAS_SLOW: [(&str, &str); 13] = [
    ("", "a["),
    ("", "{a..z} "),
    ("", "rm {1..9} "),
    ("", "` "),
    ("", ">`"),
    ("", "eval ! "),
    ("", "sudo eval "),
    ("", "$@ "),
    ("python3 -c '", "a=b "),
    ("python3 -c \"", "alias a="),
    ("python3 -c '", "x=$x"),
    ("python3 -c \"for name in ('dist', is", "git -c alias.a='!"),
    ("set -- a b c; ", "$1 "),
];

/// `beginning`, and `part` over and over up to `length`, closed; `None` if the scan refuses it.
fn text(beginning: &str, part: &str, length: usize) -> Option<String> {
    let count = (length - beginning.len()) / part.len() - 1;
    let open = format!("{beginning}{}", part.repeat(count));
    let mut closed = CLOSERS.iter().map(|closer| format!("{open}{closer}"));
    closed.find(|text| scan(text).is_ok())
}

/// The longest that the text takes in any length, or nothing if no length is read.
fn longest(beginning: &str, part: &str, soon: Duration) -> Option<Duration> {
    let lengths = [LENGTH_MAX / 4, LENGTH_MAX / 2, LENGTH_MAX];
    let texts = lengths.map(|length| text(beginning, part, length));
    texts.iter().flatten().map(|text| took(text, soon)).max()
}

/// Another program may have had the caches: the shortest of a few times is the guard's. What takes less
/// than `soon` is tried once.
fn took(text: &str, soon: Duration) -> Duration {
    let mut shortest = Duration::MAX;
    for _ in 0..5 {
        shortest = shortest.min(shell(text.as_bytes()));
        if shortest < soon {
            break;
        }
    }
    shortest
}

#[test]
fn whatever_is_repeated_is_judged_soon() {
    listen_to_panics();
    let ordinary = text("", ORDINARY, LENGTH_MAX).map(|text| took(&text, Duration::ZERO));
    let mut took_max = ordinary.expect("is read").saturating_mul(TIMES_MAX);
    if !cfg!(debug_assertions) {
        // On a slow machine, too, nobody waits longer.
        took_max = took_max.min(SLOW);
    }
    let alone = FRAGMENTS.iter().map(|fragment| ("", *fragment));
    let slow: Vec<String> = alone
        .chain(WAS_SLOW)
        .filter_map(|(beginning, part)| {
            let took = longest(beginning, part, took_max)?;
            (took > took_max).then(|| format!("{beginning:?}, {part:?} over and over: {took:?}"))
        })
        .collect();
    assert!(
        slow.is_empty(),
        "longer than {took_max:?}:\n{}",
        slow.join("\n")
    );
}

#[test]
#[expect(clippy::print_stdout, reason = "a campaign says what it has found")]
fn a_campaign_repeats_every_pair() {
    if campaign().is_none() {
        return;
    }
    listen_to_panics();
    let mut times: Vec<(Duration, String)> = Vec::new();
    for first in FRAGMENTS {
        for second in FRAGMENTS {
            let both = format!("{first}{second}");
            for (beginning, part) in [("", both.as_str()), (first, second)] {
                if let Some(text) = text(beginning, part, LENGTH_MAX / 4) {
                    let told = format!("{beginning:?}, {part:?} over and over");
                    times.push((took(&text, SLOW / 2), told));
                }
            }
        }
    }
    times.sort_unstable();
    for (took, told) in times.iter().rev().take(20) {
        println!("{took:?}: {told}");
    }
    let slowest = times.last().expect("some are read");
    assert!(slowest.0 < SLOW, "{} took {:?}", slowest.1, slowest.0);
}
