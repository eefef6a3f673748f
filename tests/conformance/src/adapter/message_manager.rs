//! `message_added_sync` and `message_added_async`.

use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use triplane::legacy::{Message, MessageKind, MessageManager, Value, altered};
use triplane_kernel::{Scope, profile};

use crate::fields::Fields as _;
use crate::handler::Handlers;
use crate::json::normal_message;
use crate::operation::{Adapter, Outcome, cyclic, unknown};
use crate::run::Run;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Sync,
    Async,
}

pub(super) struct MessageManagerOps {
    this: Weak<dyn Adapter>,
    entry: Entry,
    manager: MessageManager,
    handlers: Handlers<Message>,
}

impl MessageManagerOps {
    pub(super) fn adapter(run: &Run, entry: Entry) -> anyhow::Result<Arc<dyn Adapter>> {
        let manager = match run.altered() {
            None => MessageManager::new(),
            Some(change) => {
                let mut policies = [
                    profile::message_added_sync(),
                    profile::message_added_async(),
                ];
                let own = match entry {
                    Entry::Sync => &mut policies[0],
                    Entry::Async => &mut policies[1],
                };
                *own = change.policy(own)?;
                let [sync, asynchronous] = policies;
                altered::message_manager(sync, asynchronous)
            }
        };
        Ok(cyclic(|this| Self {
            this,
            entry,
            manager,
            handlers: Handlers::new(),
        }))
    }

    fn message(op: &Value) -> Message {
        Message {
            kind: match op.text("kind") {
                "assistant_response" => MessageKind::AssistantResponse,
                "system" => MessageKind::System,
                _ => MessageKind::Instruction,
            },
            content: Value::text(op.text("text")),
        }
    }
}

impl Adapter for MessageManagerOps {
    fn at_once(&self, run: &Arc<Run>, op: &Value) -> Option<Outcome> {
        let callback = || self.handlers.named(run, &self.this, op.text("handler"));
        match (op.text("op"), self.entry) {
            ("register", _) => self.manager.on_message_added(&callback()),
            ("unregister", _) => self.manager.off_message_added(&callback()),
            ("add_message", Entry::Async) => return None,
            ("add_message", Entry::Sync) => {
                let added = self.manager.add_message(Self::message(op));
                return Some(match added {
                    Ok(message) => Ok(normal_message(&message)),
                    Err(error) => Err(error.into()),
                });
            }
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
            let message = self.manager.a_add_message(Self::message(op), scope).await?;
            Ok(normal_message(&message))
        })
    }

    fn last_state(&self) -> Json {
        let messages = self.manager.messages();
        let messages: Vec<_> = messages
            .iter()
            .map(|message| normal_message(message))
            .collect();
        let callbacks = self.manager.callbacks();
        let callbacks: Vec<_> = callbacks.iter().map(|one| one.name().as_str()).collect();
        json!({"messages": messages, "callbacks": callbacks})
    }
}
