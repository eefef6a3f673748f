//! `broadcaster`.

#![expect(deprecated, reason = "the old name is what is tested")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use triplane::legacy::{Broadcaster, Record, Subscriber, TypeName, Value, altered};
use triplane_kernel::{Scope, profile};

use crate::fields::Fields as _;
use crate::handler::{Handlers, Scripted};
use crate::json::payload;
use crate::operation::{Adapter, Outcome, cyclic, unknown};
use crate::run::Run;

const EVENT: TypeName = TypeName::from_static("oracle_event");
const SUBTYPE: TypeName = TypeName::from_static("oracle_sub_event");
const OTHER: TypeName = TypeName::from_static("oracle_other_event");

pub(super) struct BroadcasterOps {
    this: Weak<dyn Adapter>,
    broadcaster: Broadcaster,
    handlers: Handlers<Value>,
    /// The objects whose methods are subscribed.
    bound: Mutex<HashMap<String, Arc<Scripted>>>,
}

impl BroadcasterOps {
    pub(super) fn adapter(run: &Run) -> anyhow::Result<Arc<dyn Adapter>> {
        let broadcaster = match run.altered() {
            None => Broadcaster::new(EVENT),
            Some(change) => altered::broadcaster(EVENT, change.policy(&profile::broadcaster())?),
        };
        Ok(cyclic(|this| Self {
            this,
            broadcaster,
            handlers: Handlers::new(),
            bound: Mutex::default(),
        }))
    }

    fn subscriber(&self, run: &Arc<Run>, op: &Value) -> Subscriber {
        let name = op.text("handler");
        if !op.flag("bound") {
            return (&self.handlers.named(run, &self.this, name)).into();
        }
        let mut bound = self.bound.lock().expect("no panic holds the lock");
        let object = bound
            .entry(name.to_owned())
            .or_insert_with(|| Arc::new(Scripted::new(run, &self.this, name)));
        // A method of the object, looked up afresh.
        let subscriber =
            Subscriber::method_with(name, object, object.declared(), |object, event, scope| {
                object.call_with(event, scope)
            });
        subscriber
            .expect("a handler's name is a name")
            .cooperative()
    }

    fn event(op: &Value) -> Value {
        let carried = payload(op.field("payload").unwrap_or(&Value::Null));
        let (type_name, supertypes) = match op.text("event") {
            "not_an_event" => return carried,
            "other" => (OTHER, Vec::new()),
            "subtype" => (SUBTYPE, vec![EVENT]),
            _ => (EVENT, Vec::new()),
        };
        Value::from(Record {
            type_name,
            supertypes,
            fields: vec![("payload".to_owned(), carried)],
        })
    }
}

impl Adapter for BroadcasterOps {
    fn at_once(&self, run: &Arc<Run>, op: &Value) -> Option<Outcome> {
        match op.text("op") {
            "subscribe" => self.broadcaster.subscribe(self.subscriber(run, op)),
            "unsubscribe" => self.broadcaster.unsubscribe(self.subscriber(run, op)),
            "drop" => {
                self.bound
                    .lock()
                    .expect("no panic holds the lock")
                    .remove(op.text("handler"));
            }
            "count" => return Some(Ok(json!(self.broadcaster.subscriber_count()))),
            "singleton" => return Some(Ok(json!(self.broadcaster.clone().is(&self.broadcaster)))),
            "broadcast" => return None,
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
            self.broadcaster.broadcast(Self::event(op), scope).await?;
            Ok(Json::Null)
        })
    }

    fn last_state(&self) -> Json {
        json!({"subscribers": self.broadcaster.subscriber_count()})
    }
}
