//! Observation: those who hear of facts, and cannot change them.

use std::sync::Arc;

use triplane_kernel::{
    DispatchError, DispatchPolicy, DispatchReport, FanoutDispatcher, Handler, NameRefused,
    Registration, RegistrationId, RegistrationName, Scope, handler_fn,
};

use crate::filter::SignalFilter;
use crate::signal::Signal;

/// Where facts are announced (ADR-0120 D3, `SessionObservation`).
///
/// Observers are called one after the other, in the order of their registration. One that fails or
/// panics is isolated: the others hear of the fact all the same, the report says what went wrong,
/// and the fact stays what it is. No gate stands before them, and none of them can answer with a
/// denial or another fact.
#[derive(Debug)]
pub struct SessionObservation {
    dispatcher: FanoutDispatcher<Signal>,
}

/// A registered observer, to be removed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observer {
    id: RegistrationId,
}

impl SessionObservation {
    /// Without observers.
    pub fn new() -> Self {
        Self {
            dispatcher: FanoutDispatcher::new(DispatchPolicy::isolated_in_order()),
        }
    }

    /// Registers a function that is called with every signal for which `filter` holds.
    ///
    /// It runs inside [`emit`](Self::emit) and should be quick.
    ///
    /// # Errors
    ///
    /// [`NameRefused`] when `name` is not a name.
    pub fn observe(
        &self,
        name: &str,
        filter: SignalFilter,
        observe: impl Fn(&Signal) + Send + Sync + 'static,
    ) -> Result<Observer, NameRefused> {
        let handler = handler_fn(move |signal: &Signal| {
            observe(signal);
            Ok(())
        });
        Ok(self.register(
            Registration::sync(RegistrationName::new(name)?, handler),
            filter,
        ))
    }

    /// Registers a handler that may need a wait.
    ///
    /// # Errors
    ///
    /// [`NameRefused`] when `name` is not a name.
    pub fn observe_with(
        &self,
        name: &str,
        filter: SignalFilter,
        handler: impl Handler<Signal, ()> + 'static,
    ) -> Result<Observer, NameRefused> {
        let name = RegistrationName::new(name)?;
        Ok(self.register(Registration::asynchronous(name, handler), filter))
    }

    fn register(&self, registration: Registration<Signal>, filter: SignalFilter) -> Observer {
        let registration = registration.on(filter.key());
        let registration = if filter.needs_predicate() {
            registration.when(move |signal| filter.holds(signal))
        } else {
            registration
        };
        Observer {
            id: self.dispatcher.register(registration),
        }
    }

    /// Removes an observer; `false` when it was removed before.
    pub fn unobserve(&self, observer: &Observer) -> bool {
        self.dispatcher.remove(observer.id)
    }

    /// Whether nobody observes.
    pub fn is_empty(&self) -> bool {
        self.dispatcher.is_empty()
    }

    /// Announces a fact.
    ///
    /// # Errors
    ///
    /// [`DispatchError`] when `scope` was cancelled by the emitter; what observers do is in the
    /// report.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the later observers without the fact.
    pub async fn emit(
        &self,
        signal: &Arc<Signal>,
        scope: &Scope,
    ) -> Result<DispatchReport<()>, DispatchError> {
        self.dispatcher.emit(signal, scope).await
    }
}

impl Default for SessionObservation {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
