//! The shell normaliser: scan, parse, walk and judge.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use crate::command::judge::{Certainty, judge};
use crate::command::parser_thread::STACK_BYTES;
use crate::command::rules::{Asked, RuleSet};
use crate::command::scan::{Found, look};
use crate::fuzz::shortcut::shortcut;
use crate::fuzz::watch::{grammar_panicked, timed};
use crate::place::Place;

/// Judges `input` as a command.
///
/// # Panics
///
/// Panics when the guard does, when an objection points outside the command, or when what is read
/// without the grammar is not what the grammar reads. A panic of the grammar is a refusal.
pub fn shell(input: &[u8]) -> Duration {
    let command = String::from_utf8_lossy(input);
    let (scanned, scanning) = timed(|| look(&command));
    let Ok(found) = scanned else {
        return scanning;
    };
    let judging = thread::scope(|scope| {
        let parser = thread::Builder::new().stack_size(STACK_BYTES);
        let job = parser
            .spawn_scoped(scope, || {
                shortcut(&command);
                judged(&command, found)
            })
            .expect("a thread for the parser");
        job.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    scanning + judging
}

fn judged(command: &str, found: Found) -> Duration {
    let asked = Asked {
        command,
        place: &Place::new("/srv/app", Some(Path::new("/home/dev"))),
        rules: &RuleSet::default(),
        now: Timestamp::UNIX_EPOCH,
    };
    let (judgement, took) = timed(|| {
        catch_unwind(AssertUnwindSafe(|| {
            judge(&asked, found, Certainty::Certain)
        }))
    });
    match judgement {
        Ok(judgement) => {
            if let Some(objection) = judgement.objection {
                let span = objection.span;
                assert!(
                    command.get(span.clone()).is_some(),
                    "{span:?} of {command:?}"
                );
            }
        }
        Err(panic) if !grammar_panicked() => resume_unwind(panic),
        Err(_) => {}
    }
    took
}
