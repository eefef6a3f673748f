//! One emission of an old observer: a registration of the kernel for each value that is handed over.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use triplane_kernel::policy::Declared;
use triplane_kernel::{
    Called, Handler, HandlerFailure, Key, Keyed, Registration, RegistrationName, Scope,
};

use crate::legacy::callback::Callback;
use crate::legacy::subscription::{Subscription, Subscriptions};
use crate::legacy::value::{Signal, Value};

/// How many values a subscription that is made during an emission may still be handed of it, all
/// such subscriptions together. What is beyond hears from the next emission on.
pub const LATE_MATCHES_MAX: usize = 16;

/// One emission: the signal, and the values that were found for each subscription.
///
/// The kernel calls one handler for one registration, and a subscription may be handed several values:
/// it has as many registrations as it may need, and the first of them asks its conditions.
pub(crate) struct Emission {
    event: Arc<Signal>,
    begun_with: Vec<Arc<Subscription>>,
    found: Vec<OnceLock<Vec<Value>>>,
    late: Option<Late>,
}

/// What is subscribed while the emission runs.
struct Late {
    list: Arc<Subscriptions>,
    waiting: Mutex<Waiting>,
    taken: [OnceLock<(Arc<Subscription>, Value)>; LATE_MATCHES_MAX],
}

struct Waiting {
    /// The next subscription of the list that was not asked.
    next: usize,
    found: VecDeque<(Arc<Subscription>, Value)>,
}

pub(crate) struct Heard {
    pub(crate) value: Value,
    pub(crate) at_once: bool,
}

impl Keyed for Emission {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

impl Emission {
    pub(crate) fn new(event: Arc<Signal>, begun_with: Vec<Arc<Subscription>>) -> Self {
        Self {
            event,
            found: begun_with.iter().map(|_| OnceLock::new()).collect(),
            begun_with,
            late: None,
        }
    }

    pub(crate) fn over(event: Arc<Signal>, list: Arc<Subscriptions>) -> Self {
        let begun_with = list.lock().clone();
        let next = begun_with.len();
        Self {
            late: Some(Late {
                list,
                waiting: Mutex::new(Waiting {
                    next,
                    found: VecDeque::new(),
                }),
                taken: std::array::from_fn(|_| OnceLock::new()),
            }),
            ..Self::new(event, begun_with)
        }
    }

    pub(crate) fn registrations(&self) -> Vec<Registration<Self, Heard>> {
        let mut registrations = Vec::new();
        for (at, subscription) in self.begun_with.iter().enumerate() {
            for index in 0..subscription.matches_max(&self.event) {
                let seat = Seat::Begun { at, index };
                registrations.push(match &**subscription {
                    Subscription::Callback { callback, .. } => seat.seated(Some(callback)),
                    Subscription::Sink(_) => seat.seated(None),
                });
            }
        }
        if self.late.is_some() {
            registrations.extend((0..LATE_MATCHES_MAX).map(|at| Seat::Late { at }.seated(None)));
        }
        registrations
    }

    /// Whether there is a value for this seat. Asks conditions when nobody has.
    fn has(&self, seat: Seat) -> Result<bool, HandlerFailure> {
        match seat {
            Seat::Begun { at, index } => {
                if index == 0 {
                    let found = self.begun_with[at].matches(&self.event)?;
                    let _ = self.found[at].set(found);
                }
                Ok(self.found[at]
                    .get()
                    .is_some_and(|found| found.len() > index))
            }
            Seat::Late { at } => {
                let Some(late) = &self.late else {
                    return Ok(false);
                };
                let taken = late.take(&self.event)?;
                Ok(taken.is_some_and(|taken| late.taken[at].set(taken).is_ok()))
            }
        }
    }

    fn at(&self, seat: Seat) -> Option<(&Arc<Subscription>, &Value)> {
        match seat {
            Seat::Begun { at, index } => {
                Some((&self.begun_with[at], self.found[at].get()?.get(index)?))
            }
            Seat::Late { at } => {
                let (subscription, value) = self.late.as_ref()?.taken[at].get()?;
                Some((subscription, value))
            }
        }
    }
}

impl Late {
    fn take(
        &self,
        event: &Arc<Signal>,
    ) -> Result<Option<(Arc<Subscription>, Value)>, HandlerFailure> {
        loop {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = waiting.found.pop_front() {
                return Ok(Some(found));
            }
            let Some(subscription) = self.list.lock().get(waiting.next).cloned() else {
                return Ok(None);
            };
            waiting.next += 1;
            // Conditions are asked without a lock: they may subscribe.
            drop(waiting);
            let found = subscription.matches(event)?;
            let found = found
                .into_iter()
                .map(|value| (Arc::clone(&subscription), value));
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.found.extend(found);
        }
    }
}

/// One registration of an emission.
#[derive(Debug, Clone, Copy)]
enum Seat {
    Begun { at: usize, index: usize },
    Late { at: usize },
}

impl Seat {
    fn seated(self, callback: Option<&Callback<Value>>) -> Registration<Emission, Heard> {
        let registration = if let Some(callback) = callback {
            callback.registration(None, self)
        } else {
            let name = match RegistrationName::new("observer") {
                Ok(name) => name,
                Err(refused) => unreachable!("a constant is a name: {refused}"),
            };
            Registration::new(name, Declared::Async, self)
        };
        registration.when_fallible(move |emission: &Emission| emission.has(self))
    }
}

impl Handler<Emission, Heard> for Seat {
    fn call<'a>(
        &'a self,
        emission: &'a Emission,
        scope: &'a Scope,
    ) -> Called<'a, Result<Heard, HandlerFailure>> {
        let Some((subscription, value)) = emission.at(*self) else {
            return Called::Now(Ok(Heard::at_once(Value::Null)));
        };
        match &**subscription {
            Subscription::Sink(binding) => {
                let written = binding.take(&emission.event);
                Called::later(async move { written.await.map(|()| Heard::awaited(Value::Null)) })
            }
            Subscription::Callback { callback, .. } => {
                match callback.handler().call(value, scope) {
                    Called::Now(answer) => Called::Now(answer.map(Heard::at_once)),
                    Called::Later { kind, future } => Called::Later {
                        kind,
                        future: Box::pin(async move { future.await.map(Heard::awaited) }),
                    },
                }
            }
        }
    }
}

impl Heard {
    fn at_once(value: Value) -> Self {
        Self {
            value,
            at_once: true,
        }
    }

    fn awaited(value: Value) -> Self {
        Self {
            value,
            at_once: false,
        }
    }
}
