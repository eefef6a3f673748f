//! What outlives an emission and what does not: offloaded, detached, cooperative and dropped work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use triplane_kernel::declare::Setting;
use triplane_kernel::policy::*;
use triplane_kernel::*;

struct Signal;

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

type Dispatcher = FanoutDispatcher<Signal, u32>;

/// A concurrent phase with a deadline of 100 ms that returns its report.
fn policy(completion: CompletionTiming, sync_handlers: SyncHandlerMode) -> DispatchPolicy {
    let invocation = DispatchStagePolicy::new(
        DispatchFailure::Collect,
        completion,
        ErrorSurface::ReturnReport,
        HandlerCancellation::Collect,
    );
    let phase = DispatchPhase::new(PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency: DispatchConcurrency::Concurrent,
        sync_handlers,
        handler_classification: HandlerClassification::ByDeclaration,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::AwaitInInvocation,
        sync_entry: SyncEntryPolicy::Unavailable,
        predicate_failure: PredicateFailure::Propagate,
        invocation: invocation.unwrap(),
        returned_awaitables: Setting::Undefined,
        deadline_disposition: Setting::Value(DeadlineDisposition::ReturnReport),
        deadline_seconds: Setting::Value(0.1),
    });
    DispatchPolicy::new([phase.unwrap()]).unwrap()
}

fn name(text: &str) -> RegistrationName {
    RegistrationName::new(text).unwrap()
}

fn sleeps(text: &str, ms: u64) -> Registration<Signal, u32> {
    let handler = async_handler_fn(move |_: &Signal, _| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(1)
        })
    });
    Registration::asynchronous(name(text), handler)
}

fn show<T>(report: &DispatchReport<T>) -> Vec<String> {
    let one = |entry: DispatchEntry<'_, T>| match entry.outcome {
        HandlerOutcome::Value(_) => format!("{} value", entry.name),
        HandlerOutcome::Failed(failure) => format!("{} {failure}", entry.name),
        HandlerOutcome::CancelledBySibling => format!("{} sibling", entry.name),
        HandlerOutcome::TimedOut => format!("{} timed out", entry.name),
        HandlerOutcome::AbandonedUnknown => format!("{} abandoned", entry.name),
        HandlerOutcome::CancelledBeforeStart => format!("{} never began", entry.name),
        HandlerOutcome::Detached => format!("{} detached", entry.name),
        HandlerOutcome::Overflowed => format!("{} overflowed", entry.name),
        other => format!(
            "{} {}",
            entry.name,
            match other {
                HandlerOutcome::Cancelled(cause) => format!("cancelled by {cause:?}"),
                _ => "something else".to_owned(),
            }
        ),
    };
    report.entries().map(one).collect()
}

async fn emit(dispatcher: &Dispatcher) -> Vec<String> {
    show(
        &dispatcher
            .emit(&Arc::new(Signal), &Scope::new())
            .await
            .unwrap(),
    )
}

/// Keeps what it is given until it is told to run it.
#[derive(Default)]
struct Queue(Mutex<Vec<Box<dyn FnOnce() + Send>>>);

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Queue")
    }
}

impl Offload for Queue {
    fn submit(&self, work: Box<dyn FnOnce() + Send>) {
        self.0.lock().unwrap().push(work);
    }
}

