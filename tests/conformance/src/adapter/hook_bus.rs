//! `hookbus_blocking` and `hookbus_observational`.

use std::sync::{Arc, Weak};

use anyhow::bail;
use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use triplane::legacy::altered::{self, Altered};
use triplane::legacy::{
    Condition, HookBus, HookCall, HookPoint, MessageDrain, Registered, SessionObserver,
    StateCompatibilityRefused, Value,
};
use triplane_kernel::Scope;
use triplane_kernel::profile::{self, ProfileName};
use triplane_signals::SignalClass;

use crate::alteration::Alteration;
use crate::fault::Fault;
use crate::fields::{Fields as _, texts};
use crate::handler::Handlers;
use crate::json::{normal_signal, payload};
use crate::operation::{Adapter, Outcome, cyclic, unknown};
use crate::run::Run;

pub(super) struct HookBusOps {
    this: Weak<dyn Adapter>,
    observer: Arc<SessionObserver>,
    bus: HookBus,
    hooks: Handlers<HookCall>,
    observers: Handlers<Value>,
}

impl HookBusOps {
    pub(super) fn adapter(run: &Run, setup: &Value) -> anyhow::Result<Arc<dyn Adapter>> {
        let observer = Arc::new(SessionObserver::new());
        let bound = setup.field("observer").is_none_or(Value::is_truthy);
        let bound = bound.then(|| Arc::clone(&observer));
        let bus = under(HookBus::new(bound), run.altered())?;
        Ok(cyclic(|this| Self {
            this,
            bus,
            observer,
            hooks: Handlers::new(),
            observers: Handlers::new(),
        }))
    }

    fn at(&self, run: &Arc<Run>, op: &Value) -> Outcome {
        let name = op.text("handler");
        let hook = || self.hooks.named(run, &self.this, name);
        let watcher = || self.observers.named(run, &self.this, name);
        let point = || op.text("point").parse::<HookPoint>();
        match op.text("op") {
            "register" => {
                if self.bus.on(point()?, &hook()) == Registered::Dormant {
                    return Ok(json!({"warned": true}));
                }
            }
            "unregister" => self.bus.off(point()?, &hook()),
            "handlers_for" => return Ok(names(&self.bus, point()?)),
            "bind" => {
                let observer = op.flag("observer").then(|| Arc::clone(&self.observer));
                self.bus.bind(observer);
            }
            "observe_signals" => {
                let condition = vec![Condition::of_type(SignalClass::HookSignal)];
                self.observer.observe(condition, None, &watcher())?;
            }
            "gate" => self.observer.gate(&watcher()),
            "set_retry_queues" => {
                let results = texts(op.list("results")).into_iter().enumerate();
                let drains = results.map(|(queue, result)| {
                    let run = Arc::clone(run);
                    Arc::new(ScriptedDrain { run, queue, result }) as Arc<dyn MessageDrain>
                });
                self.bus.set_message_drains(drains.collect());
            }
            _ => unknown(op),
        }
        Ok(Json::Null)
    }
}

/// The bus with one of its two profiles altered, if one is.
pub(super) fn under(bus: HookBus, change: Option<&Alteration>) -> anyhow::Result<HookBus> {
    let Some(change) = change else {
        return Ok(bus);
    };
    let (altered, base) = match change.of {
        ProfileName::HookbusBlocking => (Altered::Blocking, profile::hookbus_blocking()),
        ProfileName::HookbusObservational => {
            (Altered::Observational, profile::hookbus_observational())
        }
        other => bail!("a hook bus has no profile `{}`", other.as_str()),
    };
    let (stages, place) = change.stages(&base)?;
    Ok(altered::hook_bus(bus, altered, stages, place))
}

fn names(bus: &HookBus, point: HookPoint) -> Json {
    bus.handlers_for(point)
        .iter()
        .map(|hook| json!(hook.name().as_str()))
        .collect()
}

/// A drain that answers as the scenario says.
struct ScriptedDrain {
    run: Arc<Run>,
    queue: usize,
    result: String,
}

impl MessageDrain for ScriptedDrain {
    fn flush<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<bool, StateCompatibilityRefused>> {
        let Self { run, queue, result } = self;
        Box::pin(async move {
            run.record(json!({"ev": "flush", "queue": queue, "result": result}));
            match result.as_str() {
                "refused" => {
                    let what = format!("queue {queue}");
                    Err(StateCompatibilityRefused { what })
                }
                result => Ok(result == "ok"),
            }
        })
    }
}

impl Adapter for HookBusOps {
    fn at_once(&self, run: &Arc<Run>, op: &Value) -> Option<Outcome> {
        match op.text("op") {
            "emit" | "blocking_emit" | "flush_message_retries" => None,
            _ => Some(self.at(run, op)),
        }
    }

    fn awaited<'a>(
        &'a self,
        _: &'a Arc<Run>,
        op: &'a Value,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let name = op.text("op");
            if name == "flush_message_retries" {
                return Ok(json!(self.bus.flush_message_retries(scope).await?));
            }
            let point = op.text("point").parse::<HookPoint>()?;
            let arguments = payload(op.field("payload").unwrap_or(&Value::Null))
                .fields()
                .to_vec();
            let emitted = if name == "blocking_emit" {
                self.bus.blocking_emit(point, arguments, scope).await
            } else {
                self.bus.emit(point, arguments, scope).await
            };
            emitted.map(|()| Json::Null).map_err(Fault::from)
        })
    }

    fn last_state(&self) -> Json {
        let points = self.bus.points().into_iter();
        let points = points.map(|point| (point.as_str().to_owned(), names(&self.bus, point)));
        let signals = self.observer.stored();
        let signals: Vec<_> = signals.iter().map(|signal| normal_signal(signal)).collect();
        json!({"signals": signals, "handlers": Json::Object(points.collect())})
    }
}
