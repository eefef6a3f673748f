//! The store beside raw limits, in one run on one file system.
//!
//! ```text
//! cargo xtask bench state [--json] [--quick] [CASE]
//! ```
//!
//! Limits are raw SQLite through rusqlite on one held connection with prepared statements: `S` is one
//! insert per transaction, `B` is 100 rows per transaction, `L` claims and finishes 64 rows per pair of
//! transactions, `R` reads pages of 500 rows; the spawn floor `F` is tokio's process with three pipes.
//! A limit and what stands beside it take turns in short rounds, so that what else the machine does
//! hits both; a ratio is the median over the rounds of the ratio within each. FULL and NORMAL are two
//! runs with limits of their own.
//!
//! One line a case: a JSON object with `--json`, else a row of a table. Ends with 1 when a case misses
//! what it must hold. A word keeps the cases whose name holds it.

mod round;
mod row;
mod subject;
mod raw;
mod child;
mod cases;

use std::process::ExitCode;

use crate::cases::CASES;
use crate::row::{Durability, Printer};

/// What was asked for.
#[derive(Debug, Clone, Copy)]
struct Asked {
    /// Shorter rounds and smaller stores: whether it runs, and about what comes out.
    quick: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("child", rest)) = arguments
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        child::run(rest)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (mut json, mut quick, mut wanted) = (false, false, String::new());
    for argument in arguments {
        match argument.as_str() {
            "--json" => json = true,
            "--quick" => quick = true,
            option if option.starts_with('-') => {
                return Ok(wrong_input(&format!("unknown option {option}")));
            }
            _ => wanted = argument,
        }
    }
    let mut printer = Printer::new(json, wanted);
    if !CASES
        .iter()
        .any(|(names, _)| names.iter().any(|name| printer.wants(name)))
    {
        return Ok(wrong_input("no case has that in its name"));
    }
    // Where the project is built, not where temporary files go: those may be on memory.
    let folder = tempfile::Builder::new()
        .prefix("bench-state-")
        .tempdir_in(std::env::current_dir()?)?;
    let asked = Asked { quick };
    for durability in [Durability::Full, Durability::Normal] {
        for (names, case) in CASES {
            if !names.iter().any(|name| printer.wants(name)) {
                continue;
            }
            say(&format!("{} ({})", names.join(", "), durability.name()));
            let folder = tempfile::tempdir_in(folder.path())?;
            for row in case(folder.path(), durability, asked)? {
                printer.print(&row)?;
            }
        }
    }
    folder.close()?;
    Ok(if printer.holds() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn wrong_input(what: &str) -> ExitCode {
    say(&format!("{what}: bench state [--json] [--quick] [CASE]"));
    ExitCode::from(2)
}

#[expect(clippy::print_stderr, reason = "progress and what was wrong")]
fn say(what: &str) {
    eprintln!("bench state: {what}");
}
