//! A step of the run: its heading, its time, its end.

use std::time::{Duration, Instant};

use crate::ci::Extent;
use crate::ci::command::Shop;

/// One check with a name.
#[derive(Debug)]
pub(crate) struct Step {
    name: &'static str,
    /// [`Extent::Fast`] when it belongs to the quick half.
    pub(crate) extent: Extent,
    action: fn(&mut Shop<'_>) -> anyhow::Result<Outcome>,
}

/// How a check ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Checked, and fine.
    Passed,
    /// Not checked; the notes say why.
    Skipped,
}

/// A step that is over.
#[derive(Debug)]
pub(crate) struct Ended {
    name: &'static str,
    took: Duration,
    result: Result<Outcome, String>,
}

impl Step {
    pub(crate) const fn new(
        name: &'static str,
        extent: Extent,
        action: fn(&mut Shop<'_>) -> anyhow::Result<Outcome>,
    ) -> Self {
        Self {
            name,
            extent,
            action,
        }
    }

    /// Runs the step under its heading.
    pub(crate) fn run(&self, shop: &mut Shop<'_>) -> Ended {
        println!("\n== {} ==", self.name);
        let started = Instant::now();
        let result = (self.action)(shop).map_err(|error| format!("{error:#}"));
        let ended = Ended {
            name: self.name,
            took: started.elapsed(),
            result,
        };
        println!("== {} ==", ended.line());
        ended
    }
}

impl Ended {
    /// Whether the step did not fail.
    pub(crate) fn is_ok(&self) -> bool {
        self.result.is_ok()
    }

    fn line(&self) -> String {
        let end = match &self.result {
            Ok(Outcome::Passed) => "ok",
            Ok(Outcome::Skipped) => "skipped",
            Err(error) => error,
        };
        format!("{:<12} {:>9}  {end}", self.name, seconds(self.took))
    }
}

/// Prints how each step ended, the notes, and the whole.
pub(crate) fn print_table(ended: &[Ended], notes: &[String], took: Duration, extent: Extent) {
    println!("\n{:<12} {:>9}  end", "step", "time");
    for step in ended {
        println!("{}", step.line());
    }
    for note in notes {
        println!("note: {note}");
    }
    if extent == Extent::Fast {
        println!("note: --fast leaves the other steps of `cargo xtask ci` out");
    }
    let failed = ended.iter().filter(|step| !step.is_ok()).count();
    let verdict = match failed {
        0 => "all ok".to_owned(),
        failed => format!("{failed} FAILED"),
    };
    println!("{} steps in {}: {verdict}", ended.len(), seconds(took));
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
