//! The trait that can say no.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::cancel::Scope;
use crate::failure::HandlerFailure;
use crate::intercept::decision::Decision;

/// An answer that is there, or one that must be awaited.
///
/// Dyn-compatible without an allocation for the handler that needs no wait.
pub enum Step<'a, T> {
    /// The answer.
    Ready(T),
    /// The future of the answer.
    Later(BoxFuture<'a, T>),
}

impl<'a, T> Step<'a, T> {
    /// Boxes a future as an answer that comes later.
    pub fn later(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self::Later(Box::pin(future))
    }

    /// The answer, awaited if need be.
    ///
    /// # Cancel safety
    ///
    /// Dropping the wait drops the handler's future.
    pub async fn resolve(self) -> T {
        match self {
            Self::Ready(value) => value,
            Self::Later(future) => future.await,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Step<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(value) => f.debug_tuple("Ready").field(value).finish(),
            Self::Later(_) => f.write_str("Later(..)"),
        }
    }
}

/// Ordered control around an operation, inside its owner's call (ADR-0120 D1, D2).
///
/// Implemented by guards and policies; called by [`InterceptorChain`](crate::InterceptorChain), one
/// after the other in the plan's order, with the context as the earlier ones left it. An ordinary
/// refusal is [`Decision::Deny`], never an error: what an error means is declared per stage of the
/// plan. A blocking call belongs on a thread of its own, behind [`Step::Later`].
pub trait Interceptor<C>: Send + Sync {
    /// Judges the operation that `cx` proposes.
    fn intercept<'a>(
        &'a self,
        cx: &'a C,
        scope: &'a Scope,
    ) -> Step<'a, Result<Decision<C>, HandlerFailure>>;
}

impl<C, T: Interceptor<C> + ?Sized> Interceptor<C> for Arc<T> {
    fn intercept<'a>(
        &'a self,
        cx: &'a C,
        scope: &'a Scope,
    ) -> Step<'a, Result<Decision<C>, HandlerFailure>> {
        (**self).intercept(cx, scope)
    }
}

/// An interceptor from a function that needs no wait.
///
/// ```
/// use triplane_kernel::{Decision, Interceptor, Scope, Step, intercept_fn};
///
/// let short = intercept_fn(|text: &String| {
///     Ok(if text.len() > 3 { Decision::deny("too long") } else { Decision::CONTINUE })
/// });
/// let Step::Ready(Ok(decision)) = short.intercept(&"abcd".to_owned(), &Scope::new()) else { panic!() };
/// assert_eq!(decision, Decision::deny("too long"));
/// ```
pub fn intercept_fn<C, F>(judge: F) -> InterceptFn<F>
where
    F: Fn(&C) -> Result<Decision<C>, HandlerFailure> + Send + Sync,
{
    InterceptFn(judge)
}

/// The interceptor that [`intercept_fn`] makes.
#[derive(Clone, Copy)]
pub struct InterceptFn<F>(F);

impl<C, F> Interceptor<C> for InterceptFn<F>
where
    F: Fn(&C) -> Result<Decision<C>, HandlerFailure> + Send + Sync,
{
    fn intercept<'a>(
        &'a self,
        cx: &'a C,
        _scope: &'a Scope,
    ) -> Step<'a, Result<Decision<C>, HandlerFailure>> {
        Step::Ready((self.0)(cx))
    }
}

impl<F> fmt::Debug for InterceptFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InterceptFn(..)")
    }
}