#[tokio::test(start_paused = true)]
async fn an_offloaded_handler_that_has_not_begun_at_the_deadline_never_begins() {
    let queue = Arc::new(Queue::default());
    let dispatcher = Dispatcher::new(policy(CompletionTiming::AwaitAll, SyncHandlerMode::Offload))
        .with_offload(queue.clone());
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    dispatcher.register(Registration::sync(
        name("late"),
        handler_fn(move |_: &Signal| {
            Ok(u32::try_from(counted.fetch_add(1, Ordering::SeqCst)).unwrap())
        }),
    ));
    assert_eq!(emit(&dispatcher).await, ["late never began"]);
    for work in queue.0.lock().unwrap().drain(..) {
        work();
    }
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn an_offload_that_refuses_is_a_failure_of_the_handler() {
    #[derive(Debug)]
    struct Refuses;
    impl Offload for Refuses {
        fn submit(&self, _: Box<dyn FnOnce() + Send>) {}
    }
    let dispatcher = Dispatcher::new(policy(CompletionTiming::AwaitAll, SyncHandlerMode::Offload))
        .with_offload(Arc::new(Refuses));
    dispatcher.register(Registration::sync(
        name("x"),
        handler_fn(|_: &Signal| Ok(1)),
    ));
    assert_eq!(emit(&dispatcher).await, ["x the offload refused the call"]);
}

#[tokio::test]
async fn an_offloaded_handler_that_has_begun_is_abandoned_and_goes_on() {
    let dispatcher = Dispatcher::new(profile::terminal_callbacks(profile::TERMINAL_BUDGET));
    let (begins, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let (release, released) = mpsc::channel::<()>();
    let (report_end, finished) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    dispatcher.register(Registration::sync(
        name("blocks"),
        handler_fn(move |_: &Signal| {
            begins.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
            report_end.send(()).unwrap();
            Ok(1)
        }),
    ));
    let (signal, scope) = (Arc::new(Signal), Scope::new());
    let (result, ()) = tokio::join!(dispatcher.emit(&signal, &scope), async {
        begun.recv().await.unwrap();
        scope.cancel(CancelCause::Emitter);
    });
    assert_eq!(
        show(result.unwrap_err().report().unwrap()),
        ["blocks abandoned"]
    );
    release.send(()).unwrap();
    finished.recv().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_meets_an_offloaded_handler_is_raised_as_a_cancellation() {
    let invocation = DispatchStagePolicy::new(
        DispatchFailure::Collect,
        CompletionTiming::AwaitAll,
        ErrorSurface::UnwrapSingleElseGroup,
        HandlerCancellation::Collect,
    );
    let phase =
        policy(CompletionTiming::AwaitAll, SyncHandlerMode::Offload).phases()[0].declaration();
    let phase = DispatchPhase::new(PhaseDeclaration {
        concurrency: DispatchConcurrency::Sequential,
        invocation: invocation.unwrap(),
        ..phase
    });
    let policy = DispatchPolicy::new([phase.unwrap()]).unwrap();
    let dispatcher = Dispatcher::new(policy).with_offload(Arc::new(Queue::default()));
    dispatcher.register(Registration::sync(
        name("1"),
        handler_fn(|_: &Signal| Ok(1)),
    ));
    let (signal, scope) = (Arc::new(Signal), Scope::new());
    scope.cancel_once(CancelCause::Emitter);
    let error = dispatcher.emit(&signal, &scope).await.unwrap_err();
    assert!(matches!(
        error,
        DispatchError::Cancelled {
            cause: CancelCause::Emitter,
            ..
        }
    ));
    assert_eq!(show(error.report().unwrap()), ["1 never began"]);
}

#[tokio::test(start_paused = true)]
async fn what_runs_at_the_deadline_is_detached_as_far_as_there_is_room() {
    let (late, outcomes) = mpsc::channel();
    let late = Mutex::new(late);
    let dispatcher = Dispatcher::new(policy(
        CompletionTiming::DetachBounded,
        SyncHandlerMode::Inline,
    ))
    .with_detached_max(2)
    .with_late_sink(Arc::new(move |outcome| {
        late.lock().unwrap().send(outcome).unwrap();
    }));
    dispatcher.register(sleeps("1", 50));
    dispatcher.register(sleeps("2", 300));
    let panics = async_handler_fn(|_: &Signal, _| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            panic!("late")
        })
    });
    dispatcher.register(Registration::asynchronous(name("3"), panics));
    dispatcher.register(sleeps("4", 300));
    assert_eq!(
        emit(&dispatcher).await,
        ["1 value", "2 detached", "3 detached", "4 overflowed"]
    );
    assert_eq!(dispatcher.detached(), 2);
    tokio::time::sleep(Duration::from_millis(250)).await;
    assert_eq!(dispatcher.detached(), 0);
    let ended: Vec<_> = outcomes
        .try_iter()
        .map(|late| {
            (
                late.name.to_string(),
                late.result.map_err(|failure| failure.to_string()),
            )
        })
        .collect();
    let panicked = ("3".to_owned(), Err("panicked: late".to_owned()));
    assert_eq!(ended, [panicked, ("2".to_owned(), Ok(()))]);
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_its_budget_and_names_what_it_stops() {
    let dispatcher = Dispatcher::new(policy(
        CompletionTiming::DetachBounded,
        SyncHandlerMode::Inline,
    ));
    for (text, ms) in [("soon", 200), ("late", 9000), ("later", 9000)] {
        dispatcher.register(sleeps(text, ms));
    }
    assert_eq!(
        emit(&dispatcher).await,
        ["soon detached", "late detached", "later detached"]
    );
    let began = tokio::time::Instant::now();
    let report = dispatcher.shutdown(Duration::from_secs(1)).await;
    assert_eq!(report.abandoned, [name("late"), name("later")]);
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert_eq!(
        emit(&dispatcher).await,
        ["soon overflowed", "late overflowed", "later overflowed"]
    );
    assert_eq!(
        dispatcher.shutdown(Duration::from_secs(1)).await.abandoned,
        []
    );
}

/// Counts the futures that are alive.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn holds(text: &str, count: &Arc<AtomicUsize>) -> Registration<Signal, u32> {
    let count = count.clone();
    let handler = async_handler_fn(move |_: &Signal, _| {
        let alive = Alive::new(&count);
        Box::pin(async move {
            std::future::pending::<()>().await;
            drop(alive);
            Ok(1)
        })
    });
    Registration::asynchronous(name(text), handler)
}

