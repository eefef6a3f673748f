//! What a chain and a fan-out allocate, exactly.

#![allow(
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test, with its place"
)]

use std::alloc::System;
use std::sync::Arc;

use futures::FutureExt as _;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use triplane_kernel::{
    ChainOutcome, Decision, Declared, DispatchPolicy, FanoutDispatcher, InterceptorChain,
    InterceptorRegistration, Key, Keyed, PlanBuilder, Registration, RegistrationName, Scope,
    StageDeclaration, StageFailure, StageName, StageOrder, async_handler_fn, handler_fn,
    intercept_fn, profile,
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The allocations of one run, the report's end included. One test in this binary: others would
/// allocate at the same time.
fn allocations(work: impl FnOnce()) -> usize {
    let region = Region::new(ALLOCATOR);
    work();
    let change = region.change();
    assert_eq!(
        change.allocations, change.deallocations,
        "something was leaked"
    );
    change.allocations
}

fn chain(
    handlers: usize,
    last: impl Fn() -> Decision<u64> + Send + Sync + 'static,
) -> InterceptorChain<u64> {
    let stage = StageName::new("guard").unwrap();
    let order = StageOrder::new([StageDeclaration::new(stage.clone(), StageFailure::Deny)]);
    let mut builder = PlanBuilder::new(order);
    for index in 1..handlers {
        builder = builder.register(InterceptorRegistration::new(
            RegistrationName::new(index.to_string()).unwrap(),
            stage.clone(),
            0,
            Arc::new(intercept_fn(|_: &u64| Ok(Decision::CONTINUE))),
        ));
    }
    let last = intercept_fn(move |_: &u64| Ok(last()));
    let plan = builder.register(InterceptorRegistration::new(
        RegistrationName::new("last").unwrap(),
        stage,
        0,
        Arc::new(last),
    ));
    InterceptorChain::new(plan.build().unwrap())
}

struct Signal;

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        [Key::from_static("kind"), Key::from_static("family")].into_iter()
    }
}

/// What one emission to this many ready handlers that return `T` allocates, the end of its report
/// included.
fn emission<T: Default + Send + 'static>(
    policy: DispatchPolicy,
    handlers: usize,
    declared: Declared,
) -> usize {
    let dispatcher = FanoutDispatcher::<Signal, T>::new(policy);
    for index in 0..handlers {
        let name = RegistrationName::new(index.to_string()).unwrap();
        let registration = match declared {
            Declared::Sync => Registration::sync(name, handler_fn(|_: &Signal| Ok(T::default()))),
            Declared::Async => Registration::asynchronous(
                name,
                async_handler_fn(|_: &Signal, _| Box::pin(async { Ok(T::default()) })),
            ),
        };
        dispatcher.register(registration.on(Key::from_static("kind")));
    }
    let (signal, scope) = (Arc::new(Signal), Scope::new());
    let emit = || drop(dispatcher.emit(&signal, &scope).now_or_never().unwrap());
    // The first emission after a change builds the list.
    emit();
    allocations(emit)
}

fn fan_outs() {
    let policies = [
        DispatchPolicy::isolated_in_order,
        profile::scheduler_signal_bus,
    ];
    for (policy, handlers) in policies
        .into_iter()
        .flat_map(|p| [1, 8, 64].map(|n| (p, n)))
    {
        // The list of the values, when they have a size; and the box of each future.
        assert_eq!(emission::<()>(policy(), handlers, Declared::Sync), 0);
        assert_eq!(emission::<u64>(policy(), handlers, Declared::Sync), 1);
        assert_eq!(
            emission::<()>(policy(), handlers, Declared::Async),
            handlers
        );
        assert_eq!(
            emission::<u64>(policy(), handlers, Declared::Async),
            handlers + 1
        );
    }
    assert_eq!(
        emission::<u64>(DispatchPolicy::isolated_in_order(), 0, Declared::Sync),
        0
    );
}

fn chains() {
    let scope = Scope::new();
    for handlers in [1, 8, 64] {
        let chain = chain(handlers, || Decision::CONTINUE);
        let sync = allocations(|| drop(chain.apply_sync(7, &scope)));
        let waited = allocations(|| drop(chain.apply(7, &scope).now_or_never().unwrap()));
        assert_eq!((sync, waited), (0, 0), "{handlers} handlers");
    }
    // The box of the replacement, and the list of what was not a plain continue.
    let replacing = chain(8, || Decision::replace(8));
    let replaced = allocations(|| {
        let outcome = replacing.apply_sync(7, &scope).into_outcome();
        assert!(matches!(outcome, ChainOutcome::Proceed(8)));
    });
    assert_eq!(replaced, 2);
    // Beside those of the denial itself, its text and its box.
    let denying = chain(8, || Decision::deny("no"));
    assert_eq!(allocations(|| drop(denying.apply_sync(7, &scope))), 3);
}

#[test]
fn a_quiet_chain_allocates_nothing_and_a_quiet_fan_out_its_values_only() {
    chains();
    fan_outs();
}
