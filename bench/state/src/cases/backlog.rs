//! Claims out of a long backlog, beside claims out of a short one.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::ensure;
use rusqlite::Connection;
use serde_json::json;

use crate::Asked;
use crate::round::{Turn, per_second, take_turns};
use crate::row::{Bound, Durability, Row};
use crate::subject::{SINK, Unit, no_op, open, runtime};

pub(crate) const NAMES: [&str; 1] = ["claim rate, long backlog"];

const SHORT: u32 = 1_000;
/// How many batches a turn claims: all but a part of the short backlog.
const BATCHES: u32 = 15;

pub(crate) fn run(folder: &Path, durability: Durability, asked: Asked) -> anyhow::Result<Vec<Row>> {
    let (rounds, long): (usize, u32) = if asked.quick {
        (2, 100_000)
    } else {
        (7, 1_000_000)
    };
    let runtime = runtime()?;
    let (long_path, short_path) = (folder.join("long.db"), folder.join("short.db"));
    for (path, rows) in [(&long_path, long), (&short_path, SHORT)] {
        runtime.block_on(async {
            let store = open(path, durability).await?;
            Unit::Append(1).commit(&store).await?;
            anyhow::Ok(store.close().await?)
        })?;
        fill(path, rows)?;
    }
    let long_store = runtime.block_on(open(&long_path, durability))?;
    let claim = |store: triplane_state::Store| {
        let worker = store.delivery().sink(SINK, no_op());
        runtime.block_on(runtime.spawn(async move {
            let (began, mut done) = (Instant::now(), 0);
            for _ in 0..BATCHES {
                done += worker.deliver_batch_once().await?.delivered;
            }
            ensure!(done == u64::from(BATCHES) * 64, "claimed {done}");
            Ok(per_second(u32::try_from(done)?, began.elapsed()))
        }))?
    };
    let copies = std::cell::Cell::new(0);
    let mut turns: Vec<Turn<'_>> = vec![
        Box::new(|| {
            copies.set(copies.get() + 1);
            let path: PathBuf = folder.join(format!("short-{}.db", copies.get()));
            std::fs::copy(&short_path, &path)?;
            let store = runtime.block_on(open(&path, durability))?;
            let rate = claim(store.clone())?;
            runtime.block_on(store.close())?;
            Ok(rate)
        }),
        Box::new(|| claim(long_store.clone())),
    ];
    let rates = take_turns(rounds, &mut turns)?;
    drop(turns);
    runtime.block_on(long_store.close())?;
    Ok(vec![Row {
        case: NAMES[0],
        durability,
        unit: "ops_per_s",
        value: rates.rate(1),
        limit: Some(("short", rates.rate(0))),
        ratio: rates.ratio(1, 0),
        bound: Bound::AtLeast(0.8, 0.6),
        more: vec![("due", json!(long)), ("due_limit", json!(SHORT))],
    }])
}

/// Puts `rows` due intents of the one signal into the store, in bulk and past the product.
fn fill(path: &Path, rows: u32) -> anyhow::Result<()> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch("BEGIN")?;
    connection.execute(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1) \
         INSERT INTO outbox (id, public_id, signal_id, sink, dedup_key, status, attempt, \
             next_attempt_at_us, created_at_us, updated_at_us) \
         SELECT n, printf('0190b0c4-0000-7000-8000-%012x', n), 1, ?2, printf('key-%d', n), \
             'pending', 0, n, n, n FROM number",
        (rows, SINK),
    )?;
    connection.execute(
        "INSERT INTO outbox_transition (outbox_id, ordinal, to_status, attempt, reason, at_us) \
         SELECT id, 1, 'pending', 0, 'dispatch.pending.enqueued', created_at_us FROM outbox",
        [],
    )?;
    connection.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE);")?;
    connection.close().map_err(|(_connection, error)| error)?;
    Ok(())
}
