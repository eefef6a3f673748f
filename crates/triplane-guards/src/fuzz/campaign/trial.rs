//! What the child does: it limits itself and tries inputs, telling each.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::fuzz::campaign::mutator::{Mutator, Numbers};
use crate::fuzz::{SLOW, listen_to_panics};

/// How many inputs an ordinary test run tries.
const INPUTS: usize = 500;

/// The most address space of the child, in bytes: the parser's stack is a quarter of it.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// The most slow inputs that are told.
const SLOW_TOLD_MAX: usize = 20;

/// What one input comes to: the time that it took.
pub(super) type Body = fn(&[u8]) -> Duration;

/// How long a campaign lasts, if this is one.
pub(super) fn campaign() -> Option<Duration> {
    let seconds = std::env::var("TRIPLANE_FUZZ_SECONDS").ok()?;
    let seconds = seconds.parse().expect("a number of seconds");
    Some(Duration::from_secs(seconds))
}

/// Tries inputs until the number or the time is reached.
///
/// Each is written to the file `last` before it is tried, so that it is not lost with the process,
/// and told with a line. The last line is the sum.
#[expect(clippy::print_stdout, reason = "the parent reads the lines")]
pub(super) fn try_inputs(
    name: &str,
    seeds: Vec<String>,
    fragments: &'static [&'static str],
    body: Body,
    last: &Path,
) {
    limit_memory();
    listen_to_panics();
    let campaign = campaign();
    let mut mutator = Mutator {
        seeds: seeds.into_iter().map(String::into_bytes).collect(),
        fragments,
        numbers: Numbers(0x5eed ^ campaign.map_or(0, |_| u64::from(std::process::id()) << 20)),
    };
    let start = Instant::now();
    let mut tried = 0_usize;
    let mut slowest = Duration::ZERO;
    let mut slow: Vec<String> = Vec::new();
    let mut out = std::io::stdout();
    while campaign.map_or(tried < INPUTS, |time| start.elapsed() < time) {
        let input = mutator.next();
        fs::write(last, &input).expect("the system's temporary folder");
        let took = body(&input);
        tried += 1;
        // Past libtest, which would keep it.
        writeln!(out, "fuzz: tried").expect("the parent reads");
        slowest = slowest.max(took);
        if campaign.is_some() && took > SLOW && slow.len() < SLOW_TOLD_MAX {
            // The second time there is nothing left to build and to learn.
            let again = body(&input);
            if again > SLOW {
                let text = String::from_utf8_lossy(&input);
                let shown: String = text.chars().take(300).collect();
                slow.push(format!("{again:?}, {} bytes: {shown:?}", input.len()));
            }
        }
    }
    println!(
        "{SUM}{name}: {tried} inputs in {:?}, slowest {slowest:?}",
        start.elapsed()
    );
    assert!(slow.is_empty(), "slow inputs:\n{}", slow.join("\n"));
}

/// How the last line begins.
pub(super) const SUM: &str = "fuzz: in all, ";

fn limit_memory() {
    let limit = Rlimit {
        current: Some(MEMORY_BYTES_MAX),
        ..getrlimit(Resource::As)
    };
    setrlimit(Resource::As, limit).expect("a limit that is lower");
}
