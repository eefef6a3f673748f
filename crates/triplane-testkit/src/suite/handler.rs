//! What every handler of a fan-out keeps, whatever it does with a signal.
//!
//! ```
//! use std::sync::Arc;
//! use triplane_kernel::{Declared, handler_fn};
//! use triplane_testkit::suite::handler;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let length = handler_fn(|text: &String| Ok(text.len()));
//! let samples = || vec![Arc::new("a".to_owned()), Arc::new("ab".to_owned())];
//! handler::check(Arc::new(length), Declared::Sync, samples).await;
//! # }
//! ```

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use triplane_kernel::declare::Setting;
use triplane_kernel::policy::{
    CompletionTiming, DeadlineDisposition, DispatchConcurrency, DispatchFailure, DispatchPhase,
    DispatchStagePolicy, ErrorSurface, HandlerCancellation, HandlerClassification, PhaseSelector,
    PredicateFailure, ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy,
    SyncHandlerMode,
};
use triplane_kernel::{
    Declared, DispatchPolicy, FanoutDispatcher, Handler, HandlerFailure, HandlerOutcome, Key,
    Keyed, PhaseDeclaration, PolicyError, Registration, RegistrationName, Scope,
};

use crate::offload::AtOnce;

/// How long a handler may take, on the tokio clock, before the suite calls it hung.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Holds `handler` against its contract for each of `samples`.
///
/// 1. It answers within [`PATIENCE`] and does not panic, called one after the other and beside
///    itself, here and through an offload.
/// 2. It leaves the signal as it was, by what its `Debug` form shows.
/// 3. A wait that is dropped harms nothing: the next call is answered.
///
/// What it answers is its own affair: a failure is an answer.
///
/// # Panics
///
/// When the handler breaks one of these; the message says which, and for which sample.
///
/// # Cancel safety
///
/// Dropping the future ends the check; nothing is left behind.
pub async fn check<S, T>(
    handler: Arc<dyn Handler<S, T>>,
    declared: Declared,
    samples: impl Fn() -> Vec<Arc<S>>,
) where
    S: Debug + Send + Sync + 'static,
    T: Send + 'static,
{
    for (index, (sample, untouched)) in samples().into_iter().zip(samples()).enumerate() {
        for (concurrency, sync_handlers) in [
            (DispatchConcurrency::Sequential, SyncHandlerMode::Inline),
            (DispatchConcurrency::Concurrent, SyncHandlerMode::Inline),
            (DispatchConcurrency::Concurrent, SyncHandlerMode::Offload),
        ] {
            let policy = match policy(concurrency, sync_handlers) {
                Ok(policy) => policy,
                Err(error) => unreachable!("the suite's policy is valid: {error}"),
            };
            let dispatcher = FanoutDispatcher::new(policy).with_offload(Arc::new(AtOnce));
            for name in ["once", "twice"] {
                let name = match RegistrationName::new(name) {
                    Ok(name) => name,
                    Err(refused) => unreachable!("a constant is a name: {refused}"),
                };
                let wrapped = Unkeyed(Arc::clone(&handler));
                dispatcher.register(Registration::new(name, declared, wrapped));
            }
            let (signal, scope) = (Arc::new(Sample(Arc::clone(&sample))), Scope::new());
            let dropped = dispatcher.emit(&signal, &scope);
            drop(tokio::time::timeout(Duration::ZERO, dropped).await);
            // A cancellation or a fatal failure is an answer, too.
            let Ok(report) = dispatcher.emit(&signal, &scope).await else {
                continue;
            };
            for entry in report.entries() {
                match entry.outcome {
                    HandlerOutcome::Failed(failure) if is_panic(failure) => {
                        panic!("sample {index}: the handler {failure}")
                    }
                    HandlerOutcome::TimedOut | HandlerOutcome::AbandonedUnknown => {
                        panic!("sample {index}: no answer within {PATIENCE:?}")
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(
            format!("{sample:?}"),
            format!("{untouched:?}"),
            "sample {index}: the signal was changed"
        );
    }
}

fn is_panic(failure: &HandlerFailure) -> bool {
    matches!(
        failure,
        HandlerFailure::Failed(triplane_kernel::HandlerError::Panic(_))
    )
}

/// A signal without keys: every registration hears it.
struct Sample<S>(Arc<S>);

impl<S> Keyed for Sample<S> {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

struct Unkeyed<S, T>(Arc<dyn Handler<S, T>>);

impl<S, T> Handler<Sample<S>, T> for Unkeyed<S, T>
where
    S: Send + Sync,
{
    fn call<'a>(
        &'a self,
        signal: &'a Sample<S>,
        scope: &'a Scope,
    ) -> triplane_kernel::Called<'a, Result<T, HandlerFailure>> {
        self.0.call(&signal.0, scope)
    }
}

fn policy(
    concurrency: DispatchConcurrency,
    sync_handlers: SyncHandlerMode,
) -> Result<DispatchPolicy, PolicyError> {
    let phase = DispatchPhase::new(PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency,
        sync_handlers,
        handler_classification: HandlerClassification::ByDeclaration,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::AwaitInInvocation,
        sync_entry: SyncEntryPolicy::Unavailable,
        predicate_failure: PredicateFailure::Propagate,
        invocation: DispatchStagePolicy::new(
            DispatchFailure::Isolate,
            CompletionTiming::AwaitAll,
            ErrorSurface::ReturnReport,
            HandlerCancellation::Collect,
        )?,
        returned_awaitables: Setting::Undefined,
        deadline_disposition: Setting::Value(DeadlineDisposition::ReturnReport),
        deadline_seconds: Setting::Value(PATIENCE.as_secs_f64()),
    })?;
    DispatchPolicy::new([phase])
}

#[cfg(test)]
mod tests {
    use triplane_kernel::{async_handler_fn, handler_fn};

    use super::*;

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "the handler panicked: boom")]
    async fn a_handler_that_panics_is_found() {
        let panics = handler_fn(|_: &u8| -> Result<(), HandlerFailure> { panic!("boom") });
        check(Arc::new(panics), Declared::Sync, || vec![Arc::new(1)]).await;
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "no answer within")]
    async fn a_handler_that_hangs_is_found() {
        let hangs = async_handler_fn(|_: &u8, _| {
            Box::pin(std::future::pending::<Result<(), HandlerFailure>>())
        });
        check(Arc::new(hangs), Declared::Async, || vec![Arc::new(1)]).await;
    }
}
