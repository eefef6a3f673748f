//! What a fan-out does with its handlers.

use std::sync::Arc;
use std::time::Duration;

use triplane_kernel::{
    CancelCause, DispatchError, DispatchPolicy, DispatchReport, FanoutDispatcher, HandlerFailure,
    HandlerOutcome, Key, Keyed, Registration, RegistrationName, Scope, async_handler_fn,
    handler_fn,
};

/// A signal with these keys.
struct Signal(&'static [&'static str]);

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        self.0.iter().map(|key| Key::from_static(key))
    }
}

type Dispatcher = FanoutDispatcher<Signal, u32>;

fn name(text: &str) -> RegistrationName {
    RegistrationName::new(text).unwrap()
}

fn answers(text: &str, value: u32) -> Registration<Signal, u32> {
    Registration::sync(name(text), handler_fn(move |_: &Signal| Ok(value)))
}

fn fails(text: &str) -> Registration<Signal, u32> {
    let handler = handler_fn(|_: &Signal| Err::<u32, _>(HandlerFailure::failed("broken")));
    Registration::sync(name(text), handler)
}

fn waits(text: &str, ms: u64, value: u32) -> Registration<Signal, u32> {
    let handler = async_handler_fn(move |_: &Signal, _| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(value)
        })
    });
    Registration::asynchronous(name(text), handler)
}

fn show<T: std::fmt::Display + std::fmt::Debug>(report: &DispatchReport<T>) -> String {
    let entries = report.entries().map(|entry| match entry.outcome {
        HandlerOutcome::Value(value) => format!("{}={value}", entry.name),
        HandlerOutcome::Failed(failure) => format!("{}!{failure}", entry.name),
        HandlerOutcome::PredicateFailed(failure) => format!("{}?{failure}", entry.name),
        other => format!(
            "{}:{}",
            entry.name,
            format!("{other:?}").replace("Value(())", "value")
        ),
    });
    entries.collect::<Vec<_>>().join(" ")
}

