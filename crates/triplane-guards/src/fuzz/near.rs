//! What is judged on its caller's thread: on a small stack, soon, and as the parser's thread would.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use crate::command::judge::{Certainty, Judgement, judge, judge_near};
use crate::command::near::{Beyond, Near};
use crate::command::parser_thread::STACK_BYTES;
use crate::command::rules::{Asked, RuleSet};
use crate::command::scan::{Found, look};
use crate::fuzz::watch::{grammar_panicked, timed};
use crate::place::Place;

/// The stack that is enough for what is judged near, in bytes; four times as much without
/// optimisation. A worker of tokio has two MiB, the main thread of a program eight.
pub(crate) const NEAR_STACK_BYTES: usize = if cfg!(debug_assertions) {
    512 * 1024
} else {
    128 * 1024
};

/// Judges `input` on a small stack, if it is one that is judged near its caller, and holds the
/// answer against the one of a large stack. The answer is how long the near judgement took.
///
/// What the scan refuses is judged too: the bounds must hold whatever the scan understands.
///
/// # Panics
///
/// Panics when the guard does, or when the two answers differ. A panic of the grammar is an answer.
pub fn near(input: &[u8]) -> Duration {
    match compare(&String::from_utf8_lossy(input)) {
        Compared::Near(took) | Compared::Beyond(took) => took,
    }
}

/// How a command was judged, and how long that took near its caller.
pub(crate) enum Compared {
    /// It has an answer there, the same as far from it.
    Near(Duration),
    /// It has none.
    Beyond(Duration),
}

/// As [`near`].
pub(crate) fn compare(command: &str) -> Compared {
    if Near::new().read(command).is_err() {
        return Compared::Beyond(Duration::ZERO);
    }
    let scanned = look(command);
    let found = scanned.clone().unwrap_or_default();
    let judged_near = || timed(|| judged(command, &found, judge_near));
    let (near, took) = on_stack(NEAR_STACK_BYTES, judged_near);
    if near.is_none() {
        return Compared::Beyond(took);
    }
    if scanned.is_ok() {
        let judge = |asked: &Asked<'_>, found, certainty| Ok(judge(asked, found, certainty));
        let far = on_stack(STACK_BYTES, || judged(command, &found, judge));
        assert_eq!(near, far, "{command:?}");
    }
    Compared::Near(took)
}

fn on_stack<T: Send>(bytes: usize, job: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(bytes);
        let job = thread.spawn_scoped(scope, job).expect("a thread");
        job.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// What is said about the command; nothing when it is not judged near.
fn judged(
    command: &str,
    found: &Found,
    judge: impl Fn(&Asked<'_>, Found, Certainty) -> Result<Judgement, Beyond>,
) -> Option<String> {
    let asked = Asked {
        command,
        place: &Place::new("/srv/app", Some(Path::new("/home/dev"))),
        rules: &RuleSet::default(),
        now: Timestamp::UNIX_EPOCH,
    };
    let judge = || judge(&asked, found.clone(), Certainty::Certain);
    match catch_unwind(AssertUnwindSafe(judge)) {
        Ok(Ok(judgement)) => Some(match judgement.objection {
            Some(against) => format!(
                "{} {:?} {:?}",
                against.rule.id, against.span, against.detail
            ),
            None => "nothing".to_owned(),
        }),
        Ok(Err(Beyond)) => None,
        Err(panic) if !grammar_panicked() => resume_unwind(panic),
        Err(_) => Some("the grammar's panic".to_owned()),
    }
}
