//! What users of comparable systems ran into, as `docs/kernel-semantics.md` lists it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;
use triplane_kernel::declare::Setting;
use triplane_kernel::policy::{
    CompletionTiming, DeadlineDisposition, DispatchConcurrency, DispatchFailure, DispatchPhase,
    DispatchStagePolicy, ErrorSurface, HandlerCancellation, HandlerClassification, PhaseSelector,
    PredicateFailure, ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy,
    SyncHandlerMode,
};
use triplane_kernel::{
    Called, CancelCause, ChainOutcome, ChainVerdict, Decision, DispatchError, DispatchPolicy,
    EntryState, FanoutDispatcher, Handler, HandlerError, HandlerFailure, HandlerOutcome,
    Interceptor, InterceptorChain, InterceptorRegistration, Key, Keyed, NotRun, PhaseDeclaration,
    PlanBuilder, Registration, RegistrationName, Scope, StageDeclaration, StageFailure, StageName,
    StageOrder, Step, async_handler_fn, handler_fn,
};

fn name(text: &str) -> RegistrationName {
    RegistrationName::new(text).unwrap()
}

/// How an interceptor comes to say no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum No {
    AtOnce,
    Later,
    FromAThread,
    ByError,
    ByPanic,
}

impl Interceptor<()> for No {
    fn intercept<'a>(
        &'a self,
        (): &'a (),
        _: &'a Scope,
    ) -> Step<'a, Result<Decision<()>, HandlerFailure>> {
        match self {
            Self::AtOnce => Step::Ready(Ok(Decision::deny("no"))),
            Self::Later => Step::later(async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok(Decision::deny("no"))
            }),
            Self::FromAThread => Step::later(async {
                let answer = tokio::task::spawn_blocking(|| Decision::deny("no"));
                answer.await.map_err(HandlerFailure::failed)
            }),
            Self::ByError => Step::Ready(Err(HandlerFailure::failed("broken"))),
            Self::ByPanic => panic!("boom"),
        }
    }
}

fn guarded(no: impl Interceptor<()> + 'static) -> InterceptorChain<()> {
    let guard = StageName::new("guard").unwrap();
    let order = StageOrder::new([StageDeclaration::new(guard.clone(), StageFailure::Deny)]);
    let registration = InterceptorRegistration::new(name("no"), guard, 0, no);
    InterceptorChain::new(
        PlanBuilder::new(order)
            .register(registration)
            .build()
            .unwrap(),
    )
}

#[tokio::test(start_paused = true)]
async fn nothing_happens_behind_a_denial_however_it_is_spoken() {
    let effects = AtomicUsize::new(0);
    let perform = |outcome| {
        if let ChainOutcome::Proceed(()) = outcome {
            effects.fetch_add(1, Ordering::SeqCst);
        }
    };
    for no in [
        No::AtOnce,
        No::Later,
        No::FromAThread,
        No::ByError,
        No::ByPanic,
    ] {
        let chain = guarded(no);
        perform(chain.apply((), &Scope::new()).await.into_outcome());
        // Without waiting, an answer that comes later is a failure and no permission.
        perform(chain.apply_sync((), &Scope::new()).into_outcome());
    }
    assert_eq!(effects.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn why_a_chain_does_not_proceed_stays_visible() {
    async fn check(no: No, scope: &Scope, wanted: &str) {
        let chain = guarded(no);
        let report = chain.apply((), scope).await;
        let got = match report.entries().next().unwrap().state {
            EntryState::Denied(denial) => format!("denied: {denial}"),
            EntryState::Failed { failure, mapped } => {
                let class = match failure {
                    HandlerFailure::Failed(HandlerError::Panic(_)) => "panic",
                    HandlerFailure::Failed(HandlerError::Error(_)) => "error",
                    HandlerFailure::Cancelled(_) => "cancelled",
                    HandlerFailure::Fatal(_) => "fatal",
                };
                format!("{class}, {}: {failure}", mapped.as_str())
            }
            EntryState::NotRun(why) => format!("not run: {why:?}"),
            other => format!("{other:?}"),
        };
        assert_eq!(got, wanted);
        assert!(!matches!(report.verdict(), ChainVerdict::Proceed));
    }
    let scope = Scope::new();
    check(No::AtOnce, &scope, "denied: no").await;
    check(No::ByError, &scope, "error, deny: broken").await;
    check(No::ByPanic, &scope, "panic, deny: panicked: boom").await;
    let late = scope.child();
    late.cancel(CancelCause::Deadline);
    check(No::Later, &late, "not run: Cancelled(Deadline)").await;
}

#[test]
fn a_chain_without_registrations_proceeds_with_the_context_untouched() {
    let chain = InterceptorChain::new(PlanBuilder::new(StageOrder::default()).build().unwrap());
    let cancelled = Scope::new();
    cancelled.cancel(CancelCause::Emitter);
    for scope in [&Scope::new(), &cancelled] {
        let report = chain.apply_sync("as it was".to_owned(), scope);
        assert_eq!(report.entries().len(), 0);
        assert!(
            matches!(report.into_outcome(), ChainOutcome::Proceed(text) if text == "as it was")
        );
    }
}

proptest! {
    #[test]
    fn the_order_of_a_plan_is_a_stable_sort(places in prop::collection::vec((0..4_usize, -3..3), 0..40)) {
        let stages = ["a", "b", "c", "d"].map(|stage| StageName::new(stage).unwrap());
        let declared = stages.clone().map(|stage| StageDeclaration::new(stage, StageFailure::Deny));
        let mut builder = PlanBuilder::new(StageOrder::new(declared));
        for (index, (stage, order)) in places.iter().enumerate() {
            builder = builder.register(InterceptorRegistration::new(
                name(&index.to_string()),
                stages[*stage].clone(),
                *order,
                No::AtOnce,
            ));
        }
        let plan = builder.build().unwrap();
        let mut wanted: Vec<_> = (0..places.len()).collect();
        wanted.sort_by_key(|index| places[*index]);
        let got: Vec<usize> = plan.entries().map(|entry| entry.name.as_str().parse().unwrap()).collect();
        prop_assert_eq!(got, wanted);
    }
}

struct Signal;

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

fn waits(text: &str, ms: u64, answer: Result<(), &'static str>) -> Registration<Signal> {
    let handler = async_handler_fn(move |_: &Signal, _| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            answer.map_err(HandlerFailure::failed)
        })
    });
    Registration::asynchronous(name(text), handler)
}

