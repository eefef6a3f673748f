//! `Broadcaster` (deprecated): one type of event, told to each subscriber in turn.

#![expect(deprecated, reason = "what is deprecated is written here")]

use std::any::Any;
use std::sync::{Arc, Weak};

use triplane_kernel::policy::Declared;
use triplane_kernel::{
    Called, DispatchPolicy, FanoutDispatcher, Handler, HandlerFailure, Key, Keyed, NameRefused,
    Registration, Scope, profile,
};

use crate::legacy::callback::Callback;
use crate::legacy::error::Raised;
use crate::legacy::fan_out::{FanOut, dispatcher};
use crate::legacy::value::{TypeName, Value};

/// The old broadcaster (plane: observation). Clones share their subscribers.
///
/// Move to [`SessionObservation`](triplane_signals::SessionObservation): its observers are told of
/// typed facts, and one of them that cancels itself does not keep the others from hearing.
///
/// It is the kernel's profile `broadcaster`: in the order of subscription, a failure is logged, a
/// cancellation and a fatal failure escape. A future of the kind
/// [`Awaitable`](triplane_kernel::AwaitableKind::Awaitable) is dropped unawaited.
#[derive(Debug, Clone)]
#[deprecated(
    since = "0.1.0",
    note = "observers of `triplane_signals::SessionObservation` are told of typed facts"
)]
pub struct Broadcaster {
    event_type: TypeName,
    subscribers: Arc<FanOut<Subscriber, Event, ()>>,
}

/// A callback, and the object whose method it is.
#[derive(Debug, Clone)]
pub struct Subscriber {
    callback: Callback<Value>,
    owner: Option<Weak<dyn Any + Send + Sync>>,
}

impl Subscriber {
    /// A method of `object`, which is held weakly: the subscription goes with its object.
    ///
    /// Each call makes another subscriber, as looking up a bound method does: it is never taken for a
    /// duplicate, and cannot be unsubscribed but by the subscriber that was subscribed.
    ///
    /// # Errors
    ///
    /// [`NameRefused`] when `name` is not a name.
    pub fn method<O: Send + Sync + 'static>(
        name: &str,
        object: &Arc<O>,
        method: fn(&O, &Value) -> Result<Value, HandlerFailure>,
    ) -> Result<Self, NameRefused> {
        Self::method_with(name, object, Declared::Sync, move |object, event, _| {
            Called::Now(method(&object, event))
        })
    }

    /// The same for a method that may answer later.
    ///
    /// # Errors
    ///
    /// [`NameRefused`] when `name` is not a name.
    pub fn method_with<O: Send + Sync + 'static>(
        name: &str,
        object: &Arc<O>,
        declared: Declared,
        method: impl for<'a> Fn(
            Arc<O>,
            &'a Value,
            &'a Scope,
        ) -> Called<'a, Result<Value, HandlerFailure>>
        + Send
        + Sync
        + 'static,
    ) -> Result<Self, NameRefused> {
        let bound = Bound {
            object: Arc::downgrade(object),
            method,
        };
        let owner: Arc<dyn Any + Send + Sync> = Arc::clone(object) as _;
        Ok(Self {
            callback: Callback::new(name, declared, bound)?,
            owner: Some(Arc::downgrade(&owner)),
        })
    }

    /// The same subscriber, whose callback meets a request to cancel itself.
    #[must_use]
    pub fn cooperative(self) -> Self {
        Self {
            callback: self.callback.cooperative(),
            ..self
        }
    }

    fn is_alive(&self) -> bool {
        self.owner
            .as_ref()
            .is_none_or(|owner| owner.strong_count() > 0)
    }
}

impl From<&Callback<Value>> for Subscriber {
    fn from(callback: &Callback<Value>) -> Self {
        Self {
            callback: callback.clone(),
            owner: None,
        }
    }
}

struct Bound<O, F> {
    object: Weak<O>,
    method: F,
}

impl<O, F> Handler<Value, Value> for Bound<O, F>
where
    O: Send + Sync,
    F: for<'a> Fn(Arc<O>, &'a Value, &'a Scope) -> Called<'a, Result<Value, HandlerFailure>>
        + Send
        + Sync,
{
    fn call<'a>(
        &'a self,
        event: &'a Value,
        scope: &'a Scope,
    ) -> Called<'a, Result<Value, HandlerFailure>> {
        match self.object.upgrade() {
            Some(object) => (self.method)(object, event, scope),
            None => Called::Now(Ok(Value::Null)),
        }
    }
}