#[tokio::test(start_paused = true)]
async fn dropping_an_emission_drops_what_waits() {
    let policies = [
        DispatchPolicy::isolated_in_order(),
        policy(CompletionTiming::AwaitAll, SyncHandlerMode::Inline),
        policy(
            CompletionTiming::CancelRemainingOnFailure,
            SyncHandlerMode::Inline,
        ),
        policy(CompletionTiming::DetachBounded, SyncHandlerMode::Inline),
        profile::session_observer(),
        profile::scheduler_signal_bus(),
    ];
    for policy in policies {
        let alive = Arc::new(AtomicUsize::new(0));
        let dispatcher = Dispatcher::new(policy);
        dispatcher.register(holds("1", &alive));
        dispatcher.register(holds("2", &alive));
        let (signal, scope) = (Arc::new(Signal), Scope::new());
        let emission = dispatcher.emit(&signal, &scope);
        assert!(
            tokio::time::timeout(Duration::from_millis(5), emission)
                .await
                .is_err()
        );
        assert_eq!(alive.load(Ordering::SeqCst), 0);
        assert_eq!(dispatcher.detached(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_dispatcher_stops_what_it_has_detached() {
    let alive = Arc::new(AtomicUsize::new(0));
    let dispatcher = Dispatcher::new(policy(
        CompletionTiming::DetachBounded,
        SyncHandlerMode::Inline,
    ));
    dispatcher.register(holds("1", &alive));
    assert_eq!(emit(&dispatcher).await, ["1 detached"]);
    assert_eq!(alive.load(Ordering::SeqCst), 1);
    drop(dispatcher);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

/// Waits for a request, then takes `ms` to clean up.
fn cleans_up(text: &str, ms: u64) -> Registration<Signal, u32> {
    let handler = async_handler_fn(move |_: &Signal, scope: &Scope| {
        Box::pin(async move {
            let cause = scope.cancelled().await;
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Err(HandlerFailure::Cancelled(cause))
        })
    });
    Registration::asynchronous(name(text), handler).cooperative()
}

#[tokio::test(start_paused = true)]
async fn a_cooperative_handler_is_waited_for_after_a_request() {
    let began = tokio::time::Instant::now();
    let dispatcher = Dispatcher::new(policy(CompletionTiming::AwaitAll, SyncHandlerMode::Inline));
    dispatcher.register(cleans_up("1", 40));
    dispatcher.register(sleeps("2", 500));
    assert_eq!(emit(&dispatcher).await, ["1 timed out", "2 timed out"]);
    assert_eq!(began.elapsed(), Duration::from_millis(140));

    let cancels = CompletionTiming::CancelRemainingOnFailure;
    let dispatcher = Dispatcher::new(policy(cancels, SyncHandlerMode::Inline));
    dispatcher.register(cleans_up("1", 40));
    dispatcher.register(Registration::sync(
        name("2"),
        handler_fn(|_: &Signal| Err(HandlerFailure::failed("broken"))),
    ));
    dispatcher.register(sleeps("3", 50));
    let began = tokio::time::Instant::now();
    assert_eq!(
        emit(&dispatcher).await,
        ["1 sibling", "2 broken", "3 sibling"]
    );
    assert_eq!(began.elapsed(), Duration::from_millis(40));
}

/// Runs what it is given at once.
#[derive(Debug)]
struct AtOnce;

impl Offload for AtOnce {
    fn submit(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}

/// Declared sync, returns an awaitable that takes 40 ms to end after a request.
struct ReturnsCleaner;

impl Handler<Signal, u32> for ReturnsCleaner {
    fn call<'a>(
        &'a self,
        _: &'a Signal,
        scope: &'a Scope,
    ) -> Called<'a, Result<u32, HandlerFailure>> {
        Called::later(async move {
            scope.cancelled().await;
            tokio::time::sleep(Duration::from_millis(40)).await;
            Ok(1)
        })
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_offloaded_call_returned_meets_a_request_and_the_call_itself_is_left_behind() {
    let registration = || {
        let returns = Registration::sync(name("1"), ReturnsCleaner);
        returns.cooperative().heedless_elsewhere()
    };
    let offloads = policy(CompletionTiming::AwaitAll, SyncHandlerMode::Offload);

    let began = tokio::time::Instant::now();
    let dispatcher = Dispatcher::new(offloads.clone()).with_offload(Arc::new(AtOnce));
    dispatcher.register(registration());
    assert_eq!(emit(&dispatcher).await, ["1 value"]);
    assert_eq!(began.elapsed(), Duration::from_millis(140));

    let began = tokio::time::Instant::now();
    let dispatcher = Dispatcher::new(offloads).with_offload(Arc::new(Queue::default()));
    dispatcher.register(registration());
    assert_eq!(emit(&dispatcher).await, ["1 never began"]);
    assert_eq!(began.elapsed(), Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_request_made_once_reaches_every_cooperative_handler_of_a_concurrent_phase() {
    let dispatcher = Dispatcher::new(profile::scheduler_signal_bus());
    dispatcher.register(cleans_up("1", 10));
    dispatcher.register(cleans_up("2", 20));
    let (signal, scope) = (Arc::new(Signal), Scope::new());
    let (result, ()) = tokio::join!(dispatcher.emit(&signal, &scope), async {
        tokio::time::sleep(Duration::from_millis(5)).await;
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
    let report = show(error.report().unwrap());
    assert_eq!(report, ["1 cancelled by Emitter", "2 cancelled by Emitter"]);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_ready_handlers_do_not_starve_a_timer_beside_them() {
    let dispatcher = Dispatcher::new(profile::scheduler_signal_bus());
    let in_order = Dispatcher::new(DispatchPolicy::isolated_in_order());
    for index in 0..10_000 {
        for dispatcher in [&dispatcher, &in_order] {
            let ready = async_handler_fn(|_: &Signal, _| Box::pin(async { Ok(1) }));
            dispatcher.register(Registration::asynchronous(name(&index.to_string()), ready));
        }
    }
    for dispatcher in [&dispatcher, &in_order] {
        let (signal, scope) = (Arc::new(Signal), Scope::new());
        let ticks = AtomicUsize::new(0);
        let ticking = async {
            loop {
                ticks.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        };
        let emitted = async { dispatcher.emit(&signal, &scope).await.unwrap().len() };
        let emitted = futures::future::select(Box::pin(emitted), Box::pin(ticking)).await;
        assert!(matches!(
            emitted,
            futures::future::Either::Left((10_000, _))
        ));
        assert!(ticks.load(Ordering::SeqCst) >= 10_000 / 256);
    }
}

#[tokio::test(start_paused = true)]
async fn handlers_that_finish_one_by_one_are_polled_a_constant_number_of_times() {
    struct Counted(Arc<AtomicUsize>, std::pin::Pin<Box<tokio::time::Sleep>>);
    impl Future for Counted {
        type Output = ();
        fn poll(
            mut self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<()> {
            self.0.fetch_add(1, Ordering::SeqCst);
            self.1.as_mut().poll(cx)
        }
    }
    let polls = Arc::new(AtomicUsize::new(0));
    let dispatcher = Dispatcher::new(profile::scheduler_signal_bus());
    for ms in 1..=500 {
        let polls = polls.clone();
        let handler = async_handler_fn(move |_: &Signal, _| {
            let sleep = Box::pin(tokio::time::sleep(Duration::from_millis(ms)));
            let counted = Counted(polls.clone(), sleep);
            Box::pin(async move {
                counted.await;
                Ok(1)
            })
        });
        dispatcher.register(Registration::asynchronous(name(&ms.to_string()), handler));
    }
    assert_eq!(emit(&dispatcher).await.len(), 500);
    // Once with the others, once when the first of them wakes the task, once when the set takes it,
    // once when its timer fires.
    assert!(polls.load(Ordering::SeqCst) <= 4 * 500);
}

#[test]
fn a_handler_that_emits_what_it_handles_is_refused_in_time() {
    let dispatcher = Arc::new(Dispatcher::new(DispatchPolicy::raising_in_order()));
    let inner = Arc::downgrade(&dispatcher);
    let depth = Arc::new(AtomicUsize::new(0));
    let deepest = depth.clone();
    dispatcher.register(Registration::sync(
        name("again"),
        handler_fn(move |_: &Signal| {
            deepest.fetch_add(1, Ordering::SeqCst);
            let dispatcher = inner.upgrade().unwrap();
            let snapshot = dispatcher.preflight_sync().unwrap();
            dispatcher
                .emit_sync(&Arc::new(Signal), &snapshot)
                .map(|_| 1)
                .map_err(HandlerFailure::failed)
        }),
    ));
    let snapshot = dispatcher.preflight_sync().unwrap();
    let error = dispatcher
        .emit_sync(&Arc::new(Signal), &snapshot)
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("emissions are nested deeper than 64"),
        "{error}"
    );
    assert_eq!(depth.load(Ordering::SeqCst), 64);
}

#[test]
fn a_guard_removes_its_registration_and_leaves_nothing_behind() {
    let dispatcher = Arc::new(Dispatcher::new(DispatchPolicy::isolated_in_order()));
    for _ in 0..100_000 {
        let handler = handler_fn(|_: &Signal| Ok(1));
        let registration = Registration::sync(name("x"), handler).on(Key::new("k"));
        drop(dispatcher.subscribe(registration));
    }
    assert!(dispatcher.is_empty());
    let kept = dispatcher.subscribe(sleeps("kept", 1));
    assert_eq!(dispatcher.len(), 1);
    assert!(dispatcher.remove(kept.id()));
}

#[test]
fn those_who_rely_on_discarding_are_listed_with_their_place() {
    let dispatcher = Dispatcher::new(profile::message_added_async());
    let line = line!() + 1;
    dispatcher.register(Registration::sync(
        name("old"),
        handler_fn(|_: &Signal| Ok(1)),
    ));
    dispatcher.register(sleeps("awaited", 1).on(Key::new("k")));
    let discarding = dispatcher.discarding();
    assert_eq!(discarding.len(), 1);
    assert_eq!(discarding[0].name, name("old"));
    assert_eq!(
        (discarding[0].place.file(), discarding[0].place.line()),
        (file!(), line)
    );
    assert_eq!(Dispatcher::new(profile::broadcaster()).discarding(), []);
}
