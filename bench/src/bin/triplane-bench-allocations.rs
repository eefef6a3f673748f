//! Counts allocations, and prints one JSON object a line: `case`, `n`, `allocs`.

use std::alloc::System;
use std::io::{self, Write};

use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use triplane_bench::GROUPS;
use triplane_bench::measure::Subject;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for group in GROUPS {
        for mut case in group() {
            // Once for what is built on first use.
            (case.subject)(1);
            // What a run allocates besides its iterations cancels out.
            let allocs = count(&mut case.subject, 2) - count(&mut case.subject, 1);
            writeln!(
                out,
                "{}",
                json!({ "case": case.name, "n": case.n, "allocs": allocs })
            )?;
        }
    }
    Ok(())
}

fn count(subject: &mut Subject, iterations: u64) -> usize {
    let region = Region::new(ALLOCATOR);
    subject(iterations);
    region.change().allocations
}
