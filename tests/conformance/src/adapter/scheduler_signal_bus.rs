//! `scheduler_signal_bus`.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use serde_json::{Map, Value as Json, json};
use triplane::legacy::{
    RunCounters, SchedulerSignalBus, Signal, SignalPredicate, Value, altered, schedule_run_signal,
};
use triplane_kernel::{Scope, profile};

use crate::fields::{Fields as _, texts};
use crate::handler::Handlers;
use crate::json::{class, normal, normal_signal, signal};
use crate::operation::{Adapter, Outcome, cyclic, predicate, unknown};
use crate::run::Run;

pub(super) struct SchedulerSignalBusOps {
    this: Weak<dyn Adapter>,
    bus: SchedulerSignalBus,
    handlers: Handlers<Signal>,
}

impl SchedulerSignalBusOps {
    pub(super) fn adapter(run: &Run) -> anyhow::Result<Arc<dyn Adapter>> {
        let bus = match run.altered() {
            None => SchedulerSignalBus::new(),
            Some(change) => {
                altered::scheduler_signal_bus(change.policy(&profile::scheduler_signal_bus())?)
            }
        };
        Ok(cyclic(|this| Self {
            this,
            bus,
            handlers: Handlers::new(),
        }))
    }
}

fn neutral(counters: &RunCounters) -> Json {
    let emitted = counters.emitted.iter();
    let emitted = emitted.map(|(class, count)| (class.as_str().to_owned(), json!(count)));
    json!({
        "emitted": Json::Object(emitted.collect()),
        "received": counters.received,
        "acted_on": counters.acted_on,
    })
}

impl Adapter for SchedulerSignalBusOps {
    fn at_once(&self, run: &Arc<Run>, op: &Value) -> Option<Outcome> {
        let name = op.text("handler");
        let callback = || self.handlers.named(run, &self.this, name);
        Some(Ok(match op.text("op") {
            "observe" => {
                let classes = texts(op.list("types"));
                let classes = classes.iter().filter_map(|name| class(name)).collect();
                let predicates = texts(op.list("predicates")).into_iter().map(|written| {
                    let accepts = predicate(run, name, &written);
                    Arc::new(move |_: &Signal| accepts()) as Arc<SignalPredicate>
                });
                self.bus.observe(classes, predicates.collect(), &callback());
                Json::Null
            }
            "unobserve" => json!(self.bus.unobserve(&callback())),
            "pop_counters" => {
                let counters = self.bus.pop_run_counters(op.text("run_id"));
                counters.map_or(Json::Null, |counters| neutral(&counters))
            }
            "build_signal" => {
                let (run_id, status) = (op.text("entity_id"), op.text("new_status"));
                match schedule_run_signal(run_id, status, op.text("reason_code")) {
                    Ok(signal) => normal_signal(&signal),
                    Err(unknown) => return Some(Err(unknown.into())),
                }
            }
            "emit" => return None,
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
            let written = op.field("signal").cloned().unwrap_or_default();
            let answers = self.bus.emit(Arc::new(signal(&written)), scope).await?;
            Ok(answers.iter().map(normal).collect())
        })
    }

    fn last_state(&self) -> Json {
        let counters = self.bus.counters();
        let counters = counters
            .iter()
            .map(|(run_id, run)| (run_id.clone(), neutral(run)));
        json!({
            "counters": Json::Object(counters.collect::<Map<_, _>>()),
            "subscriptions": self.bus.subscription_count(),
        })
    }
}
