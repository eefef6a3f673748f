//! Deliveries to a sink that does nothing, beside claiming and finishing rows of a minimal schema.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use anyhow::ensure;

use crate::Asked;
use crate::raw::Raw;
use crate::round::{Rounds, Turn, per_second, take_turns};
use crate::row::{Bound, Durability, Row};
use crate::subject::{SINK, Unit, commit_many, no_op, open, runtime};

pub(crate) const NAMES: [&str; 1] = ["deliver, no-op sink"];

pub(crate) fn run(folder: &Path, durability: Durability, asked: Asked) -> anyhow::Result<Vec<Row>> {
    let rounds = Rounds::of(asked);
    let count: u32 = if asked.quick { 1_024 } else { 8_192 };
    let runtime = runtime()?;
    let raw = RefCell::new(Raw::open(folder, durability)?);
    let store = runtime.block_on(open(&folder.join("outbox.db"), durability))?;
    let worker = store.delivery().sink(SINK, no_op());
    let mut turns: Vec<Turn<'_>> = vec![
        Box::new(|| {
            let mut raw = raw.borrow_mut();
            raw.fill(count)?;
            let (began, mut done) = (Instant::now(), 0);
            while done < count {
                done += raw.deliver()?;
            }
            Ok(per_second(done, began.elapsed()))
        }),
        Box::new(|| {
            runtime.block_on(commit_many(&store, Unit::Enqueue, count as usize))?;
            let worker = worker.clone();
            runtime.block_on(runtime.spawn(async move {
                let began = Instant::now();
                let tally = worker.deliver_due().await?;
                ensure!(tally.delivered == u64::from(count), "not all: {tally:?}");
                Ok(per_second(count, began.elapsed()))
            }))?
        }),
    ];
    let rates = take_turns(rounds.count.min(9), &mut turns)?;
    drop(turns);
    runtime.block_on(store.close())?;
    Ok(vec![Row {
        case: NAMES[0],
        durability,
        unit: "ops_per_s",
        value: rates.rate(1),
        limit: Some(("L", rates.rate(0))),
        ratio: rates.ratio(1, 0),
        bound: match durability {
            Durability::Full => Bound::AtLeast(0.45, 0.25),
            Durability::Normal => Bound::None,
        },
        more: Vec::new(),
    }])
}
