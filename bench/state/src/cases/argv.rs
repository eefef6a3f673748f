//! Deliveries to a command, beside spawning it and nothing else.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use anyhow::ensure;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use triplane_sinks::argv::ArgvSink;

use crate::Asked;
use crate::round::{Rounds, Turn, per_second, take_turns};
use crate::row::{Bound, Durability, Row};
use crate::subject::{PAYLOAD, SINK, Unit, commit_many, open, runtime};

pub(crate) const NAMES: [&str; 1] = ["argv delivery, 4 in flight"];

/// How many commands run at once.
const IN_FLIGHT: usize = 4;
/// A program that does nothing and reads nothing.
const PROGRAM: &str = "true";

pub(crate) fn run(folder: &Path, durability: Durability, asked: Asked) -> anyhow::Result<Vec<Row>> {
    let rounds = Rounds::of(asked);
    let count: u32 = if asked.quick { 128 } else { 512 };
    let runtime = runtime()?;
    let store = runtime.block_on(open(&folder.join("outbox.db"), durability))?;
    let worker = store.delivery().sink(
        SINK,
        Arc::new(ArgvSink::new([PROGRAM])?.in_flight_max(IN_FLIGHT)),
    );
    let mut turns: Vec<Turn<'_>> = vec![
        Box::new(|| {
            runtime.block_on(runtime.spawn(async move {
                let began = Instant::now();
                stream::iter(0..count)
                    .map(|_number| tokio::spawn(spawn_piped()))
                    .buffer_unordered(IN_FLIGHT)
                    .try_for_each(|ended| async {
                        ended.expect("runs");
                        Ok(())
                    })
                    .await?;
                Ok(per_second(count, began.elapsed()))
            }))?
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
        limit: Some(("F", rates.rate(0))),
        ratio: rates.ratio(1, 0),
        bound: Bound::AtLeast(0.80, 0.65),
        more: Vec::new(),
    }])
}

/// `F`: three pipes, a process group, the payload in, nothing out.
async fn spawn_piped() -> anyhow::Result<()> {
    let mut child = Command::new(PROGRAM)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A program that reads nothing may be gone already.
        input.write_all(PAYLOAD.as_bytes()).await.ok();
    }
    let output = child.wait_with_output().await?;
    ensure!(output.status.success(), "{PROGRAM} failed");
    Ok(())
}
