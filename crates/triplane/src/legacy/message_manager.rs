//! `MessageManager`: messages in order, and callbacks for each that is added.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use triplane_kernel::{
    Called, DispatchError, DispatchPolicy, Handler, HandlerFailure, Key, Keyed, Registration,
    RegistrationName, Scope, profile,
};

use crate::legacy::callback::Callback;
use crate::legacy::error::{Raised, StateCompatibilityRefused, find};
use crate::legacy::fan_out::FanOut;
use crate::legacy::value::Value;

/// A message of the old manager.
#[derive(Debug, Clone)]
pub struct Message {
    /// What kind of message it is.
    pub kind: MessageKind,
    /// Its content.
    pub content: Value,
}

/// The kinds of messages that a caller adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// What the user or an owner asks.
    Instruction,
    /// What a model answered.
    AssistantResponse,
    /// The system message; there is one, and it stands first.
    System,
}

impl MessageKind {
    /// The wire string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::AssistantResponse => "assistant_response",
            Self::System => "system",
        }
    }
}

impl Keyed for Message {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

/// The old message manager with its message-added callbacks (plane: observation).
///
/// Move to an observer of [`SessionObservation`](triplane_signals::SessionObservation): a message
/// that is in the log is a fact there, and no observer's failure reaches who added it.
///
/// It is the kernel's profiles `message_added_sync` and `message_added_async`: every callback runs,
/// then one failure is raised as it is and several as a group, but for a store's refusal, which is raised
/// as itself. The message stays added.
#[derive(Debug)]
pub struct MessageManager {
    messages: Mutex<Vec<Arc<Message>>>,
    sync: FanOut<Callback<Message>, Message, ()>,
    asynchronous: FanOut<Callback<Message>, Message, ()>,
}

/// Why adding a message answers an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddMessageError {
    /// A callback is declared async, and the message was to be added from a sync entry. It was not
    /// added.
    #[error("callback `{name}` is declared async and cannot be called from the sync entry")]
    DeclaredAsync {
        /// The callback's name.
        name: RegistrationName,
    },
    /// The message was added, and callbacks failed.
    #[error(transparent)]
    Raised(#[from] Raised),
}

impl MessageManager {
    /// Without messages and callbacks.
    pub fn new() -> Self {
        Self::under(
            profile::message_added_sync(),
            profile::message_added_async(),
        )
    }

    pub(crate) fn under(sync: DispatchPolicy, asynchronous: DispatchPolicy) -> Self {
        Self {
            messages: Mutex::default(),
            sync: FanOut::new(sync, register),
            asynchronous: FanOut::new(asynchronous, register),
        }
    }

    /// Adds a callback behind all others; one that is added twice is called twice.
    pub fn on_message_added(&self, callback: &Callback<Message>) {
        for entry in [&self.sync, &self.asynchronous] {
            entry.change(|all| all.push(callback.clone()));
        }
    }

    /// Removes a callback once, if it is there.
    pub fn off_message_added(&self, callback: &Callback<Message>) {
        for entry in [&self.sync, &self.asynchronous] {
            let removed = entry.change(|all| {
                let at = all.iter().position(|other| other.is(callback))?;
                Some(all.remove(at))
            });
            drop(removed);
        }
    }

    /// The callbacks in the order in which they are called.
    pub fn callbacks(&self) -> Vec<Callback<Message>> {
        self.sync.read(<[_]>::to_vec)
    }

    /// The messages in their order.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        self.lock().clone()
    }

    /// Adds a message and calls the callbacks, without waiting. What a callback returns to be awaited
    /// is dropped.
    ///
    /// # Errors
    ///
    /// [`AddMessageError::DeclaredAsync`] when the message was not added, and
    /// [`AddMessageError::Raised`] when it was and callbacks failed.
    pub fn add_message(&self, message: Message) -> Result<Arc<Message>, AddMessageError> {
        let dispatcher = self.sync.dispatcher();
        let snapshot = match dispatcher.preflight_sync() {
            Ok(snapshot) => snapshot,
            Err(DispatchError::DeclaredAsync { name }) => {
                return Err(AddMessageError::DeclaredAsync { name });
            }
            Err(error) => return Err(Raised::from(error).into()),
        };
        let message = self.put(message);
        match dispatcher.emit_sync(&message, &snapshot) {
            Ok(_) => Ok(message),
            Err(error) => Err(refusal_first(error).into()),
        }
    }

