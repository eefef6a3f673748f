//! One execution of one scenario: the script, and what is recorded of it.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::time::{Instant, sleep};
use triplane::legacy::Value;
use triplane_kernel::{CancelCause, Scope};

use crate::adapter::{self, Adapter, Outcome};
use crate::json::Fields as _;
use crate::log::Log;
use crate::turns;

/// Events are recorded from the runtime's thread and from those that take turns with it.
pub(crate) struct Run {
    scenario: Value,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    events: Vec<Json>,
    recording: bool,
    /// Names that a line of the log may give, and what the trace calls each: a handler that is registered
    /// under another name is called by its own.
    names: HashMap<String, String>,
    /// The event that an adapter logged last, by its place.
    said_at: Option<usize>,
    tasks: HashMap<String, Task>,
}

/// An operation that can be cancelled by name.
#[derive(Clone)]
struct Task {
    scope: Scope,
    requested: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
}

impl Task {
    fn cancel(&self) {
        if !self.done.load(Ordering::Relaxed) {
            self.requested.store(true, Ordering::Relaxed);
            self.scope.cancel_once(CancelCause::Emitter);
        }
    }
}

/// Runs a scenario and returns its trace.
pub(crate) fn trace(scenario: &Value) -> anyhow::Result<Json> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    let (events, state) = runtime.block_on(async {
        let run = Arc::new(Run::new(scenario.clone()));
        let adapter = adapter::of(&run)?;
        let log = Log {
            run: Arc::clone(&run),
        };
        let _guard = tracing::subscriber::set_default(log);
        script(&run, &adapter).await?;
        let last = adapter.last_state();
        let mut state = run.state();
        state.recording = false;
        anyhow::Ok((std::mem::take(&mut state.events), last))
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
    for (index, op) in run.scenario.list("script").iter().enumerate() {
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
                let task = run.state().tasks.get(op.text("task")).cloned();
                if let Some(task) = task {
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
    task.done.store(true, Ordering::Relaxed);
    match result {
        Ok(value) => json!({"returned": value}),
        Err(fault) if fault.from_outside && task.requested.load(Ordering::Relaxed) => {
            json!({"emitter_cancelled": true})
        }
        Err(fault) => json!({"raised": fault.described}),
    }
}

/// Performs an operation of the script or of a handler.
pub(crate) async fn perform(
    run: &Arc<Run>,
    adapter: &dyn Adapter,
    op: &Value,
    scope: &Scope,
) -> Outcome {
    match adapter.at_once(run, op) {
        Some(outcome) => outcome,
        None => adapter.awaited(run, op, scope).await,
    }
}

fn millis(op: &Value, name: &str) -> Duration {
    Duration::from_millis(op.number(name).unwrap_or(0))
}

impl Run {
    fn new(scenario: Value) -> Self {
        let handlers = scenario.field("handlers").cloned().unwrap_or_default();
        let names = handlers
            .fields()
            .iter()
            .map(|(name, _)| (name.clone(), name.clone()));
        let names = names.collect();
        Self {
            scenario,
            started: Instant::now(),
            state: Mutex::new(State {
                events: Vec::new(),
                recording: true,
                names,
                said_at: None,
                tasks: HashMap::new(),
            }),
        }
    }

    pub(crate) fn scenario(&self) -> &Value {
        &self.scenario
    }

    /// How a handler is written.
    pub(crate) fn spec(&self, handler: &str) -> Value {
        let handlers = self.scenario.field("handlers");
        handlers
            .and_then(|all| all.field(handler))
            .cloned()
            .unwrap_or_default()
    }

    /// Records an event at this moment.
    pub(crate) fn record(&self, mut event: Json) {
        let mut state = self.state();
        if !state.recording {
            return;
        }
        let elapsed = turns::now().duration_since(self.started).as_millis();
        event["t"] = json!(u64::try_from(elapsed).unwrap_or(u64::MAX));
        state.events.push(event);
    }

    /// What the trace calls what a line of the log names.
    pub(crate) fn called(&self, name: &str) -> Option<String> {
        self.state().names.get(name).cloned()
    }

    /// Names something that a line of the log may be about.
    pub(crate) fn add_name(&self, name: &str, called: &str) {
        self.state()
            .names
            .insert(name.to_owned(), called.to_owned());
    }

    pub(crate) fn note_said(&self, by_adapter: bool) {
        let mut state = self.state();
        state.said_at = by_adapter.then(|| state.events.len());
    }

    /// Whether the last event is an adapter's line about this handler.
    pub(crate) fn last_said_by_adapter(&self, handler: Option<&str>) -> bool {
        let state = self.state();
        let last = state.events.last();
        state.said_at == Some(state.events.len())
            && last.is_some_and(|event| event["handler"].as_str() == handler)
    }

    fn task(&self, name: &str) -> Task {
        let task = Task {
            scope: Scope::new(),
            requested: Arc::default(),
            done: Arc::default(),
        };
        if !name.is_empty() {
            self.state().tasks.insert(name.to_owned(), task.clone());
        }
        task
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