/// One phase over `selector`; a policy of several says what the others do.
fn phase(
    selector: PhaseSelector,
    concurrency: DispatchConcurrency,
    failure: (DispatchFailure, ErrorSurface),
    deadline: Option<f64>,
) -> DispatchPhase {
    DispatchPhase::new(PhaseDeclaration {
        selector,
        concurrency,
        sync_handlers: SyncHandlerMode::Inline,
        handler_classification: HandlerClassification::ByDeclaration,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::AwaitInInvocation,
        sync_entry: SyncEntryPolicy::Unavailable,
        predicate_failure: PredicateFailure::Isolate,
        invocation: DispatchStagePolicy::new(
            failure.0,
            CompletionTiming::AwaitAll,
            failure.1,
            HandlerCancellation::Propagate,
        )
        .unwrap(),
        returned_awaitables: Setting::Undefined,
        deadline_disposition: deadline.map(|_| DeadlineDisposition::ReturnReport).into(),
        deadline_seconds: deadline.into(),
    })
    .unwrap()
}

const ISOLATE: (DispatchFailure, ErrorSurface) =
    (DispatchFailure::Isolate, ErrorSurface::ReturnReport);
const ALL_TOGETHER: (DispatchFailure, ErrorSurface) =
    (DispatchFailure::Collect, ErrorSurface::RaiseGroup);

