//! Units from their callers to their receipts, beside one insert and a hundred per transaction.

use std::cell::RefCell;
use std::path::Path;
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

pub(crate) const NAMES: [&str; 6] = [
    "enqueue, 1 caller",
    "enqueue, 64 callers",
    "enqueue, 64 callers beside B",
    "append, 1 caller",
    "append, 64 callers",
    "append_many(100)",
];

/// How many callers there are where there are many.
const CALLERS: usize = 64;
/// How many signals one unit appends where it appends many.
const MANY: usize = 100;

pub(crate) fn run(folder: &Path, durability: Durability, asked: Asked) -> anyhow::Result<Vec<Row>> {
    let rounds = Rounds::of(asked);
    let runtime = runtime()?;
    let raw = RefCell::new(Raw::open(folder, durability)?);
    let path = |name: &str| folder.join(name);
    let enqueued = runtime.block_on(open(&path("enqueue.db"), durability))?;
    let appended = runtime.block_on(open(&path("append.db"), durability))?;
    let one = |store: &Store, unit| one_caller(&runtime, store, unit, rounds.turn);
    let many = |store: &Store, unit| many_callers(&runtime, store, unit, rounds.turn);
    let mut turns: Vec<Turn<'_>> = vec![
        Box::new(|| for_a_turn(rounds.turn, || raw.borrow_mut().single())),
        Box::new(|| one(&enqueued, Unit::Enqueue)),
        Box::new(|| one(&appended, Unit::Append(1))),
        Box::new(|| for_a_turn(rounds.turn, || raw.borrow_mut().batch())),
        Box::new(|| many(&enqueued, Unit::Enqueue)),
        Box::new(|| many(&appended, Unit::Append(1))),
        Box::new(|| one(&appended, Unit::Append(MANY))),
    ];
    let rates = take_turns(rounds.count, &mut turns)?;
    drop(turns);
    for store in [&enqueued, &appended] {
        runtime.block_on(store.close())?;
    }
    let row = |case, turn, limit, goal, must| Row {
        case,
        durability,
        unit: "ops_per_s",
        value: rates.rate(turn),
        limit: Some((if limit == 0 { "S" } else { "B" }, rates.rate(limit))),
        ratio: rates.ratio(turn, limit),
        bound: match durability {
            Durability::Full => Bound::AtLeast(goal, must),
            Durability::Normal => Bound::None,
        },
        more: Vec::new(),
    };
    Ok(vec![
        row(NAMES[0], 1, 0, 0.75, 0.55),
        row(NAMES[1], 4, 0, 12.0, 8.0),
        // The goal alone asks for this one.
        row(NAMES[2], 4, 3, 0.30, 0.0),
        row(NAMES[3], 2, 0, 0.65, 0.5),
        row(NAMES[4], 5, 3, 0.45, 0.3),
        row(NAMES[5], 6, 3, 0.65, 0.5),
    ])
}

/// One caller, who waits for each receipt. A unit counts as often as it has signals.
fn one_caller(runtime: &Runtime, store: &Store, unit: Unit, turn: Duration) -> anyhow::Result<f64> {
    let weight = match unit {
        Unit::Enqueue => 1,
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
