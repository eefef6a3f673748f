//! The chain: a compiled plan, and the two ways of asking it.

use std::fmt;
use std::future::poll_fn;
use std::task::Poll;

use crate::cancel::{CancelCause, Scope};
use crate::intercept::ordinary::{Asked, stretch, stretch_now};
use crate::intercept::plan::InterceptorPlan;
use crate::intercept::report::InterceptorReport;
use crate::intercept::run::{Answer, Run};

/// Ordered control around one operation (ADR-0120 D2, `OrderedInterceptorChain`).
///
/// ```
/// use triplane_kernel::{
///     ChainOutcome, ChainVerdict, Decision, InterceptorChain, InterceptorRegistration, PlanBuilder,
///     RegistrationName, Scope, StageDeclaration, StageFailure, StageName, StageOrder,
///     intercept_fn,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = StageName::new("guard")?;
/// let order = StageOrder::new([StageDeclaration::new(guard.clone(), StageFailure::Deny)]);
/// let short = intercept_fn(|text: &String| {
///     Ok(if text.len() > 5 { Decision::deny("too long") } else { Decision::CONTINUE })
/// });
/// let plan = PlanBuilder::new(order)
///     .register(InterceptorRegistration::new(RegistrationName::new("short")?, guard, 0, short))
///     .build()?;
/// let chain = InterceptorChain::new(plan);
///
/// let report = chain.apply("hello".to_owned(), &Scope::new()).await;
/// assert!(matches!(report.into_outcome(), ChainOutcome::Proceed(text) if text == "hello"));
/// let report = chain.apply("good morning".to_owned(), &Scope::new()).await;
/// assert!(matches!(report.verdict(), ChainVerdict::Denied { by, .. } if by.as_str() == "short"));
/// # Ok(())
/// # }
/// ```
pub struct InterceptorChain<C> {
    plan: InterceptorPlan<C>,
}

impl<C> InterceptorChain<C> {
    /// A chain over a compiled plan.
    pub fn new(plan: InterceptorPlan<C>) -> Self {
        Self { plan }
    }

    /// The plan that this chain runs.
    pub fn plan(&self) -> &InterceptorPlan<C> {
        &self.plan
    }

    /// Asks the registrations of the plan, one after the other.
    ///
    /// A standing request on `scope` ends the chain before the first registration; any request
    /// ends it at the wait it meets. Teardown stages run in every case, and a cancellation is
    /// raised after them.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with its time driver, when a teardown stage must be held to its
    /// budget. A panic of an interceptor is a failure of that interceptor.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is the hard stop: the interceptor that waits is dropped, no further one
    /// is asked, teardown stages do not run and there is no report. Nothing is left behind.
    pub async fn apply(&self, context: C, scope: &Scope) -> InterceptorReport<'_, C> {
        let plan = self.plan.compiled();
        let standing = plan.standing(scope);
        let (mut at, mut asked) = (0, Asked::End);
        let straight = standing.is_none() && !plan.timed;
        if straight {
            let (at, asked, context) = (&mut at, &mut asked, &context);
            poll_fn(|cx| {
                stretch(&plan.ordinary, at, context, scope, cx, asked);
                Poll::Ready(())
            })
            .await;
        }
        // Nearly every chain ends here. The answer is looked at in place, and the context is moved
        // once.
        if straight && plan.teardown.is_empty() && matches!(asked, Asked::End) {
            // It owns nothing.
            std::mem::forget(asked);
            return InterceptorReport::quiet(plan, context);
        }
        let loud = asked.answer(plan, at, scope).await;
        if straight && loud.is_none() {
            at = plan.ordinary.len();
        }
        let mut run = Run::new(plan, context);
        match standing {
            Some(cause) => run.cancelled_before(cause),
            None => run.ordinary(at, loud, scope).await,
        }
        if !plan.teardown.is_empty() {
            run.teardown(scope).await;
        }
        run.finish()
    }

    /// The same without waiting, for owners that are synchronous.
    ///
    /// An interceptor that answers later ends the chain with a failure, whatever its stage makes
    /// of ordinary failures: an answer that nobody waits for is not permission.
    ///
    /// # Panics
    ///
    /// Never: a panic of an interceptor is a failure of that interceptor.
    pub fn apply_sync(&self, context: C, scope: &Scope) -> InterceptorReport<'_, C> {
        let plan = self.plan.compiled();
        let standing = plan.standing(scope);
        let (mut at, mut asked) = (0, Asked::End);
        let straight = standing.is_none() && !plan.timed;
        if straight {
            stretch_now(&plan.ordinary, &mut at, &context, scope, &mut asked);
        }
        if straight && plan.teardown.is_empty() && matches!(asked, Asked::End) {
            // It owns nothing.
            std::mem::forget(asked);
            return InterceptorReport::quiet(plan, context);
        }
        let loud = asked.answer_now();
        if straight && loud.is_none() {
            at = plan.ordinary.len();
        }
        self.loud_now(context, standing, at, loud, scope)
    }

    /// What is left to do without waiting when a chain is not quiet.
    #[cold]
    #[inline(never)]
    fn loud_now(
        &self,
        context: C,
        standing: Option<CancelCause>,
        at: usize,
        loud: Option<Answer<C>>,
        scope: &Scope,
    ) -> InterceptorReport<'_, C> {
        let plan = self.plan.compiled();
        let mut run = Run::new(plan, context);
        match standing {
            Some(cause) => run.cancelled_before(cause),
            None => run.ordinary_sync(at, loud, scope),
        }
        if !plan.teardown.is_empty() {
            run.teardown_sync();
        }
        run.finish()
    }
}

impl<C> Clone for InterceptorChain<C> {
    fn clone(&self) -> Self {
        Self::new(self.plan.clone())
    }
}

impl<C> fmt::Debug for InterceptorChain<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterceptorChain")
            .field("plan", &self.plan)
            .finish()
    }
}
