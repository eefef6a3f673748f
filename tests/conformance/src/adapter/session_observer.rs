//! `session_observer`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use tokio::time::sleep;
use triplane::legacy::{
    Answer, Comparison, Condition, Filter, SessionObserver, Signal, SignalRow, SignalSink,
    SinkFailure, StateCompatibilityRefused, TypeName, Value, altered,
};
use triplane_kernel::{HandlerFailure, Scope, profile};
use triplane_signals::SignalClass;

use crate::fault::{self, Fault};
use crate::fields::{Fields as _, texts};
use crate::handler::Handlers;
use crate::json::{normal, normal_signal, payload};
use crate::operation::{Adapter, Outcome, cyclic, predicate, unknown};
use crate::run::Run;

pub(super) struct SessionObserverOps {
    this: Weak<dyn Adapter>,
    observer: SessionObserver,
    handlers: Handlers<Value>,
    routed: Mutex<Vec<String>>,
}

impl SessionObserverOps {
    pub(super) fn adapter(run: &Run) -> anyhow::Result<Arc<dyn Adapter>> {
        let observer = match run.altered() {
            None => SessionObserver::new(),
            Some(change) => altered::session_observer(change.policy(&profile::session_observer())?),
        };
        Ok(cyclic(|this| Self {
            this,
            observer,
            handlers: Handlers::new(),
            routed: Mutex::default(),
        }))
    }

    fn counters(&self) -> Json {
        let refusal = self.observer.persist_refusal();
        let refusal = refusal
            .map(|refused| json!({"$error": {"kind": "store_refused", "message": refused.what}}));
        json!({"dropped": self.observer.persist_dropped(), "refusal": refusal})
    }

    fn bind_store(&self, run: &Arc<Run>, op: &Value) {
        let sink = Arc::new(ScriptedSink {
            run: Arc::clone(run),
            results: Mutex::new(texts(op.list("results")).into()),
            write: Duration::from_millis(op.number("write_ms").unwrap_or(0)),
        });
        let run = Arc::clone(run);
        let opened = move || run.record(json!({"ev": "window_opened"}));
        let opened = op
            .flag("report")
            .then(|| Arc::new(opened) as Arc<dyn Fn() + Send + Sync>);
        self.observer
            .bind_persistence("oracle-session", sink, opened);
    }
}

fn condition(run: &Arc<Run>, handler: &str, key: &Value) -> Condition {
    if key.field("type").is_some() {
        return Condition::of_type(TypeName::new(key.text("type")));
    }
    if key.field("predicate").is_some() {
        let accepts = predicate(run, handler, key.text("predicate"));
        return Condition::Predicate(Arc::new(move |_| accepts()));
    }
    if key.field("failing_filter").is_some() {
        return Condition::Filter(Arc::new(FailingFilter(
            key.text("failing_filter").to_owned(),
        )));
    }
    if let Some(count) = key.number("repeat_filter") {
        let count = usize::try_from(count).expect("a small number");
        return Condition::Filter(Arc::new(RepeatFilter(count)));
    }
    let [Value::Text(path), Value::Text(operator), value] = key.list("field") else {
        panic!("a condition that the profile does not know: {key:?}");
    };
    let comparison = match &**operator {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "gt" => Comparison::Greater,
        _ => Comparison::Less,
    };
    Condition::field(&**path, comparison, value.clone())
}

struct FailingFilter(String);

impl Filter for FailingFilter {
    fn matches(&self, _: &Value) -> Result<Vec<Value>, HandlerFailure> {
        let spec = vec![
            ("kind".to_owned(), Value::text(self.0.as_str())),
            ("message".to_owned(), Value::text("filter")),
        ];
        Err(fault::make(&spec.into()))
    }
}

struct RepeatFilter(usize);

impl Filter for RepeatFilter {
    fn matches(&self, payload: &Value) -> Result<Vec<Value>, HandlerFailure> {
        Ok(vec![payload.clone(); self.0])
    }

    fn matches_max(&self) -> usize {
        self.0
    }
}

