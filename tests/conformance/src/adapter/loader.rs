//! `loader`.

use std::sync::{Arc, Mutex, MutexGuard, Weak};

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use triplane::legacy::{Hook, HookBus, HookCall, HookPoint, Loader, SessionObserver, Value, hook};
use triplane_kernel::Scope;

use crate::adapter::hook_bus::under;
use crate::fields::Fields as _;
use crate::handler::Handlers;
use crate::json::{normal_signal, payload};
use crate::operation::{Adapter, Outcome, cyclic, unknown};
use crate::run::Run;

pub(super) struct LoaderOps {
    this: Weak<dyn Adapter>,
    observer: Arc<SessionObserver>,
    loader: Mutex<Loader>,
    bus: Mutex<Option<Arc<HookBus>>>,
    hooks: Handlers<HookCall>,
}

impl LoaderOps {
    pub(super) fn adapter() -> Arc<dyn Adapter> {
        cyclic(|this| Self {
            this,
            observer: Arc::new(SessionObserver::new()),
            loader: Mutex::default(),
            bus: Mutex::default(),
            hooks: Handlers::new(),
        })
    }

    fn loader(&self) -> MutexGuard<'_, Loader> {
        self.loader.lock().expect("no panic holds the lock")
    }

    fn bus(&self) -> Arc<HookBus> {
        let bus = self.bus.lock().expect("no panic holds the lock").clone();
        bus.expect("a bus was built before")
    }

    fn at(&self, run: &Arc<Run>, op: &Value) -> Outcome {
        let named = |name: &str| self.hooks.named(run, &self.this, name);
        let mapping = op.field("hooks").cloned().unwrap_or_default();
        Ok(match op.text("op") {
            "register_handler" => {
                let hook = named(op.text("handler"));
                self.loader().register_handler(op.text("name"), &hook);
                Json::Null
            }
            "resolve_handler" => name(&self.loader().resolve_handler(op.text("name"))?),
            "load_hooks_for_agent" => table(&self.loader().load_hooks_for_agent(&mapping)?),
            "build_session_bus" => {
                let bound = op.field("observer").is_none_or(Value::is_truthy);
                let bound = bound.then(|| Arc::clone(&self.observer));
                let bus = self.loader().build_session_bus(&mapping, bound)?;
                let bus = Arc::new(under(bus, run.altered()).expect("a legal change"));
                *self.bus.lock().expect("no panic holds the lock") = Some(Arc::clone(&bus));
                let points = bus.points().into_iter();
                let points: Vec<_> = points
                    .map(|point| (point, bus.handlers_for(point)))
                    .collect();
                table(&points)
            }
            "defaults" => table(&self.loader().defaults()),
            "tag" => {
                let handler = named(op.text("handler"));
                let tagged = hook(op.text("point").parse::<HookPoint>()?, &handler);
                json!({"same_object": tagged.hook.is(&handler), "point": tagged.point.as_str()})
            }
            "register" => {
                self.bus().on(
                    op.text("point").parse::<HookPoint>()?,
                    &named(op.text("handler")),
                );
                Json::Null
            }
            _ => unknown(op),
        })
    }
}

fn name(hook: &Hook) -> Json {
    json!(hook.name().as_str())
}

fn table(points: &[(HookPoint, Vec<Hook>)]) -> Json {
    let points = points.iter();
    let points = points.map(|(point, hooks)| {
        (
            point.as_str().to_owned(),
            hooks.iter().map(name).collect::<Json>(),
        )
    });
    Json::Object(points.collect())
}

impl Adapter for LoaderOps {
    fn at_once(&self, run: &Arc<Run>, op: &Value) -> Option<Outcome> {
        match op.text("op") {
            "emit" => None,
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
            let point = op.text("point").parse::<HookPoint>()?;
            let arguments = payload(op.field("payload").unwrap_or(&Value::Null))
                .fields()
                .to_vec();
            self.bus().emit(point, arguments, scope).await?;
            Ok(Json::Null)
        })
    }

    fn last_state(&self) -> Json {
        let signals = self.observer.stored();
        let signals: Vec<_> = signals.iter().map(|signal| normal_signal(signal)).collect();
        json!({"signals": signals})
    }
}