/// What is dispatched: the event, and the objects that must live until everybody was told.
struct Event {
    value: Value,
    #[expect(dead_code, reason = "held for their lifetime")]
    owners: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Keyed for Event {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

/// Why a broadcast did not go through.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BroadcastError {
    /// The event is not of the broadcaster's type; nobody was told.
    #[error("the event is not of type `{expected}`")]
    WrongType {
        /// The broadcaster's type.
        expected: TypeName,
    },
    /// A subscriber cancelled itself or failed fatally, or the emitter was cancelled.
    #[error(transparent)]
    Raised(#[from] Raised),
}

impl Broadcaster {
    /// A broadcaster of events of this type, without subscribers.
    pub fn new(event_type: TypeName) -> Self {
        Self::under(event_type, profile::broadcaster())
    }

    pub(crate) fn under(event_type: TypeName, policy: DispatchPolicy) -> Self {
        Self {
            event_type,
            subscribers: Arc::new(FanOut::new(policy, register)),
        }
    }

    /// Adds a subscriber behind all others, unless it is one already.
    pub fn subscribe(&self, subscriber: impl Into<Subscriber>) {
        let subscriber = subscriber.into();
        self.subscribers.change(|all| {
            if !all
                .iter()
                .any(|other| other.callback.is(&subscriber.callback))
            {
                all.push(subscriber);
            }
        });
    }

    /// Removes a subscriber, if it is one.
    pub fn unsubscribe(&self, subscriber: impl Into<Subscriber>) {
        let subscriber = subscriber.into();
        let removed: Vec<_> = self.subscribers.change(|all| {
            let removed = all.extract_if(.., |other| other.callback.is(&subscriber.callback));
            removed.collect()
        });
        drop(removed);
    }

    /// The number of subscribers, without those whose objects are gone.
    pub fn subscriber_count(&self) -> usize {
        let (_dead, alive) = self.subscribers.change(|all| {
            let dead: Vec<_> = all.extract_if(.., |one| !one.is_alive()).collect();
            (dead, all.len())
        });
        alive
    }

    /// Tells every subscriber of `event`, one after the other.
    ///
    /// # Errors
    ///
    /// [`BroadcastError::WrongType`] before anybody was told; [`BroadcastError::Raised`] for what
    /// escapes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves later subscribers untold.
    pub async fn broadcast(&self, event: Value, scope: &Scope) -> Result<(), BroadcastError> {
        if !event.is_a(&self.event_type) {
            let expected = self.event_type.clone();
            return Err(BroadcastError::WrongType { expected });
        }
        let (subscribers, owners) = self.alive();
        let event = Arc::new(Event {
            value: event,
            owners,
        });
        match subscribers.emit(&event, scope).await {
            Ok(_) => Ok(()),
            Err(error) => Err(Raised::from(error).into()),
        }
    }

    /// Whether both share their subscribers.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.subscribers, &other.subscribers)
    }

    /// The policy of every broadcast: the kernel's profile `broadcaster`.
    pub fn policy(&self) -> &DispatchPolicy {
        self.subscribers.policy()
    }

    /// A dispatcher over those who live, and what keeps them alive.
    fn alive(&self) -> (FanoutDispatcher<Event>, Vec<Arc<dyn Any + Send + Sync>>) {
        let (mut live, mut owners) = (Vec::new(), Vec::new());
        let dead: Vec<_> = self.subscribers.change(|all| {
            let dead = all.extract_if(.., |subscriber| match &subscriber.owner {
                None => false,
                Some(owner) => {
                    let owner = owner.upgrade();
                    let gone = owner.is_none();
                    owners.extend(owner);
                    gone
                }
            });
            let dead = dead.collect();
            live.extend(all.iter().map(register));
            dead
        });
        drop(dead);
        (dispatcher(self.policy().clone(), live), owners)
    }
}

fn register(subscriber: &Subscriber) -> Registration<Event> {
    let callback = subscriber.callback.clone();
    subscriber.callback.registration(None, Told(callback))
}

/// Passes the event on, and says of a failure what the old broadcaster said.
struct Told(Callback<Value>);

impl Handler<Event, ()> for Told {
    fn call<'a>(
        &'a self,
        event: &'a Event,
        scope: &'a Scope,
    ) -> Called<'a, Result<(), HandlerFailure>> {
        let name = self.0.name();
        let heard = move |answer: Result<Value, HandlerFailure>| {
            if let Err(failure @ HandlerFailure::Failed(_)) = &answer {
                tracing::error!(registration = %name, failure = %failure.chain(),
                    "a subscriber of a broadcast failed");
            }
            answer.map(drop)
        };
        match self.0.handler().call(&event.value, scope) {
            Called::Now(answer) => Called::Now(heard(answer)),
            Called::Later { kind, future } => Called::Later {
                kind,
                future: Box::pin(async move { heard(future.await) }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use triplane_testkit::suite::handler;

    use super::*;

    impl fmt::Debug for Event {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_tuple("Event").field(&self.value).finish()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscriber_keeps_what_every_handler_keeps() {
        let events = || {
            vec![Arc::new(Event {
                value: Value::from("saved"),
                owners: Vec::new(),
            })]
        };
        let now = Callback::sync("now", |_: &Value| Err(HandlerFailure::failed("broken")));
        let later = Callback::asynchronous("later", |event: &Value, _| {
            let event = event.clone();
            Box::pin(async {
                tokio::task::yield_now().await;
                Ok(event)
            })
        });
        for callback in [now.expect("a name"), later.expect("a name")] {
            let declared = callback.declared();
            handler::check(Arc::new(Told(callback)), declared, events).await;
        }
    }
}
