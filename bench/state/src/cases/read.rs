//! The log read forward in pages, beside a raw read of pages of the same size.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use crate::Asked;
use crate::raw::{PAGE, Raw};
use crate::round::{Rounds, Turn, per_second, take_turns};
use crate::row::{Bound, Durability, Row};
use crate::subject::{Unit, commit_many, open, runtime};

pub(crate) const NAMES: [&str; 1] = ["forward read, pages of 500"];

pub(crate) fn run(folder: &Path, durability: Durability, asked: Asked) -> anyhow::Result<Vec<Row>> {
    let rounds = Rounds::of(asked);
    let runtime = runtime()?;
    let raw = RefCell::new(Raw::open(folder, durability)?);
    let batches = if asked.quick { 50 } else { 300 };
    let store = runtime.block_on(open(&folder.join("log.db"), durability))?;
    for _ in 0..batches {
        raw.borrow_mut().batch()?;
    }
    // As a log grows: one operation for each signal.
    runtime.block_on(commit_many(&store, Unit::Append(1), batches * 100))?;
    let mut turns: Vec<Turn<'_>> = vec![
        Box::new(|| {
            let began = Instant::now();
            let rows = raw.borrow_mut().read()?;
            Ok(per_second(rows, began.elapsed()))
        }),
        Box::new(|| {
            let store = store.clone();
            runtime.block_on(runtime.spawn(async move {
                let began = Instant::now();
                let (mut after, mut rows) = (0, 0);
                loop {
                    let page = store.signals(None, after, u32::try_from(PAGE)?).await?;
                    let Some(last) = page.last() else {
                        return Ok(per_second(rows, began.elapsed()));
                    };
                    after = last.position;
                    rows += u32::try_from(page.len())?;
                }
            }))?
        }),
    ];
    let rates = take_turns(rounds.count, &mut turns)?;
    drop(turns);
    runtime.block_on(store.close())?;
    Ok(vec![Row {
        case: NAMES[0],
        durability,
        unit: "ops_per_s",
        value: rates.rate(1),
        limit: Some(("R", rates.rate(0))),
        ratio: rates.ratio(1, 0),
        bound: Bound::AtLeast(0.25, 0.18),
        more: Vec::new(),
    }])
}