#[tokio::test(start_paused = true)]
async fn all_failures_come_together_in_the_order_of_registration() {
    let phase = phase(
        PhaseSelector::All,
        DispatchConcurrency::Concurrent,
        ALL_TOGETHER,
        None,
    );
    let dispatcher = FanoutDispatcher::new(DispatchPolicy::new([phase]).unwrap());
    // They finish in another order.
    dispatcher.register(waits("a", 30, Err("slow")));
    dispatcher.register(waits("b", 20, Ok(())));
    dispatcher.register(waits("c", 10, Err("quick")));
    let raised = dispatcher
        .emit(&Arc::new(Signal), &Scope::new())
        .await
        .unwrap_err();
    let DispatchError::Group { report } = raised else {
        panic!("{raised}")
    };
    let failures = report
        .failures()
        .map(|(name, failure)| format!("{name}: {failure}"));
    assert_eq!(failures.collect::<Vec<_>>(), ["a: slow", "c: quick"]);
    assert_eq!(report.entries().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn phases_run_one_after_the_other_each_in_its_own_way() {
    let first = phase(
        PhaseSelector::DeclaredSync,
        DispatchConcurrency::Sequential,
        ISOLATE,
        None,
    );
    let second = phase(
        PhaseSelector::DeclaredAsync,
        DispatchConcurrency::Concurrent,
        ISOLATE,
        None,
    );
    let dispatcher = FanoutDispatcher::new(DispatchPolicy::new([first, second]).unwrap());
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    for text in ["a", "b"] {
        dispatcher.register(waits(text, 1_000, Ok(())));
        let order = Arc::clone(&order);
        let handler = handler_fn(move |_: &Signal| {
            order.lock().unwrap().push((text, Instant::now()));
            Ok(())
        });
        dispatcher.register(Registration::sync(name(&format!("sync-{text}")), handler));
    }
    let began = Instant::now();
    let report = dispatcher
        .emit(&Arc::new(Signal), &Scope::new())
        .await
        .unwrap();
    // The waits of the second phase overlap, and begin when the first is through.
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert_eq!(*order.lock().unwrap(), [("a", began), ("b", began)]);
    assert_eq!(report.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn one_budget_is_shared_by_all_handlers_and_waiting_for_a_turn_counts() {
    let phase = phase(
        PhaseSelector::All,
        DispatchConcurrency::Sequential,
        ISOLATE,
        Some(2.5),
    );
    let dispatcher = FanoutDispatcher::new(DispatchPolicy::new([phase]).unwrap());
    for index in 0..10 {
        dispatcher.register(waits(&index.to_string(), 1_000, Ok(())));
    }
    let began = Instant::now();
    let report = dispatcher
        .emit(&Arc::new(Signal), &Scope::new())
        .await
        .unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(2_500));
    assert!(report.deadline_exceeded());
    let outcomes: Vec<_> = report.entries().map(|entry| entry.outcome).collect();
    assert!(matches!(
        outcomes[..2],
        [HandlerOutcome::Value(()), HandlerOutcome::Value(())]
    ));
    assert!(matches!(outcomes[2], HandlerOutcome::TimedOut));
    let expired = |outcome: &_| matches!(outcome, HandlerOutcome::NotRun(NotRun::DeadlineExpired));
    assert!(outcomes[3..].iter().all(expired));
}

#[tokio::test]
async fn an_emission_that_nobody_hears_returns_at_once() {
    let dispatcher = FanoutDispatcher::<Signal>::new(DispatchPolicy::isolated_in_order());
    assert!(
        dispatcher
            .emit(&Arc::new(Signal), &Scope::new())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn an_error_that_is_returned_as_a_value_is_no_failure() {
    let dispatcher =
        FanoutDispatcher::<Signal, Result<(), &str>>::new(DispatchPolicy::raising_in_order());
    let returns = handler_fn(|_: &Signal| Ok(Err("an answer")));
    dispatcher.register(Registration::sync(name("a"), returns));
    let report = dispatcher
        .emit(&Arc::new(Signal), &Scope::new())
        .await
        .unwrap();
    assert_eq!(report.failures().count(), 0);
    assert_eq!(report.into_values().collect::<Vec<_>>(), [Err("an answer")]);
}

#[tokio::test]
async fn a_panic_before_the_future_is_there_is_that_handlers_failure() {
    struct Panics;
    impl Handler<Signal, ()> for Panics {
        fn call<'a>(
            &'a self,
            _: &'a Signal,
            _: &'a Scope,
        ) -> Called<'a, Result<(), HandlerFailure>> {
            panic!("no future")
        }
    }
    let concurrent = phase(
        PhaseSelector::All,
        DispatchConcurrency::Concurrent,
        ISOLATE,
        None,
    );
    for policy in [
        DispatchPolicy::isolated_in_order(),
        DispatchPolicy::new([concurrent]).unwrap(),
    ] {
        let dispatcher = FanoutDispatcher::new(policy);
        dispatcher.register(Registration::asynchronous(name("a"), Panics));
        dispatcher.register(Registration::sync(
            name("b"),
            handler_fn(|_: &Signal| Ok(())),
        ));
        let report = dispatcher
            .emit(&Arc::new(Signal), &Scope::new())
            .await
            .unwrap();
        let outcomes: Vec<_> = report.entries().map(|entry| entry.outcome).collect();
        let [HandlerOutcome::Failed(failure), HandlerOutcome::Value(())] = outcomes[..] else {
            panic!("{outcomes:?}")
        };
        assert_eq!(failure.to_string(), "panicked: no future");
    }
}

#[tokio::test]
async fn subscribing_and_leaving_a_million_times_leaves_nothing_behind() {
    let dispatcher = Arc::new(FanoutDispatcher::<Signal>::new(
        DispatchPolicy::isolated_in_order(),
    ));
    for _ in 0..1_000_000 {
        let registration = Registration::sync(name("guest"), handler_fn(|_: &Signal| Ok(())));
        drop(dispatcher.subscribe(registration));
    }
    assert!(dispatcher.is_empty());
    assert!(
        dispatcher
            .emit(&Arc::new(Signal), &Scope::new())
            .await
            .unwrap()
            .is_empty()
    );
}

/// The tests that the table of the documentation names exist.
#[test]
fn every_report_has_a_test_or_a_reason() {
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(package.join("../../docs/kernel-semantics.md")).unwrap();
    let table = page
        .split("## What users of comparable systems ran into")
        .nth(1)
        .unwrap();
    let mut sources = String::new();
    let mut folders = vec![package.join("src"), package.join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    let rows: Vec<_> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert!(rows.len() >= 40, "{} rows", rows.len());
    for row in rows {
        let answer = row.trim_end_matches('|').rsplit('|').next().unwrap().trim();
        let tests: Vec<_> = answer.split('`').skip(1).step_by(2).collect();
        assert!(answer.len() > 10, "no test and no reason: {row}");
        for test in tests
            .into_iter()
            .filter(|test| test.contains('_') && !test.contains('.'))
        {
            assert!(
                sources.contains(&format!("fn {test}(")),
                "no test `{test}`: {row}"
            );
        }
    }
}
