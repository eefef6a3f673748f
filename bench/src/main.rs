//! Measures time, and prints one line for each case.
//!
//! ```text
//! cargo build --release -p triplane-bench && target/release/triplane-bench --json
//! ```
//!
//! One JSON object a line: `case`, `n` (handlers), `ns` and `limit_ns` (tenth percentiles of rounds in
//! which all cases take turns: what is left of a shared machine's noise), `ratio` of the two, `goal`
//! and `must` (the ratios wished for and required, with goals of the form a + b x limit worked out at
//! this limit), `allocs` (allocations of one dispatch, of the other program beside this one; `null`
//! when it is not there). Without `--json` a table. Another argument keeps the cases whose name holds it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::process::Command;

use serde_json::Value;
use triplane_bench::GROUPS;
use triplane_bench::measure::measure;

fn main() -> io::Result<()> {
    let (mut json, mut wanted) = (false, String::new());
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--json" => json = true,
            _ => wanted = argument,
        }
    }
    let allocations = allocations().unwrap_or_default();
    let mut out = io::stdout().lock();
    if !json {
        let heads = ["n", "ns", "limit", "ratio", "goal", "must", "allocs"];
        write!(out, "{:<52}", "case")?;
        for head in heads {
            write!(out, " {head:>9}")?;
        }
        writeln!(out)?;
    }
    for group in GROUPS {
        let cases = group()
            .into_iter()
            .filter(|case| case.name.contains(&wanted));
        for row in measure(cases.collect()) {
            let allocs = allocations.get(&(row.case.to_owned(), row.n)).copied();
            if json {
                writeln!(out, "{}", row.json(allocs))?;
                continue;
            }
            let allocs = allocs.map_or_else(|| "-".to_owned(), |count| count.to_string());
            writeln!(
                out,
                "{:<52} {:>9} {:>9.1} {:>9.1} {:>9.2} {:>9.2} {:>9.2} {allocs:>9}",
                row.case, row.n, row.ns, row.limit_ns, row.ratio, row.goal, row.must
            )?;
        }
    }
    Ok(())
}

/// What the other program counts, by case and number of handlers.
fn allocations() -> Option<HashMap<(String, usize), u64>> {
    let program = std::env::current_exe()
        .ok()?
        .with_file_name("triplane-bench-allocations");
    let output = Command::new(program).output().ok()?;
    let lines = String::from_utf8(output.stdout).ok()?;
    let counted = lines.lines().filter_map(|line| {
        let row: Value = serde_json::from_str(line).ok()?;
        let n = usize::try_from(row["n"].as_u64()?).ok()?;
        Some((
            (row["case"].as_str()?.to_owned(), n),
            row["allocs"].as_u64()?,
        ))
    });
    Some(counted.collect())
}
