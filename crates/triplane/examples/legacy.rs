//! The old names at work: a bus with a guard, an observer with a filter, the bus of a scheduler, and a
//! callback for the end of a run.

use std::error::Error;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use triplane::legacy::{
    Callback, Comparison, Condition, Correlation, EntityRef, Hook, HookBus, HookPoint,
    RunTerminalEnvelope, SchedulerSignalBus, SessionObserver, TerminalCallbackRegistry,
    TerminalFilter, Value, schedule_run_signal,
};
use triplane::{HandlerFailure, Scope, SignalClass};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let lines = run().await?;
    let mut out = io::stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What the handlers have to say, in order.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, line: String) {
        self.0.lock().expect("no panic holds the lock").push(line);
    }
}

pub(crate) async fn run() -> Result<Vec<String>, Box<dyn Error>> {
    let (notes, scope) = (Notes::default(), Scope::new());
    hooks(&notes, &scope).await?;
    scheduler(&notes, &scope).await?;
    terminal(&notes, &scope).await?;
    let lines = notes.0.lock().expect("no panic holds the lock").clone();
    Ok(lines)
}

/// A guard denies, and an observer hears of the denial.
async fn hooks(notes: &Notes, scope: &Scope) -> Result<(), Box<dyn Error>> {
    let observer = Arc::new(SessionObserver::new());
    let heard = notes.clone();
    let watch = Callback::sync("watch", move |signal: &Value| {
        let exception = signal.at("kwargs.exception").cloned().unwrap_or_default();
        heard.add(format!("recorded: {}", exception.to_json()));
        Ok(Value::Null)
    })?;
    let points = Condition::of_type(SignalClass::HookSignal);
    observer.observe(vec![points], None, &watch)?;
    let heard = notes.clone();
    let large = Callback::sync("large", move |payload: &Value| {
        heard.add(format!("large: {}", payload.to_json()));
        Ok(Value::Null)
    })?;
    observer.observe(
        vec![Condition::field("bytes", Comparison::Greater, 100)],
        None,
        &large,
    )?;

    let bus = HookBus::new(Some(Arc::clone(&observer)));
    let guard = Hook::sync("guard", |call| {
        let names_rm = call
            .arguments
            .iter()
            .any(|(_, value)| value.equals(&"rm".into()));
        if names_rm {
            Err(HandlerFailure::failed("rm is not allowed"))
        } else {
            Ok(Value::Null)
        }
    })?;
    bus.on(HookPoint::ToolPre, &guard);
    for tool in ["ls", "rm"] {
        let arguments = vec![("tool".to_owned(), Value::text(tool))];
        match bus.emit(HookPoint::ToolPre, arguments, scope).await {
            Ok(()) => notes.add(format!("{tool}: allowed")),
            Err(denied) => notes.add(format!("{tool}: {denied}")),
        }
    }
    for bytes in [7, 700] {
        observer
            .emit(vec![("bytes".to_owned(), Value::Integer(bytes))], scope)
            .await?;
    }
    notes.add(format!("stored: {} signals", observer.stored().len()));
    Ok(())
}

/// Failures of all handlers come together, and the run is counted.
async fn scheduler(notes: &Notes, scope: &Scope) -> Result<(), Box<dyn Error>> {
    let bus = SchedulerSignalBus::new();
    let retry = Callback::sync("retry", |_| Ok(Value::Bool(true)))?;
    let page = Callback::sync("page", |_| Err(HandlerFailure::failed("nobody is on call")))?;
    bus.observe(vec![SignalClass::ScheduleRunFailed], Vec::new(), &retry);
    bus.observe(vec![SignalClass::ScheduleRunFailed], Vec::new(), &page);
    let signal = schedule_run_signal("run-1", "timed_out", "deadline")?;
    if let Err(error) = bus.emit(Arc::new(signal), scope).await {
        notes.add(format!("scheduler: {error}"));
    }
    if let Some(run) = bus.pop_run_counters("run-1") {
        notes.add(format!(
            "received {}, acted on {}",
            run.received, run.acted_on
        ));
    }
    Ok(())
}

/// A callback that only hears of sessions.
async fn terminal(notes: &Notes, scope: &Scope) -> Result<(), Box<dyn Error>> {
    let registry = TerminalCallbackRegistry::new(triplane::TERMINAL_BUDGET);
    let heard = notes.clone();
    let ended = Callback::asynchronous("ended", move |run: &RunTerminalEnvelope, _| {
        let heard = heard.clone();
        Box::pin(async move {
            heard.add(format!(
                "{} {}: {}",
                run.entity.kind, run.entity.id, run.terminal_status
            ));
            Ok(Value::Null)
        })
    })?;
    let sessions = TerminalFilter {
        kinds: Some(vec!["session".to_owned()]),
        ..TerminalFilter::default()
    };
    registry.register(ended.name().clone(), &ended, sessions);
    for kind in ["session", "play"] {
        let envelope = RunTerminalEnvelope {
            event_id: format!("{kind}-1"),
            entity: EntityRef {
                kind: kind.to_owned(),
                id: "1".to_owned(),
            },
            previous_status: Some("running".to_owned()),
            terminal_status: "completed".to_owned(),
            reason_code: "done".to_owned(),
            occurred_at: 0.0,
            correlation: Correlation::default(),
            durable: false,
        };
        registry.emit(envelope, scope).await?;
    }
    Ok(())
}
