//! One execution of one scenario: what is recorded of it, and its operations that can be cancelled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use serde_json::{Value as Json, json};
use tokio::time::Instant;
use triplane::legacy::Value;
use triplane_kernel::{CancelCause, Scope};

use crate::alteration::Alteration;
use crate::fields::Fields as _;
use crate::turns;

/// Events are recorded from the runtime's thread and from those that take turns with it.
pub(crate) struct Run {
    scenario: Value,
    altered: Option<Arc<Alteration>>,
    started: Instant,
    thread: ThreadId,
    state: Mutex<State>,
}

struct State {
    events: Vec<Json>,
    recording: bool,
    /// Names that a line of the log may give, and what the trace calls each: a handler that is registered
    /// under another name is called by its own.
    names: HashMap<String, Vec<String>>,
    /// The event that an adapter logged last, by its place.
    said_at: Option<usize>,
    tasks: HashMap<String, Task>,
    /// Whose error the last failure of each handler was; nobody's, when no handler made it.
    blamed: HashMap<String, Blame>,
    /// Counts the failures.
    turn: u64,
    /// The same of the last failure of all.
    last_blamed: Option<String>,
}

/// One failure of a handler.
struct Blame {
    /// Which failure of the run it was.
    turn: u64,
    /// Whose error it was.
    whom: Option<String>,
}

/// An operation that can be cancelled by name.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) scope: Scope,
    requested: Arc<AtomicBool>,
    done: Arc<AtomicBool>,
}

impl Task {
    pub(crate) fn cancel(&self) {
        if !self.done.load(Ordering::Relaxed) {
            self.requested.store(true, Ordering::Relaxed);
            self.scope.cancel_once(CancelCause::Emitter);
        }
    }

    pub(crate) fn was_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.done.store(true, Ordering::Relaxed);
    }
}

impl Run {
    pub(crate) fn new(scenario: Value, altered: Option<Arc<Alteration>>) -> Self {
        let handlers = scenario.field("handlers").cloned().unwrap_or_default();
        let names = handlers
            .fields()
            .iter()
            .map(|(name, _)| (name.clone(), vec![name.clone()]));
        let names = names.collect();
        Self {
            scenario,
            altered,
            started: Instant::now(),
            thread: thread::current().id(),
            state: Mutex::new(State {
                events: Vec::new(),
                recording: true,
                names,
                said_at: None,
                tasks: HashMap::new(),
                blamed: HashMap::new(),
                turn: 0,
                last_blamed: None,
            }),
        }
    }

    pub(crate) fn scenario(&self) -> &Value {
        &self.scenario
    }

    /// How the profile is altered, if it is.
    pub(crate) fn altered(&self) -> Option<&Alteration> {
        self.altered.as_deref()
    }

    /// Whether this thread is not the runtime's.
    pub(crate) fn is_elsewhere(&self) -> bool {
        thread::current().id() != self.thread
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
    ///
    /// A name that was given to several is that of whoever failed last: one that took it over, or that
    /// took it back while the other ran, may not have been called yet.
    pub(crate) fn called(&self, name: &str) -> Option<String> {
        let state = self.state();
        let called = state.names.get(name)?;
        let failed = called
            .iter()
            .filter_map(|handler| Some((state.blamed.get(handler)?.turn, handler)))
            .max();
        failed
            .map(|(_, handler)| handler)
            .or(called.last())
            .cloned()
    }

    /// Notes whose error it is that a handler fails with.
    pub(crate) fn blame(&self, handler: &str, whom: Option<String>) {
        let mut state = self.state();
        state.last_blamed.clone_from(&whom);
        state.turn += 1;
        let turn = state.turn;
        state
            .blamed
            .insert(handler.to_owned(), Blame { turn, whom });
    }

    /// Whose error the last failure was.
    pub(crate) fn last_blamed(&self) -> Option<String> {
        self.state().last_blamed.clone()
    }

    /// Whom a line about this handler's failure names: whoever made the error. The old terminal
    /// callbacks name the handler, too, and are heard when nobody made the error.
    pub(crate) fn blamed(&self, handler: String) -> Option<String> {
        let whom = self
            .state()
            .blamed
            .get(&handler)
            .map(|blame| blame.whom.clone());
        match whom {
            Some(None) if self.scenario.text("profile") != "terminal_callbacks" => None,
            Some(Some(whom)) => Some(whom),
            Some(None) | None => Some(handler),
        }
    }

    /// Names something that a line of the log may be about.
    pub(crate) fn add_name(&self, name: &str, called: &str) {
        let mut state = self.state();
        let names = state.names.entry(name.to_owned()).or_default();
        names.retain(|given| given != called);
        names.push(called.to_owned());
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

    pub(crate) fn task(&self, name: &str) -> Task {
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

    /// The task of this name.
    pub(crate) fn named(&self, task: &str) -> Option<Task> {
        self.state().tasks.get(task).cloned()
    }

    /// Records nothing further, and returns what was recorded.
    pub(crate) fn stop(&self) -> Vec<Json> {
        let mut state = self.state();
        state.recording = false;
        std::mem::take(&mut state.events)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