    /// Adds a message and calls the callbacks; those that are declared async are awaited in turn.
    ///
    /// # Errors
    ///
    /// [`AddMessageError::Raised`] when the message was added and callbacks failed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the message added and later callbacks uncalled. A request on
    /// `scope` ends the callback that waits; the later ones are called before it is raised.
    pub async fn a_add_message(
        &self,
        message: Message,
        scope: &Scope,
    ) -> Result<Arc<Message>, AddMessageError> {
        let message = self.put(message);
        match self.asynchronous.dispatcher().emit(&message, scope).await {
            Ok(_) => Ok(message),
            Err(error) => Err(refusal_first(error).into()),
        }
    }

    /// The policies of the sync and of the async entry: the kernel's profiles `message_added_sync`
    /// and `message_added_async`.
    pub fn policies(&self) -> [&DispatchPolicy; 2] {
        [self.sync.policy(), self.asynchronous.policy()]
    }

    fn put(&self, message: Message) -> Arc<Message> {
        let message = Arc::new(message);
        let mut messages = self.lock();
        match message.kind {
            MessageKind::System => {
                messages.retain(|other| other.kind != MessageKind::System);
                messages.insert(0, Arc::clone(&message));
            }
            MessageKind::Instruction | MessageKind::AssistantResponse => {
                messages.push(Arc::clone(&message));
            }
        }
        message
    }

    /// The list is changed by whole operations of `Vec`, so that a panic leaves it whole.
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Message>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MessageManager {
    fn default() -> Self {
        Self::new()
    }
}

/// Of several errors, a store's refusal is raised as itself, so that whoever looks for it finds it; the
/// other failures are logged.
fn refusal_first(error: DispatchError) -> Raised {
    let DispatchError::Group { report } = &error else {
        return error.into();
    };
    let refused = report.raised().enumerate().find_map(|(at, entry)| {
        let refusal = find::<StateCompatibilityRefused>(entry.outcome.failure()?)?;
        Some((at, refusal.clone()))
    });
    let Some((at, refusal)) = refused else {
        return error.into();
    };
    for (other, entry) in report.raised().enumerate() {
        if other != at
            && let Some(failure) = entry.outcome.failure()
        {
            tracing::warn!(registration = %entry.name, failure = %failure.chain(),
                "a callback failed beside a store's refusal");
        }
    }
    HandlerFailure::failed(refusal).into()
}

fn register(callback: &Callback<Message>) -> Registration<Message> {
    callback.registration(None, Valueless(callback.clone()))
}

/// A callback whose value nobody takes.
struct Valueless(Callback<Message>);

impl Handler<Message, ()> for Valueless {
    fn call<'a>(
        &'a self,
        message: &'a Message,
        scope: &'a Scope,
    ) -> Called<'a, Result<(), HandlerFailure>> {
        match self.0.handler().call(message, scope) {
            Called::Now(answer) => Called::Now(answer.map(drop)),
            Called::Later { kind, future } => Called::Later {
                kind,
                future: Box::pin(async move { future.await.map(drop) }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use triplane_testkit::suite::handler;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_message_callback_keeps_what_every_handler_keeps() {
        let messages = || {
            vec![Arc::new(Message {
                kind: MessageKind::Instruction,
                content: Value::from("hello"),
            })]
        };
        let now = Callback::sync("now", |message: &Message| Ok(message.content.clone()));
        let later = Callback::asynchronous("later", |_: &Message, _| {
            Box::pin(async {
                tokio::task::yield_now().await;
                Err(HandlerFailure::failed("broken"))
            })
        });
        for callback in [now.expect("a name"), later.expect("a name")] {
            let declared = callback.declared();
            handler::check(Arc::new(Valueless(callback)), declared, messages).await;
        }
    }
}
