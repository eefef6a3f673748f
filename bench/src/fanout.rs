//! Fan-outs beside loops over boxed futures and beside `FuturesUnordered`.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use triplane_kernel::declare::Setting;
use triplane_kernel::policy::{
    CompletionTiming, DeadlineDisposition, DispatchConcurrency, DispatchFailure, DispatchPhase,
    DispatchPolicy, DispatchStagePolicy, ErrorSurface, HandlerCancellation, HandlerClassification,
    PhaseDeclaration, PhaseSelector, PredicateFailure, ReturnedAwaitableDisposition,
    ReturnedValueClassifier, SyncEntryPolicy, SyncHandlerMode,
};
use triplane_kernel::{
    FanoutDispatcher, HandlerFailure, Key, Keyed, Registration, RegistrationName, Scope,
    async_handler_fn, handler_fn,
};

use crate::chain::runtime;
use crate::measure::{Bound, Case, Subject};

/// A signal under one key.
pub(crate) struct Signal(pub(crate) Key);

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::once(self.0.clone())
    }
}

pub(crate) const KEY: Key = Key::from_static("kind");

/// The cases of this group.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [1, 8, 64] {
        let loose = n == 1;
        cases.push(Case {
            name: "sequential fan-out, ready / boxed loop",
            n,
            subject: emit(
                &policy(DispatchConcurrency::Sequential, None),
                n,
                Kind::Ready,
            ),
            limit: boxed_loop(n),
            goal: if loose {
                Bound::Plus(80.0, 1.2)
            } else {
                Bound::Times(1.2)
            },
            must: if loose {
                Bound::Plus(120.0, 1.35)
            } else {
                Bound::Times(1.35)
            },
        });
        cases.push(Case {
            name: "sequential fan-out, sync / boxed loop",
            n,
            subject: emit(
                &policy(DispatchConcurrency::Sequential, None),
                n,
                Kind::Sync,
            ),
            limit: boxed_loop(n),
            goal: if loose {
                Bound::Plus(80.0, 0.6)
            } else {
                Bound::Times(1.0)
            },
            must: if loose {
                Bound::Plus(120.0, 0.8)
            } else {
                Bound::Times(1.2)
            },
        });
        cases.push(Case {
            name: "concurrent fan-out, ready / FuturesUnordered",
            n,
            subject: emit(
                &policy(DispatchConcurrency::Concurrent, None),
                n,
                Kind::Ready,
            ),
            limit: unordered(n, || std::future::ready(())),
            goal: if loose {
                Bound::Times(1.2)
            } else {
                Bound::Times(0.4)
            },
            must: if loose {
                Bound::Times(1.5)
            } else {
                Bound::Times(0.8)
            },
        });
        cases.push(Case {
            name: "concurrent fan-out, yields / FuturesUnordered",
            n,
            subject: emit(
                &policy(DispatchConcurrency::Concurrent, None),
                n,
                Kind::Yields,
            ),
            limit: unordered(n, || Yield(false)),
            // The bars stand for 64. Fewer share the fixed cost of one emission among them.
            goal: if n == 64 {
                Bound::Times(0.85)
            } else {
                Bound::Plus(200.0, 0.85)
            },
            must: if n == 64 {
                Bound::Times(1.1)
            } else {
                Bound::Plus(300.0, 1.1)
            },
        });
        cases.push(Case {
            name: "with a deadline / without",
            n,
            subject: emit(
                &policy(DispatchConcurrency::Sequential, Some(5.0)),
                n,
                Kind::Ready,
            ),
            limit: emit(
                &policy(DispatchConcurrency::Sequential, None),
                n,
                Kind::Ready,
            ),
            goal: Bound::Plus(60.0, 1.0),
            must: Bound::Plus(90.0, 1.0),
        });
    }
    cases
}

#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Sync,
    Ready,
    Yields,
}

pub(crate) fn policy(concurrency: DispatchConcurrency, deadline: Option<f64>) -> DispatchPolicy {
    let invocation = DispatchStagePolicy::new(
        DispatchFailure::Isolate,
        CompletionTiming::AwaitAll,
        ErrorSurface::ReturnReport,
        HandlerCancellation::Propagate,
    );
    let phase = DispatchPhase::new(PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency,
        sync_handlers: SyncHandlerMode::Inline,
        handler_classification: HandlerClassification::ByDeclaration,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::AwaitInInvocation,
        sync_entry: SyncEntryPolicy::Unavailable,
        predicate_failure: PredicateFailure::Isolate,
        invocation: invocation.expect("the stage is valid"),
        returned_awaitables: Setting::Undefined,
        deadline_disposition: deadline.map(|_| DeadlineDisposition::ReturnReport).into(),
        deadline_seconds: deadline.into(),
    });
    DispatchPolicy::new([phase.expect("the phase is valid")]).expect("the policy is valid")
}

pub(crate) fn registration(index: usize, kind: Kind) -> Registration<Signal> {
    let name = RegistrationName::new(format!("h{index}")).expect("a number is a name");
    match kind {
        Kind::Sync => Registration::sync(name, handler_fn(|_: &Signal| Ok(()))),
        Kind::Ready => Registration::asynchronous(
            name,
            async_handler_fn(|_: &Signal, _| Box::pin(async { Ok(()) })),
        ),
        Kind::Yields => Registration::asynchronous(
            name,
            async_handler_fn(|_: &Signal, _| {
                Box::pin(async {
                    Yield(false).await;
                    Ok(())
                })
            }),
        ),
    }
}

fn emit(policy: &DispatchPolicy, n: usize, kind: Kind) -> Subject {
    let dispatcher = FanoutDispatcher::<Signal>::new(policy.clone());
    for index in 0..n {
        dispatcher.register(registration(index, kind).on(KEY));
    }
    emitting(dispatcher, KEY)
}

/// Emits one signal under `key` again and again.
pub(crate) fn emitting(dispatcher: FanoutDispatcher<Signal>, key: Key) -> Subject {
    let (signal, scope, runtime) = (Arc::new(Signal(key)), Scope::new(), runtime());
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                black_box(&dispatcher.emit(&signal, &scope).await);
            }
        });
    })
}

type Boxed = Arc<dyn Fn(&u64) -> BoxFuture<'_, Result<(), HandlerFailure>> + Send + Sync>;

fn ready(_: &u64) -> BoxFuture<'_, Result<(), HandlerFailure>> {
    Box::pin(async { Ok(()) })
}

pub(crate) fn boxed_loop(n: usize) -> Subject {
    let handlers: Vec<Boxed> = (0..n).map(|_| Arc::new(ready) as Boxed).collect();
    let runtime = runtime();
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                let signal = black_box(7);
                for handler in &handlers {
                    let _ = black_box(handler(&signal).await);
                }
            }
        });
    })
}

fn unordered<F>(n: usize, future: impl Fn() -> F + 'static) -> Subject
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = runtime();
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                let mut set: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
                for _ in 0..n {
                    set.push(Box::pin(future()));
                }
                while set.next().await.is_some() {}
            }
        });
    })
}

/// Pending once.
pub(crate) struct Yield(pub(crate) bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
