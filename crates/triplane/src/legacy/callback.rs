//! A handler as a legacy name takes it: with its name, its declaration, and its identity.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use triplane_kernel::policy::Declared;
use triplane_kernel::{
    Cooperation, Handler, HandlerFailure, NameRefused, Registration, RegistrationName, Scope,
    async_handler_fn, handler_fn,
};

use crate::legacy::value::Value;

/// A handler for values of type `S`, which answers a [`Value`].
///
/// Clones are the same handler: it is removed, and recognised as a duplicate, by identity.
pub struct Callback<S> {
    inner: Arc<Inner<S>>,
}

struct Inner<S> {
    name: RegistrationName,
    declared: Declared,
    cooperation: Cooperation,
    handler: Arc<dyn Handler<S, Value>>,
}

impl<S: Send + Sync + 'static> Callback<S> {
    /// A plain function.
    ///
    /// # Errors
    ///
    /// [`NameRefused`] when `name` is not a name.
    pub fn sync<F>(name: &str, function: F) -> Result<Self, NameRefused>
    where
        F: Fn(&S) -> Result<Value, HandlerFailure> + Send + Sync + 'static,
    {
        Self::new(name, Declared::Sync, handler_fn(function))
    }

    /// A function whose answer is awaited.
    ///
    /// # Errors
    ///
    /// [`NameRefused`] when `name` is not a name.
    pub fn asynchronous<F>(name: &str, function: F) -> Result<Self, NameRefused>
    where
        F: for<'a> Fn(&'a S, &'a Scope) -> BoxFuture<'a, Result<Value, HandlerFailure>>
            + Send
            + Sync
            + 'static,
    {
        Self::new(name, Declared::Async, async_handler_fn(function))
    }

    /// Any handler, declared sync or async. A request to cancel drops it while it waits.
    ///
    /// # Errors
    ///
    /// [`NameRefused`] when `name` is not a name.
    pub fn new(
        name: &str,
        declared: Declared,
        handler: impl Handler<S, Value> + 'static,
    ) -> Result<Self, NameRefused> {
        Ok(Self {
            inner: Arc::new(Inner {
                name: RegistrationName::new(name)?,
                declared,
                cooperation: Cooperation::Dropped,
                handler: Arc::new(handler),
            }),
        })
    }

    /// Another handler that does the same, and meets a request to cancel itself.
    #[must_use]
    pub fn cooperative(&self) -> Self {
        Self {
            inner: Arc::new(Inner {
                name: self.inner.name.clone(),
                declared: self.inner.declared,
                cooperation: Cooperation::Cooperative,
                handler: Arc::clone(&self.inner.handler),
            }),
        }
    }

    /// The handler's name.
    pub fn name(&self) -> &RegistrationName {
        &self.inner.name
    }

    /// How it is declared.
    pub fn declared(&self) -> Declared {
        self.inner.declared
    }

    /// Whether both are the same handler.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    pub(crate) fn cooperation(&self) -> Cooperation {
        self.inner.cooperation
    }

    pub(crate) fn handler(&self) -> &Arc<dyn Handler<S, Value>> {
        &self.inner.handler
    }

    /// The registration of another handler in the place of this one: its name, declaration and
    /// cooperation, under another name if one is given.
    pub(crate) fn registration<E, T>(
        &self,
        name: Option<&RegistrationName>,
        handler: impl Handler<E, T> + 'static,
    ) -> Registration<E, T> {
        let name = name.unwrap_or(&self.inner.name).clone();
        let registration = Registration::new(name, self.inner.declared, handler);
        match self.inner.cooperation {
            Cooperation::Dropped => registration,
            Cooperation::Cooperative => registration.cooperative(),
        }
    }
}

impl<S> Clone for Callback<S> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<S> fmt::Debug for Callback<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callback")
            .field("name", &self.inner.name)
            .field("declared", &self.inner.declared)
            .field("cooperation", &self.inner.cooperation)
            .finish_non_exhaustive()
    }
}
