//! Who is subscribed to an old observer, and which values of a signal each is handed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use triplane_kernel::HandlerFailure;

use crate::legacy::callback::Callback;
use crate::legacy::condition::Conditions;
use crate::legacy::persistence::Binding;
use crate::legacy::value::{Signal, Value};

/// A list that grows while emissions read it.
#[derive(Default)]
pub(crate) struct Subscriptions(pub(crate) Mutex<Vec<Arc<Subscription>>>);

pub(crate) enum Subscription {
    Callback {
        conditions: Conditions,
        callback: Callback<Value>,
    },
    Sink(Arc<Binding>),
}

impl Subscriptions {
    pub(crate) fn push(&self, subscription: Arc<Subscription>) {
        self.lock().push(subscription);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<Arc<Subscription>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscription {
    pub(crate) fn matches_max(&self, event: &Signal) -> usize {
        match self {
            Self::Callback { conditions, .. } => conditions.matches_max(event),
            Self::Sink(_) => 1,
        }
    }

    pub(crate) fn matches(&self, event: &Arc<Signal>) -> Result<Vec<Value>, HandlerFailure> {
        match self {
            Self::Callback { conditions, .. } => conditions.matches(event),
            Self::Sink(_) => Ok(vec![Value::Signal(Arc::clone(event))]),
        }
    }
}
