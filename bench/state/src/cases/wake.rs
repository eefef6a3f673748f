//! From a commit, which is when its caller has the receipt, to the start of its handler, while nothing
//! else goes on. Between the two the worker commits its claim, so a wait for the disk is in it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use triplane_state::delivery::DeliveryIntent;

use crate::Asked;
use crate::child::{Child, now_us};
use crate::round::quantile;
use crate::row::{Bound, Durability, Row};
use crate::subject::{SINK, Seen, Unit, open, runtime};

pub(crate) const NAMES: [&str; 3] = [
    "wake, same process",
    "wake, other process",
    "idle watcher, CPU",
];

pub(crate) fn run(folder: &Path, durability: Durability, asked: Asked) -> anyhow::Result<Vec<Row>> {
    let count = if asked.quick { 20 } else { 200 };
    let same = same_process(&folder.join("same.db"), durability, count)?;
    let (other, idle_ms) = other_process(&folder.join("other.db"), durability, count, asked)?;
    let row = |case, mut times: Vec<f64>, goal, must| {
        let p50 = quantile(&mut times, 0.5);
        let p99 = quantile(&mut times, 0.99);
        Row {
            case,
            durability,
            unit: "p99_ms",
            value: p99,
            limit: None,
            ratio: p99,
            bound: Bound::AtMost(goal, must),
            more: vec![("p50_ms", json!((p50 * 1e3).round() / 1e3))],
        }
    };
    Ok(vec![
        row(NAMES[0], same, 10.0, 20.0),
        row(NAMES[1], other, 120.0, 200.0),
        Row {
            case: NAMES[2],
            durability,
            unit: "ms_per_s",
            value: idle_ms,
            limit: None,
            ratio: idle_ms,
            bound: Bound::None,
            more: Vec::new(),
        },
    ])
}

/// Gaps that no look that comes round regularly stays in step with.
fn gap(number: u64, shortest_ms: u64) -> Duration {
    Duration::from_millis(shortest_ms + number * 37 % 101)
}

fn same_process(path: &Path, durability: Durability, count: u64) -> anyhow::Result<Vec<f64>> {
    runtime()?.block_on(async {
        let store = open(path, durability).await?;
        let (told, mut heard) = mpsc::unbounded_channel();
        let sink = Seen(move |_intent: &DeliveryIntent| {
            told.send(now_us()).ok();
        });
        let worker = store.delivery().sink(SINK, Arc::new(sink));
        let (stop, stopped) = oneshot::channel::<()>();
        let watching = tokio::spawn(async move {
            worker
                .watch(async { stopped.await.unwrap_or(()) }, |_told| {})
                .await
        });
        let mut times = Vec::new();
        for number in 0..count {
            tokio::time::sleep(gap(number, 5)).await;
            Unit::Enqueue.commit(&store).await?;
            let committed_us = now_us();
            let started_us = heard.recv().await.context("the worker watches")?;
            times.push(millis(started_us - committed_us));
        }
        drop(stop);
        watching.await?;
        store.close().await?;
        Ok(times)
    })
}

/// Also how many milliseconds of processor time the idle watcher takes in a second.
fn other_process(
    path: &Path,
    durability: Durability,
    count: u64,
    asked: Asked,
) -> anyhow::Result<(Vec<f64>, f64)> {
    let runtime = runtime()?;
    let store = runtime.block_on(open(path, durability))?;
    runtime.block_on(Unit::Append(1).commit(&store))?;
    let mut child = Child::start("watch", path, durability, &[])?;
    let lines = child.output()?;
    let latest = Arc::new(AtomicI64::new(0));
    let (told, heard) = std::sync::mpsc::channel();
    let seen = Arc::clone(&latest);
    let reading = std::thread::spawn(move || {
        for line in BufReader::new(lines).lines().map_while(Result::ok) {
            seen.store(line.parse().unwrap_or_default(), Ordering::Relaxed);
            told.send(()).ok();
        }
    });
    // Its first line says that it watches.
    heard.recv()?;
    let idle = Duration::from_secs(if asked.quick { 1 } else { 5 });
    let before = child.processor_time()?;
    std::thread::sleep(idle);
    let spent = child.processor_time()?.saturating_sub(before);
    let mut times = Vec::new();
    for number in 0..count {
        std::thread::sleep(gap(number, 60));
        runtime.block_on(Unit::Enqueue.commit(&store))?;
        let committed_us = now_us();
        heard.recv()?;
        times.push(millis(latest.load(Ordering::Relaxed) - committed_us));
    }
    child.stop()?;
    reading
        .join()
        .ok()
        .context("the reader of the child's lines")?;
    runtime.block_on(store.close())?;
    Ok((times, spent.as_secs_f64() * 1e3 / idle.as_secs_f64()))
}

/// The worker may be faster than the caller, who is told at the same moment.
fn millis(us: i64) -> f64 {
    f64::from(i32::try_from(us.max(0)).unwrap_or(i32::MAX)) / 1e3
}
