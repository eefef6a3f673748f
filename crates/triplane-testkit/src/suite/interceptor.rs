//! What every interceptor keeps, whatever it judges.
//!
//! ```
//! use triplane_kernel::{Decision, intercept_fn};
//! use triplane_testkit::suite::interceptor;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let short = intercept_fn(|text: &String| {
//!     Ok(if text.len() > 3 { Decision::deny("too long") } else { Decision::CONTINUE })
//! });
//! interceptor::check(&short, || vec!["ab".to_owned(), "abcd".to_owned()]).await;
//! # }
//! ```

use std::fmt::Debug;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use triplane_kernel::{CancelCause, Decision, HandlerFailure, Interceptor, Scope, Step};

/// How long an interceptor may take, on the tokio clock, before the suite calls it hung.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Holds `interceptor` against its contract for each of `samples`.
///
/// 1. It answers, within [`PATIENCE`], and neither panics nor leaves the context other than it was,
///    by what its `Debug` form shows.
/// 2. Asked again about the same, it comes to the same: a judgement that is repeated after a
///    rewrite must not depend on how often it was asked.
/// 3. A wait that is dropped harms nothing: the next question is answered as before.
/// 4. Under a scope that was cancelled before, it still ends.
///
/// # Panics
///
/// When the interceptor breaks one of these; the message says which, and for which sample.
///
/// # Cancel safety
///
/// Dropping the future ends the check; nothing is left behind.
pub async fn check<C, I>(interceptor: &I, samples: impl Fn() -> Vec<C>)
where
    C: Debug,
    I: Interceptor<C> + ?Sized,
{
    let pairs = samples().into_iter().zip(samples());
    for (index, (sample, untouched)) in pairs.enumerate() {
        let first = ask(interceptor, &sample, &Scope::new(), index).await;
        assert_eq!(
            format!("{sample:?}"),
            format!("{untouched:?}"),
            "sample {index}: the context was changed in place"
        );
        let second = ask(interceptor, &sample, &Scope::new(), index).await;
        assert_eq!(
            text(&first),
            text(&second),
            "sample {index}: two answers differ"
        );
        let scope = Scope::new();
        if let Step::Later(mut future) = interceptor.intercept(&sample, &scope) {
            drop((&mut future).now_or_never());
            drop(future);
        }
        let third = ask(interceptor, &sample, &Scope::new(), index).await;
        assert_eq!(
            text(&first),
            text(&third),
            "sample {index}: a dropped wait changed the answer"
        );
        let cancelled = Scope::new();
        cancelled.cancel(CancelCause::Emitter);
        drop(ask(interceptor, &sample, &cancelled, index).await);
    }
}

type Answer<C> = Result<Decision<C>, HandlerFailure>;

async fn ask<C, I>(interceptor: &I, sample: &C, scope: &Scope, index: usize) -> Answer<C>
where
    I: Interceptor<C> + ?Sized,
{
    let answer = async { interceptor.intercept(sample, scope).resolve().await };
    let contained = AssertUnwindSafe(answer).catch_unwind();
    match tokio::time::timeout(PATIENCE, contained).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(payload)) => {
            let failure = HandlerFailure::panicked(&*payload);
            panic!("sample {index}: {failure}")
        }
        Err(elapsed) => panic!("sample {index}: no answer within {PATIENCE:?}: {elapsed}"),
    }
}

/// Failures have no equality; their text has.
fn text<C: Debug>(answer: &Answer<C>) -> String {
    match answer {
        Ok(decision) => format!("{decision:?}"),
        Err(failure) => failure.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use triplane_kernel::intercept_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "two answers differ")]
    async fn an_interceptor_that_changes_its_mind_is_found() {
        let asked = AtomicU32::new(0);
        let fickle = intercept_fn(move |(): &()| match asked.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(Decision::CONTINUE),
            _ => Ok(Decision::deny("asked before")),
        });
        check(&fickle, || vec![()]).await;
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "no answer within")]
    async fn an_interceptor_that_hangs_is_found() {
        struct Hangs;
        impl Interceptor<()> for Hangs {
            fn intercept<'a>(&'a self, (): &'a (), _: &'a Scope) -> Step<'a, Answer<()>> {
                Step::later(std::future::pending())
            }
        }
        check(&Hangs, || vec![()]).await;
    }
}
