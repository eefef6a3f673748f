//! How long handlers take, in the reports of those who ask for it.

use std::sync::Arc;
use std::time::Duration;

use triplane_kernel::{
    Decision, DispatchPolicy, FanoutDispatcher, HandlerFailure, InterceptorChain,
    InterceptorRegistration, Key, Keyed, PlanBuilder, Registration, RegistrationName, Scope,
    StageDeclaration, StageFailure, StageName, StageOrder, Step, async_handler_fn, handler_fn,
    profile,
};

struct Signal;

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

fn name(text: &str) -> RegistrationName {
    RegistrationName::new(text).unwrap()
}

fn waits(ms: u64) -> Registration<Signal> {
    let handler = async_handler_fn(move |_: &Signal, _| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(())
        })
    });
    Registration::asynchronous(name(&ms.to_string()), handler)
}

/// Emits to handlers that wait 20, 30 and no milliseconds; what the report says of each.
async fn check(dispatcher: FanoutDispatcher<Signal>, wanted: [Option<u64>; 3]) {
    dispatcher.register(waits(20));
    dispatcher.register(waits(30));
    dispatcher.register(Registration::sync(
        name("now"),
        handler_fn(|_: &Signal| Ok(())),
    ));
    let report = dispatcher
        .emit(&Arc::new(Signal), &Scope::new())
        .await
        .unwrap();
    let took: Vec<_> = report.entries().map(|entry| entry.took).collect();
    assert_eq!(took, wanted.map(|ms| ms.map(Duration::from_millis)));
}

#[tokio::test(start_paused = true)]
async fn a_fan_out_that_is_asked_says_how_long_each_handler_took() {
    let (in_order, beside) = (
        DispatchPolicy::isolated_in_order(),
        profile::scheduler_signal_bus(),
    );
    for policy in [in_order, beside] {
        let timed = FanoutDispatcher::new(policy.clone()).with_durations();
        check(timed, [Some(20), Some(30), Some(0)]).await;
        check(FanoutDispatcher::new(policy), [None; 3]).await;
    }
}

/// Waits as long as its name says, and denies behind 40 milliseconds.
struct Waits(u64);

impl triplane_kernel::Interceptor<()> for Waits {
    fn intercept<'a>(
        &'a self,
        (): &'a (),
        _: &'a Scope,
    ) -> Step<'a, Result<Decision<()>, HandlerFailure>> {
        let decision = if self.0 > 40 {
            Decision::deny("late")
        } else {
            Decision::CONTINUE
        };
        match self.0 {
            0 => Step::Ready(Ok(decision)),
            ms => Step::later(async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Ok(decision)
            }),
        }
    }
}

fn chain(waits: &[u64], timed: bool) -> InterceptorChain<()> {
    let (guard, release) = (
        StageName::new("guard").unwrap(),
        StageName::new("release").unwrap(),
    );
    let minute = Duration::from_mins(1);
    let order = StageOrder::new([
        StageDeclaration::new(guard.clone(), StageFailure::Deny),
        StageDeclaration::teardown(release.clone(), StageFailure::Isolate, minute),
    ]);
    let mut builder = PlanBuilder::new(order);
    for (index, ms) in waits.iter().enumerate() {
        let registration =
            InterceptorRegistration::new(name(&index.to_string()), guard.clone(), 0, Waits(*ms));
        builder = builder.register(registration);
    }
    let last = InterceptorRegistration::new(name("release"), release, 0, Waits(5));
    let builder = builder.register(last);
    let builder = if timed {
        builder.with_durations()
    } else {
        builder
    };
    InterceptorChain::new(builder.build().unwrap())
}

async fn check_chain(waits: &[u64], timed: bool, wanted: &[Option<u64>]) {
    let chain = chain(waits, timed);
    let report = chain.apply((), &Scope::new()).await;
    let took: Vec<_> = report.entries().map(|entry| entry.took).collect();
    let wanted: Vec<_> = wanted
        .iter()
        .map(|ms| ms.map(Duration::from_millis))
        .collect();
    assert_eq!(took, wanted, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_is_asked_says_how_long_each_interceptor_took() {
    check_chain(&[0, 10, 20], true, &[Some(0), Some(10), Some(20), Some(5)]).await;
    // Who denies took its time, too; who was not asked took none.
    check_chain(&[10, 50, 10], true, &[Some(10), Some(50), None, Some(5)]).await;
    check_chain(&[10, 50, 10], false, &[None; 4]).await;
    check_chain(&[], true, &[Some(5)]).await;
}

#[test]
fn a_timed_chain_decides_what_an_untimed_one_decides() {
    for waits in [&[0, 0][..], &[0, 50, 0], &[0, 50]] {
        let (timed, untimed) = (chain(waits, true), chain(waits, false));
        let show = |chain: &InterceptorChain<()>| {
            let report = chain.apply_sync((), &Scope::new());
            let states = report.entries().map(|entry| format!("{:?}", entry.state));
            (
                format!("{:?}", report.verdict()),
                states.collect::<Vec<_>>(),
            )
        };
        assert_eq!(show(&timed), show(&untimed), "{waits:?}");
    }
}