async fn emit(dispatcher: &Dispatcher, keys: &'static [&'static str]) -> String {
    match dispatcher
        .emit(&Arc::new(Signal(keys)), &Scope::new())
        .await
    {
        Ok(report) => show(&report),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn only_the_registrations_under_the_signals_keys_are_asked_each_once_and_in_order() {
    let dispatcher = Dispatcher::new(DispatchPolicy::isolated_in_order());
    assert_eq!(emit(&dispatcher, &["a"]).await, "");
    dispatcher.register(answers("both", 1).on(Key::new("a")).on(Key::new("b")));
    dispatcher.register(answers("every", 2));
    dispatcher.register(answers("b", 3).on(Key::new("b")));
    let a = dispatcher.register(answers("a", 4).on(Key::new("a")));
    dispatcher.register(answers("refuses", 5).when(|signal| signal.0.len() > 9));
    assert_eq!(emit(&dispatcher, &["a"]).await, "both=1 every=2 a=4");
    assert_eq!(
        emit(&dispatcher, &["a", "b"]).await,
        "both=1 every=2 b=3 a=4"
    );
    assert_eq!(emit(&dispatcher, &["c"]).await, "every=2");
    assert_eq!(emit(&dispatcher, &[]).await, "every=2");
    assert!(dispatcher.remove(a));
    assert!(!dispatcher.remove(a));
    assert_eq!(emit(&dispatcher, &["a"]).await, "both=1 every=2");
}

#[tokio::test]
async fn the_order_is_that_of_registration_on_every_dispatcher() {
    // Each has maps of its own, and each map a seed of its own.
    for _ in 0..100 {
        let dispatcher = Dispatcher::new(DispatchPolicy::isolated_in_order());
        for (index, key) in [(1, "a"), (2, "b"), (3, "c"), (4, "a"), (5, "b"), (6, "a")] {
            dispatcher.register(answers(&index.to_string(), index).on(Key::from_static(key)));
        }
        assert_eq!(
            emit(&dispatcher, &["c", "b", "a"]).await,
            "1=1 2=2 3=3 4=4 5=5 6=6"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_isolated_failure_keeps_nobody_from_hearing_the_signal() {
    let dispatcher = Dispatcher::new(DispatchPolicy::isolated_in_order());
    dispatcher.register(fails("1"));
    dispatcher.register(waits("2", 5, 2));
    let panics = handler_fn(|_: &Signal| -> Result<u32, HandlerFailure> { panic!("boom") });
    dispatcher.register(Registration::sync(name("3"), panics));
    dispatcher.register(answers("4", 4).when(|_| panic!("predicate")));
    dispatcher.register(answers("5", 5));
    assert_eq!(
        emit(&dispatcher, &[]).await,
        "1!broken 2=2 3!panicked: boom 4?panicked: predicate 5=5"
    );
}

#[tokio::test]
async fn the_first_failure_is_raised_by_a_policy_that_raises() {
    let dispatcher = Dispatcher::new(DispatchPolicy::raising_in_order());
    dispatcher.register(answers("1", 1));
    dispatcher.register(fails("2"));
    dispatcher.register(answers("3", 3));
    let error = dispatcher
        .emit(&Arc::new(Signal(&[])), &Scope::new())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "`2`: broken");
    let report = format!("{:?}", error.report().unwrap());
    assert_eq!(
        report,
        "{\"1\": Value(()), \"2\": Failed(Failed(\"broken\")), \"3\": NotRun(StoppedByFailure)}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_to_cancel_ends_the_emission_and_is_raised() {
    let dispatcher = Dispatcher::new(DispatchPolicy::isolated_in_order());
    dispatcher.register(waits("1", 1, 1));
    dispatcher.register(waits("2", 20, 2));
    dispatcher.register(waits("3", 1, 3));
    let (scope, signal) = (Scope::new(), Arc::new(Signal(&[])));
    let (result, ()) = tokio::join!(dispatcher.emit(&signal, &scope), async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        scope.cancel_once(CancelCause::Emitter);
    });
    let error = result.unwrap_err();
    assert!(matches!(
        error,
        DispatchError::Cancelled {
            cause: CancelCause::Emitter,
            ..
        }
    ));
    assert_eq!(error.report().unwrap().len(), 3);
}

#[test]
fn a_snapshot_is_of_one_dispatcher_at_one_revision() {
    let dispatcher = Dispatcher::new(DispatchPolicy::isolated_in_order());
    let signal = Arc::new(Signal(&[]));
    let before = dispatcher.preflight_sync().unwrap();
    let id = dispatcher.register(answers("1", 1));
    let stale = dispatcher.emit_sync(&signal, &before).unwrap_err();
    assert!(matches!(
        stale,
        DispatchError::StaleSnapshot {
            snapshot: 0,
            current: 1
        }
    ));
    let now = dispatcher.preflight_sync().unwrap();
    assert_eq!(show(&dispatcher.emit_sync(&signal, &now).unwrap()), "1=1");
    let stranger = Dispatcher::new(DispatchPolicy::isolated_in_order());
    let foreign = stranger.emit_sync(&signal, &now).unwrap_err();
    assert!(matches!(foreign, DispatchError::ForeignSnapshot));
    dispatcher.remove(id);
    assert!(dispatcher.emit_sync(&signal, &now).is_err());
}

#[test]
fn a_declared_async_handler_is_refused_before_the_owners_effect() {
    let dispatcher = Dispatcher::new(DispatchPolicy::isolated_in_order());
    let id = dispatcher.register(waits("later", 1, 1));
    let refused = dispatcher.preflight_sync().unwrap_err();
    assert!(matches!(&refused, DispatchError::DeclaredAsync { name } if name.as_str() == "later"));
    dispatcher.remove(id);
    assert!(dispatcher.preflight_sync().is_ok());
}

#[tokio::test]
async fn a_handler_may_register_remove_and_emit_while_it_runs() {
    let dispatcher = Arc::new(Dispatcher::new(DispatchPolicy::isolated_in_order()));
    let inner = Arc::downgrade(&dispatcher);
    let once = handler_fn(move |_: &Signal| {
        let dispatcher = inner.upgrade().unwrap();
        if dispatcher.len() < 3 {
            dispatcher.register(answers("new", 9));
        }
        let snapshot = dispatcher.preflight_sync().unwrap();
        let nested = dispatcher
            .emit_sync(&Arc::new(Signal(&["nested"])), &snapshot)
            .unwrap();
        Ok(u32::try_from(nested.len()).unwrap())
    });
    dispatcher.register(Registration::sync(name("outer"), once).when(|signal| signal.0.is_empty()));
    dispatcher.register(answers("2", 2));
    assert_eq!(emit(&dispatcher, &[]).await, "outer=2 2=2");
    assert_eq!(emit(&dispatcher, &[]).await, "outer=2 2=2 new=9");
}

#[test]
fn emissions_and_chains_can_run_on_any_thread() {
    fn sendable<F: Future + Send>(_: F) {}
    let dispatcher = Dispatcher::new(DispatchPolicy::isolated_in_order());
    sendable(dispatcher.emit(&Arc::new(Signal(&[])), &Scope::new()));
}
