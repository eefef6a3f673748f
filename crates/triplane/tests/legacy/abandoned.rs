//! An invocation failure abandons what earlier handlers returned, and each of them is named.

use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use triplane::legacy::{Callback, Condition, Value};
use triplane::{HandlerFailure, Scope, SessionObserver, SignalClass};

/// Keeps the lines about awaitables that were dropped.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

#[derive(Default)]
struct Line {
    registration: String,
    message: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "registration" => self.registration = format!("{value:?}"),
            "message" => self.message = format!("{value:?}"),
            _ => {}
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        if line.message.contains("dropped unawaited") {
            let mut lines = self.0.lock().expect("no panic holds the lock");
            lines.push(line.registration);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn returning(name: &str) -> Callback<Value> {
    let awaited = Callback::asynchronous(name, |_, _| {
        Box::pin(async { panic!("an abandoned awaitable never runs") })
    });
    awaited.expect("a name")
}

#[tokio::test]
async fn each_awaitable_that_an_invocation_failure_abandons_is_named() {
    let lines = Lines::default();
    let _guard = tracing::subscriber::set_default(lines.clone());
    let observer = SessionObserver::new();
    let fails = Callback::sync("fails", |_| Err(HandlerFailure::failed("no"))).unwrap();
    for callback in [
        &returning("first"),
        &returning("second"),
        &fails,
        &returning("third"),
    ] {
        let every = vec![Condition::of_type(SignalClass::Signal)];
        observer.observe(every, None, callback).unwrap();
    }
    let raised = observer.emit(Value::Integer(1), &Scope::new()).await;
    assert_eq!(raised.unwrap_err().registration(), Some("fails"));
    // The third was never called, so that nothing of it was abandoned.
    assert_eq!(*lines.0.lock().unwrap(), ["first", "second"]);

    observer.unobserve(&fails);
    let quiet = Lines::default();
    let _guard = tracing::subscriber::set_default(quiet.clone());
    let fine = SessionObserver::new();
    fine.emit(Value::Integer(1), &Scope::new()).await.unwrap();
    assert_eq!(*quiet.0.lock().unwrap(), Vec::<String>::new());
}
