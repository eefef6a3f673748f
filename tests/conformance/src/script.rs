//! The script of a scenario, carried out on a runtime with a paused clock.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value as Json, json};
use tokio::time::{sleep, timeout};
use triplane::legacy::Value;

use crate::adapter;
use crate::alteration::Alteration;
use crate::fields::Fields as _;
use crate::log::Log;
use crate::operation::{Adapter, perform};
use crate::run::{Run, Task};

/// How long a scenario may take, on its own clock: far longer than any script waits. What is left without
/// an end, time alone would never stop.
const LONGEST: Duration = Duration::from_hours(24);

/// Runs a scenario, under an altered policy if there is one, and returns its trace.
///
/// # Errors
///
/// When the scenario is none, or does not end.
pub(crate) fn trace(scenario: &Value, altered: Option<Arc<Alteration>>) -> anyhow::Result<Json> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    let (events, state) = runtime.block_on(async {
        let run = Arc::new(Run::new(scenario.clone(), altered));
        let adapter = adapter::of(&run)?;
        let log = Log {
            run: Arc::clone(&run),
        };
        let _guard = tracing::subscriber::set_default(log);
        timeout(LONGEST, script(&run, &adapter))
            .await
            .context("the run does not end")??;
        let last = adapter.last_state();
        anyhow::Ok((run.stop(), last))
    })?;
    runtime.shutdown_background();
    Ok(json!({
        "scenario": scenario.text("id"),
        "profile": scenario.text("profile"),
        "events": events,
        "final": state,
    }))
}

async fn script(run: &Arc<Run>, adapter: &Arc<dyn Adapter>) -> anyhow::Result<()> {
    let mut background = HashMap::new();
    for (index, op) in run.scenario().list("script").iter().enumerate() {
        let name = op.text("op");
        let outcome = match name {
            "sleep_ms" => {
                sleep(millis(op, "ms")).await;
                continue;
            }
            "spawn" => {
                let done = op.field("do").cloned().unwrap_or_default();
                let task = run.task(op.text("as"));
                let running = operate(Arc::clone(run), Arc::clone(adapter), done, task);
                background.insert(op.text("as").to_owned(), tokio::spawn(running));
                tokio::task::yield_now().await;
                continue;
            }
            "cancel" => {
                if let Some(task) = run.named(op.text("task")) {
                    task.cancel();
                }
                continue;
            }
            "join" => match background.remove(op.text("task")) {
                Some(running) => running.await?,
                None => anyhow::bail!("nothing was spawned as `{}`", op.text("task")),
            },
            _ => {
                let task = run.task("");
                operate(Arc::clone(run), Arc::clone(adapter), op.clone(), task).await
            }
        };
        run.record(json!({"ev": "op", "i": index, "op": name, "outcome": outcome}));
    }
    Ok(())
}

/// Performs one operation and describes what it came to.
async fn operate(run: Arc<Run>, adapter: Arc<dyn Adapter>, op: Value, task: Task) -> Json {
    let timer = op.field("cancel_emitter_after_ms").is_some();
    let mut timer = pin!(timer.then(|| sleep(millis(&op, "cancel_emitter_after_ms"))));
    let mut work = pin!(perform(&run, &*adapter, &op, &task.scope));
    let result = poll_fn(|cx| {
        if let Some(sleep) = timer.as_mut().as_pin_mut()
            && sleep.poll(cx).is_ready()
        {
            timer.set(None);
            task.cancel();
        }
        work.as_mut().poll(cx)
    })
    .await;
    task.end();
    match result {
        Ok(value) => json!({"returned": value}),
        Err(fault) if fault.from_outside && task.was_requested() => {
            json!({"emitter_cancelled": true})
        }
        Err(fault) => json!({"raised": fault.described}),
    }
}

fn millis(op: &Value, name: &str) -> Duration {
    Duration::from_millis(op.number(name).unwrap_or(0))
}
