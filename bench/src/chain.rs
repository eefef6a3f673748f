//! Interceptor chains beside loops over boxed functions and boxed futures.

use std::hint::black_box;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::runtime::Runtime;
use triplane_kernel::{
    Decision, HandlerFailure, Interceptor, InterceptorChain, InterceptorRegistration, PlanBuilder,
    RegistrationName, Scope, StageDeclaration, StageFailure, StageName, StageOrder, Step,
    intercept_fn,
};

use crate::measure::{Bound, Case, Subject};

pub(crate) type Judge = Arc<dyn Fn(&u64) -> Decision<u64> + Send + Sync>;
pub(crate) type LaterJudge = Arc<dyn Fn(&u64) -> BoxFuture<'_, Decision<u64>> + Send + Sync>;

/// The cases of this group.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [1, 8, 64] {
        cases.push(Case {
            name: "sync chain / loop of boxed functions",
            n,
            subject: sync_chain(n),
            limit: loop_of_functions(n),
            goal: Bound::Plus(12.0, 1.15),
            must: match n {
                1 => Bound::Plus(12.0, 1.7),
                8 => Bound::Times(1.7),
                _ => Bound::Times(1.3),
            },
        });
        cases.push(Case {
            name: "async chain / loop of boxed futures",
            n,
            subject: async_chain(n, later()),
            limit: loop_of_futures(n),
            goal: if n == 1 {
                Bound::Plus(15.0, 1.15)
            } else {
                Bound::Times(1.15)
            },
            must: if n == 1 {
                Bound::Plus(25.0, 1.2)
            } else {
                Bound::Times(1.2)
            },
        });
        cases.push(Case {
            name: "async chain, declared sync / loop of boxed futures",
            n,
            subject: async_chain(n, continues_now()),
            limit: loop_of_futures(n),
            goal: if n == 1 {
                Bound::Plus(15.0, 0.4)
            } else {
                Bound::Times(0.4)
            },
            must: if n == 1 {
                Bound::Plus(30.0, 0.5)
            } else {
                Bound::Times(0.5)
            },
        });
    }
    cases.extend(containment());
    cases
}

/// What it costs that a panic is contained: the chain beside a loop over the same interceptors that
/// contains nothing. The report counts too, so that the ratios are at most this good.
fn containment() -> [Case; 2] {
    const N: usize = 64;
    [
        Case {
            name: "panic containment, sync / bare loop",
            n: N,
            subject: sync_chain(N),
            limit: bare_loop(N),
            goal: Bound::Times(1.25),
            must: Bound::Times(1.35),
        },
        Case {
            name: "panic containment, async / bare loop",
            n: N,
            subject: async_chain(N, later()),
            limit: bare_loop_of_futures(N),
            goal: Bound::Times(1.05),
            must: Bound::Times(1.1),
        },
    ]
}

fn bare(
    n: usize,
    handler: impl Interceptor<u64> + Copy + 'static,
) -> Vec<Box<dyn Interceptor<u64>>> {
    (0..n)
        .map(|_| Box::new(handler) as Box<dyn Interceptor<u64>>)
        .collect()
}

fn bare_loop(n: usize) -> Subject {
    let (interceptors, scope) = (bare(n, continues_now()), Scope::new());
    Box::new(move |iterations| {
        for _ in 0..iterations {
            let context = black_box(7);
            for interceptor in &interceptors {
                match interceptor.intercept(&context, &scope) {
                    Step::Ready(Ok(Decision::Continue(None))) => {}
                    _ => break,
                }
            }
            black_box(context);
        }
    })
}

fn bare_loop_of_futures(n: usize) -> Subject {
    let (interceptors, scope, runtime) = (bare(n, later()), Scope::new(), runtime());
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                let context = black_box(7);
                for interceptor in &interceptors {
                    let Step::Later(future) = interceptor.intercept(&context, &scope) else {
                        break;
                    };
                    if !matches!(future.await, Ok(Decision::Continue(None))) {
                        break;
                    }
                }
                black_box(context);
            }
        });
    })
}

/// A runtime for one subject; the time driver is there for cases with a deadline.
pub(crate) fn runtime() -> Runtime {
    match tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => panic!("no runtime: {error}"),
    }
}

fn loop_of_functions(n: usize) -> Subject {
    let judges: Vec<Judge> = (0..n)
        .map(|_| Arc::new(|_: &u64| Decision::CONTINUE) as Judge)
        .collect();
    Box::new(move |iterations| {
        for _ in 0..iterations {
            let context = black_box(7);
            for judge in &judges {
                if !matches!(judge(&context), Decision::Continue(None)) {
                    break;
                }
            }
            black_box(context);
        }
    })
}

fn continues(_: &u64) -> BoxFuture<'_, Decision<u64>> {
    Box::pin(async { Decision::CONTINUE })
}

pub(crate) fn loop_of_futures(n: usize) -> Subject {
    let judges: Vec<LaterJudge> = (0..n).map(|_| Arc::new(continues) as LaterJudge).collect();
    let runtime = runtime();
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                let context = black_box(7);
                for judge in &judges {
                    if !matches!(judge(&context).await, Decision::Continue(None)) {
                        break;
                    }
                }
                black_box(context);
            }
        });
    })
}

/// An interceptor that is declared sync.
fn continues_now() -> impl Interceptor<u64> + Copy {
    intercept_fn(|_: &u64| Ok(Decision::CONTINUE))
}

/// An interceptor that answers with a boxed future.
pub(crate) fn later() -> impl Interceptor<u64> + Copy {
    Later
}

#[derive(Clone, Copy)]
struct Later;

impl Interceptor<u64> for Later {
    fn intercept<'a>(
        &'a self,
        _: &'a u64,
        _: &'a Scope,
    ) -> Step<'a, Result<Decision<u64>, HandlerFailure>> {
        Step::later(async { Ok(Decision::CONTINUE) })
    }
}

pub(crate) fn chain(
    n: usize,
    handler: impl Interceptor<u64> + Copy + 'static,
) -> InterceptorChain<u64> {
    let name = |text: &str| StageName::new(text).expect("a constant is a name");
    let order = StageOrder::new([StageDeclaration::new(name("guard"), StageFailure::Deny)]);
    let mut builder = PlanBuilder::new(order);
    for index in 0..n {
        builder = builder.register(InterceptorRegistration::new(
            RegistrationName::new(format!("h{index}")).expect("a number is a name"),
            name("guard"),
            0,
            handler,
        ));
    }
    InterceptorChain::new(builder.build().expect("the plan is valid"))
}

fn sync_chain(n: usize) -> Subject {
    let (chain, scope) = (chain(n, continues_now()), Scope::new());
    Box::new(move |iterations| {
        for _ in 0..iterations {
            black_box(&chain.apply_sync(black_box(7), &scope));
        }
    })
}

pub(crate) fn async_chain(n: usize, handler: impl Interceptor<u64> + Copy + 'static) -> Subject {
    let (chain, scope) = (chain(n, handler), Scope::new());
    let runtime = runtime();
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                black_box(&chain.apply(black_box(7), &scope).await);
            }
        });
    })
}