/// A store that answers each write as the scenario says.
struct ScriptedSink {
    run: Arc<Run>,
    results: Mutex<VecDeque<String>>,
    write: Duration,
}

impl SignalSink for ScriptedSink {
    fn write<'a>(&'a self, row: &'a SignalRow) -> BoxFuture<'a, Result<(), SinkFailure>> {
        Box::pin(async move {
            let result = self
                .results
                .lock()
                .expect("no panic holds the lock")
                .pop_front();
            let result = result.unwrap_or_else(|| "ok".to_owned());
            if !self.write.is_zero() {
                sleep(self.write).await;
            }
            let mut classes = SignalClass::ALL.iter();
            let class = classes.find(|class| class.stored_name() == row.class);
            let signal = class.map_or("signal", |class| class.as_str());
            self.run
                .record(json!({"ev": "store_write", "signal": signal, "result": result}));
            match result.as_str() {
                "failed" => Err(SinkFailure::Failed("write failed".into())),
                "locked" => Err(SinkFailure::Locked),
                "refused" => {
                    let what = "signal".to_owned();
                    Err(StateCompatibilityRefused { what }.into())
                }
                _ => Ok(()),
            }
        })
    }
}

fn signals(signals: &[Arc<Signal>]) -> Json {
    signals.iter().map(|signal| normal_signal(signal)).collect()
}

impl Adapter for SessionObserverOps {
    fn at_once(&self, run: &Arc<Run>, op: &Value) -> Option<Outcome> {
        let name = op.text("handler");
        let callback = || self.handlers.named(run, &self.this, name);
        Some(Ok(match op.text("op") {
            "observe" => {
                let keys = op.list("keys").iter();
                let conditions = keys.map(|key| condition(run, name, key)).collect();
                let role = (!op.text("role").is_empty()).then(|| op.text("role"));
                if let Err(error) = self.observer.observe(conditions, role, &callback()) {
                    return Some(Err(error.into()));
                }
                Json::Null
            }
            "unobserve" => json!(self.observer.unobserve(&callback())),
            "route" => {
                let into = op.text("into");
                let label = format!("route:{into}");
                run.add_name(&label, &label);
                let when = predicate(run, &label, op.text("when"));
                self.observer.route(move |_| when(), into);
                self.routed
                    .lock()
                    .expect("no panic holds the lock")
                    .push(into.to_owned());
                Json::Null
            }
            "gate" if name.is_empty() => return Some(Err(Fault::cannot_be_written("type_error"))),
            "gate" => {
                self.observer.gate(&callback());
                Json::Null
            }
            "clear_gate" => {
                self.observer.clear_gate();
                Json::Null
            }
            "stream" => signals(&self.observer.stream(op.text("name"))),
            "by_type" => signals(&self.observer.by_type(TypeName::new(op.text("type")))),
            "bind_store" => {
                self.bind_store(run, op);
                Json::Null
            }
            "unbind_store" => {
                self.observer.unbind_persistence();
                Json::Null
            }
            "persist_counters" => self.counters(),
            "authorize" | "emit" => return None,
            _ => unknown(op),
        }))
    }

    fn awaited<'a>(
        &'a self,
        _: &'a Arc<Run>,
        op: &'a Value,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let carried = payload(op.field("payload").unwrap_or(&Value::Null));
            if op.text("op") == "authorize" {
                return Ok(json!(self.observer.authorize(carried, scope).await?));
            }
            let answers = self.observer.emit(carried, scope).await?;
            let answers = answers.iter().map(|answer| match answer {
                Answer::Value(value) => normal(value),
                _ => json!({"$error": {"kind": "cancelled"}}),
            });
            Ok(answers.collect())
        })
    }

    fn last_state(&self) -> Json {
        let routed = self.routed.lock().expect("no panic holds the lock");
        let streams = routed
            .iter()
            .map(|name| (name.clone(), signals(&self.observer.stream(name))));
        json!({
            "stored": signals(&self.observer.stored()),
            "streams": Json::Object(streams.collect()),
            "subscriptions": self.observer.subscription_count(),
            "persist": self.counters(),
        })
    }
}
