//! Units from their callers to their receipts, beside one insert and a hundred per transaction.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use tokio::runtime::Runtime;
use triplane_state::Store;

use crate::Asked;
use crate::raw::Raw;
use crate::round::{Rounds, Turn, for_a_turn, per_second, take_turns};
use crate::row::{Bound, Durability, Row};
use crate::subject::{Unit, open, runtime};

pub(crate) const NAMES: [&str; 8] = [
    "enqueue, 1 caller",
    "enqueue, 64 callers",
    "enqueue, 64 callers beside B",
    "enqueue with evidence, 1 caller",
    "enqueue with evidence, 64 callers",
    "append, 1 caller",
    "append, 64 callers",
    "append_many(100)",
];

/// How many callers there are where there are many.
const CALLERS: usize = 64;
/// How many signals one unit appends where it appends many.
const MANY: usize = 100;

/// What is measured, in a store of its own each.
const SUBJECTS: [(Unit, Callers); 7] = [
    (Unit::Enqueue, Callers::One),
    (Unit::Enqueue, Callers::Many),
    (Unit::EnqueueJudged, Callers::One),
    (Unit::EnqueueJudged, Callers::Many),
    (Unit::Append(1), Callers::One),
    (Unit::Append(1), Callers::Many),
    (Unit::Append(MANY), Callers::One),
];

#[derive(Debug, Clone, Copy)]
enum Callers {
    One,
    Many,
}

/// The limits, by their turns.
#[derive(Debug, Clone, Copy)]
enum Limit {
    S,
    B,
}

pub(crate) fn run(folder: &Path, durability: Durability, asked: Asked) -> anyhow::Result<Vec<Row>> {
    let rounds = Rounds::of(asked);
    let runtime = runtime()?;
    // A file each: nobody empties the log that another one has filled.
    let files = Cell::new(0_u32);
    let file = || -> anyhow::Result<PathBuf> {
        files.set(files.get() + 1);
        let own = folder.join(files.get().to_string());
        std::fs::create_dir(&own)?;
        Ok(own)
    };
    let mut stores = Vec::new();
    for _subject in SUBJECTS {
        let path = file()?.join("store.db");
        stores.push(runtime.block_on(open(&path, durability))?);
    }
    let (mut single, mut batch) = (
        Raw::open(&file()?, durability)?,
        Raw::open(&file()?, durability)?,
    );
    let mut turns: Vec<Turn<'_>> = vec![
        Box::new(|| for_a_turn(rounds.turn, || single.single())),
        Box::new(|| for_a_turn(rounds.turn, || batch.batch())),
    ];
    for ((unit, callers), store) in SUBJECTS.into_iter().zip(&stores) {
        let runtime = &runtime;
        turns.push(Box::new(move || match callers {
            Callers::One => one_caller(runtime, store, unit, rounds.turn),
            Callers::Many => many_callers(runtime, store, unit, rounds.turn),
        }));
    }
    let rates = take_turns(rounds.count, &mut turns)?;
    drop(turns);
    for store in &stores {
        runtime.block_on(store.close())?;
    }
    let row = |case, subject: usize, limit, bound| {
        let (turn, limit) = (subject + 2, limit as usize);
        Row {
            case,
            durability,
            unit: "ops_per_s",
            value: rates.rate(turn),
            limit: Some((["S", "B"][limit], rates.rate(limit))),
            ratio: rates.ratio(turn, limit),
            bound: match durability {
                Durability::Full => bound,
                Durability::Normal => Bound::None,
            },
            more: Vec::new(),
        }
    };
    Ok(vec![
        row(NAMES[0], 0, Limit::S, Bound::AtLeast(0.75, 0.55)),
        row(NAMES[1], 1, Limit::S, Bound::AtLeast(12.0, 8.0)),
        // The goal alone asks for this one.
        row(NAMES[2], 1, Limit::B, Bound::AtLeast(0.30, 0.0)),
        row(NAMES[3], 2, Limit::S, Bound::None),
        row(NAMES[4], 3, Limit::S, Bound::None),
        row(NAMES[5], 4, Limit::S, Bound::AtLeast(0.65, 0.5)),
        row(NAMES[6], 5, Limit::B, Bound::AtLeast(0.45, 0.3)),
        row(NAMES[7], 6, Limit::B, Bound::AtLeast(0.65, 0.5)),
    ])
}

/// One caller, who waits for each receipt. A unit counts as often as it has signals.
fn one_caller(runtime: &Runtime, store: &Store, unit: Unit, turn: Duration) -> anyhow::Result<f64> {
    let weight = match unit {
        Unit::Enqueue | Unit::EnqueueJudged => 1,
        Unit::Append(signals) => u32::try_from(signals)?,
    };
    let store = store.clone();
    // As a task: a future that is blocked on has a thread to itself, which no caller has.
    runtime.block_on(runtime.spawn(async move {
        let (began, mut done) = (Instant::now(), 0);
        while began.elapsed() < turn {
            unit.commit(&store).await?;
            done += weight;
        }
        Ok(per_second(done, began.elapsed()))
    }))?
}

/// Many callers, each of whom waits for its receipts.
fn many_callers(
    runtime: &Runtime,
    store: &Store,
    unit: Unit,
    turn: Duration,
) -> anyhow::Result<f64> {
    runtime.block_on(async {
        let (began, done) = (Instant::now(), Arc::new(AtomicU32::new(0)));
        let callers = (0..CALLERS).map(|_caller| {
            let (store, done) = (store.clone(), Arc::clone(&done));
            tokio::spawn(async move {
                while began.elapsed() < turn {
                    unit.commit(&store).await?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                anyhow::Ok(())
            })
        });
        for ended in try_join_all(callers).await? {
            ended?;
        }
        Ok(per_second(done.load(Ordering::Relaxed), began.elapsed()))
    })
}
