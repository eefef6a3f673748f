//! What a fan-out calls: the trait, what a call comes to, and adaptors from functions.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::cancel::Scope;
use crate::failure::HandlerFailure;

/// What kind of awaitable a handler returned.
///
/// Ordinary handlers return futures, which are coroutines here. The other kind exists because the
/// classifiers of ADR-0120 D2 tell a coroutine from any other awaitable, and the named profiles
/// must be reproduced exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AwaitableKind {
    /// A future as an `async` block makes it.
    Coroutine,
    /// Any other thing that can be awaited.
    Awaitable,
}

/// What the call of a handler came to: a value now, or a future of it.
pub enum Called<'a, T> {
    /// The value.
    Now(T),
    /// The future of the value.
    Later {
        /// What a classifier sees of the future.
        kind: AwaitableKind,
        /// The future itself.
        future: BoxFuture<'a, T>,
    },
}

impl<'a, T> Called<'a, T> {
    /// A future of the ordinary kind.
    pub fn later(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self::Later {
            kind: AwaitableKind::Coroutine,
            future: Box::pin(future),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Called<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(value) => f.debug_tuple("Now").field(value).finish(),
            Self::Later { kind, .. } => f
                .debug_struct("Later")
                .field("kind", kind)
                .finish_non_exhaustive(),
        }
    }
}

/// An in-process consumer of a signal (ADR-0120 D1, `Subscriber`).
///
/// Called by [`FanoutDispatcher`](crate::FanoutDispatcher) once for each matching emission. It sees
/// the signal by reference and cannot change it for others; what its failure means, the policy
/// says. A handler that is declared sync and blocks needs a policy that offloads.
///
/// A handler cannot change the signal:
///
/// ```compile_fail
/// use triplane_kernel::handler_fn;
/// let changes = handler_fn(|text: &mut String| {
///     text.clear();
///     Ok(())
/// });
/// ```
pub trait Handler<S, T>: Send + Sync {
    /// Takes one signal.
    fn call<'a>(&'a self, signal: &'a S, scope: &'a Scope)
    -> Called<'a, Result<T, HandlerFailure>>;
}

impl<S, T, H: Handler<S, T> + ?Sized> Handler<S, T> for Arc<H> {
    fn call<'a>(
        &'a self,
        signal: &'a S,
        scope: &'a Scope,
    ) -> Called<'a, Result<T, HandlerFailure>> {
        (**self).call(signal, scope)
    }
}

/// A handler from a function that needs no wait.
///
/// ```
/// use triplane_kernel::{Called, Handler, Scope, handler_fn};
///
/// let length = handler_fn(|text: &String| Ok(text.len()));
/// assert!(matches!(length.call(&"abc".to_owned(), &Scope::new()), Called::Now(Ok(3))));
/// ```
pub fn handler_fn<S, T, F>(function: F) -> HandlerFn<F>
where
    F: Fn(&S) -> Result<T, HandlerFailure> + Send + Sync,
{
    HandlerFn(function)
}

/// The handler that [`handler_fn`] makes.
pub struct HandlerFn<F>(F);

impl<S, T, F> Handler<S, T> for HandlerFn<F>
where
    F: Fn(&S) -> Result<T, HandlerFailure> + Send + Sync,
{
    fn call<'a>(&'a self, signal: &'a S, _: &'a Scope) -> Called<'a, Result<T, HandlerFailure>> {
        Called::Now((self.0)(signal))
    }
}

/// A handler from a function that returns a boxed future.
///
/// ```
/// use triplane_kernel::{Called, Handler, Scope, async_handler_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let length = async_handler_fn(|text: &String, _scope| {
///     Box::pin(async move {
///         tokio::task::yield_now().await;
///         Ok(text.len())
///     })
/// });
/// let (text, scope) = ("abc".to_owned(), Scope::new());
/// let Called::Later { future, .. } = length.call(&text, &scope) else { panic!() };
/// assert_eq!(future.await.ok(), Some(3));
/// # }
/// ```
pub fn async_handler_fn<S, T, F>(function: F) -> AsyncHandlerFn<F>
where
    F: for<'a> Fn(&'a S, &'a Scope) -> BoxFuture<'a, Result<T, HandlerFailure>> + Send + Sync,
{
    AsyncHandlerFn(function)
}

/// The handler that [`async_handler_fn`] makes.
pub struct AsyncHandlerFn<F>(F);

impl<S, T, F> Handler<S, T> for AsyncHandlerFn<F>
where
    F: for<'a> Fn(&'a S, &'a Scope) -> BoxFuture<'a, Result<T, HandlerFailure>> + Send + Sync,
{
    fn call<'a>(
        &'a self,
        signal: &'a S,
        scope: &'a Scope,
    ) -> Called<'a, Result<T, HandlerFailure>> {
        Called::Later {
            kind: AwaitableKind::Coroutine,
            future: (self.0)(signal, scope),
        }
    }
}

impl<F> fmt::Debug for HandlerFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerFn(..)")
    }
}

impl<F> fmt::Debug for AsyncHandlerFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsyncHandlerFn(..)")
    }
}
