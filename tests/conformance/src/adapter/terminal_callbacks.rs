//! `terminal_callbacks`.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use triplane::legacy::{
    Correlation, EntityRef, Precedence, RunTerminalEnvelope, TerminalCallbackRegistry,
    TerminalFilter, Value, altered,
};
use triplane_kernel::{Deadline, RegistrationName, Scope, profile};

use crate::fields::{Fields as _, texts};
use crate::handler::Handlers;
use crate::operation::{Adapter, Outcome, cyclic, unknown};
use crate::run::Run;
use crate::turns::Turns;

pub(super) struct TerminalCallbacksOps {
    this: Weak<dyn Adapter>,
    registry: TerminalCallbackRegistry,
    handlers: Handlers<RunTerminalEnvelope>,
}

impl TerminalCallbacksOps {
    pub(super) fn adapter(run: &Run, setup: &Value) -> anyhow::Result<Arc<dyn Adapter>> {
        let milliseconds = u32::try_from(setup.number("budget_ms").unwrap_or(200))?;
        let budget = Deadline::from_secs(f64::from(milliseconds) / 1000.0)?;
        let registry = match run.altered() {
            None => TerminalCallbackRegistry::new(budget),
            Some(change) => {
                altered::terminal_callbacks(change.policy(&profile::terminal_callbacks(budget))?)
            }
        };
        let registry = registry.with_offload(Arc::new(Turns));
        Ok(cyclic(|this| Self {
            this,
            registry,
            handlers: Handlers::new(),
        }))
    }
}

fn or<'a>(op: &'a Value, name: &str, usual: &'a str) -> &'a str {
    match op.text(name) {
        "" => usual,
        text => text,
    }
}

fn envelope(op: &Value) -> RunTerminalEnvelope {
    RunTerminalEnvelope {
        event_id: "event".to_owned(),
        entity: EntityRef {
            kind: or(op, "kind", "session").to_owned(),
            id: or(op, "id", "s1").to_owned(),
        },
        previous_status: Some(or(op, "previous_status", "running").to_owned()),
        terminal_status: or(op, "status", "completed").to_owned(),
        reason_code: or(op, "reason_code", "done").to_owned(),
        occurred_at: 0.0,
        correlation: Correlation::default(),
        durable: true,
    }
}

impl Adapter for TerminalCallbacksOps {
    fn at_once(&self, run: &Arc<Run>, op: &Value) -> Option<Outcome> {
        let name = op.text("name");
        match op.text("op") {
            "register" => {
                let handler = op.text("handler");
                let name = or(op, "name", handler);
                run.add_name(name, handler);
                let listed = |field: &str| match op.field(field) {
                    Some(Value::List(items)) => Some(texts(items)),
                    _ => None,
                };
                let filter = TerminalFilter {
                    kinds: listed("kinds"),
                    ids: listed("ids"),
                    precedence: if op.flag("override") {
                        Precedence::Override
                    } else {
                        Precedence::Beside
                    },
                };
                let name = RegistrationName::new(name).expect("a handler's name is a name");
                let callback = self.handlers.named(run, &self.this, handler);
                self.registry.register(name, &callback, filter);
            }
            "unregister" => self.registry.unregister(name),
            "clear" => self.registry.clear(),
            "contains" => return Some(Ok(json!(self.registry.contains(name)))),
            "emit" => return None,
            _ => unknown(op),
        }
        Some(Ok(Json::Null))
    }

    fn awaited<'a>(
        &'a self,
        _: &'a Arc<Run>,
        op: &'a Value,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            self.registry.emit(envelope(op), scope).await?;
            Ok(Json::Null)
        })
    }

    fn last_state(&self) -> Json {
        let names = self.registry.names();
        let names: Vec<_> = names.iter().map(RegistrationName::as_str).collect();
        json!({"registered": names})
    }
}
