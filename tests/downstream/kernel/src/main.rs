//! The kernel by itself: a chain that can say no and a fan-out that cannot, without a runtime.

use std::error::Error;
use std::sync::Arc;

use futures::executor::block_on;
use triplane_kernel::{
    ChainOutcome, Decision, DispatchPolicy, FanoutDispatcher, HandlerFailure, InterceptorChain,
    InterceptorRegistration, Key, Keyed, PlanBuilder, Registration, RegistrationName, Scope,
    StageDeclaration, StageFailure, StageName, StageOrder, handler_fn, intercept_fn,
};

struct Ticked(u32);

impl Keyed for Ticked {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::once(Key::new("ticked"))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let stage = StageName::new("guard")?;
    let order = StageOrder::new([StageDeclaration::new(stage.clone(), StageFailure::Deny)]);
    let short = intercept_fn(|text: &String| {
        Ok(if text.len() > 5 {
            Decision::deny("too long")
        } else {
            Decision::CONTINUE
        })
    });
    let name = RegistrationName::new("short")?;
    let registration = InterceptorRegistration::new(name, stage, 0, short);
    let chain = InterceptorChain::new(PlanBuilder::new(order).register(registration).build()?);
    for (text, denied) in [("hello", false), ("good morning", true)] {
        let report = block_on(chain.apply(text.to_owned(), &Scope::new()));
        let outcome = report.into_outcome();
        assert_eq!(
            matches!(outcome, ChainOutcome::Denied { .. }),
            denied,
            "{text}"
        );
    }

    let told = FanoutDispatcher::<Ticked, u32>::new(DispatchPolicy::isolated_in_order());
    let fails = handler_fn(|_: &Ticked| Err::<u32, _>(HandlerFailure::failed("broken")));
    let doubles = handler_fn(|ticked: &Ticked| Ok(ticked.0 * 2));
    told.register(Registration::sync(RegistrationName::new("fails")?, fails));
    told.register(Registration::sync(
        RegistrationName::new("doubles")?,
        doubles,
    ));
    let report = block_on(told.emit(&Arc::new(Ticked(21)), &Scope::new()))?;
    let ended: Vec<_> = report
        .entries()
        .map(|entry| format!("{}: {:?}", entry.name, entry.outcome))
        .collect();
    assert_eq!(ended.len(), 2, "{ended:?}");
    assert!(
        ended[1].contains("42"),
        "a failure hides nothing: {ended:?}"
    );
    println!("kernel: denied one of two, told two of two");
    Ok(())
}
