//! Threads that register, remove, emit, cancel and give up, in orders that a scheduler chooses.
//!
//! The crate's modules are compiled here once more. Their `crate::sync` is the one below, whose locks
//! and atomics are shuttle's: at each of them another thread may go on. Without the usual harness,
//! since the modules' own unit tests would meet these locks outside a schedule.

#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    reason = "modules of the crate as parts of a test"
)]

mod sync {
    pub(crate) use shuttle::sync::atomic::AtomicU8;
    pub(crate) use shuttle::sync::{Mutex, MutexGuard, RwLock};
}

#[path = "../../src/declare/mod.rs"]
mod declare;
#[path = "../../src/name.rs"]
mod name;
#[path = "../../src/cancel.rs"]
mod cancel;
#[path = "../../src/deadline.rs"]
mod deadline;
#[path = "../../src/failure.rs"]
mod failure;
#[path = "../../src/contain.rs"]
mod contain;
#[path = "../../src/policy/mod.rs"]
mod policy;
#[path = "../../src/intercept/mod.rs"]
mod intercept;
#[path = "../../src/dispatch/mod.rs"]
mod dispatch;
#[path = "../../src/profile/mod.rs"]
mod profile;

use cancel::{CancelCause, Scope};
use dispatch::{
    DispatchError, DispatchReport, FanoutDispatcher, HandlerOutcome, Key, Keyed, Offload,
    Registration, handler_fn,
};
use failure::HandlerFailure;
use libtest_mimic::{Arguments, Trial};
use name::RegistrationName;
use policy::DispatchPolicy;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::future::block_on;
use shuttle::scheduler::RandomScheduler;
use shuttle::thread;

/// Schedules tried for each test.
const SCHEDULES: usize = 2_000;

fn main() {
    let trial = |name, test: fn()| {
        Trial::test(name, move || {
            let mut config = shuttle::Config::new();
            // It warns that weaker orderings are tried as the strongest one.
            config.silence_warnings = true;
            shuttle::Runner::new(RandomScheduler::new(SCHEDULES), config).run(test);
            Ok(())
        })
    };
    let trials = vec![
        trial(
            "an_emission_calls_what_was_registered_when_it_began",
            registrations,
        ),
        trial("a_snapshot_is_refused_or_exact", snapshots),
        trial(
            "a_request_made_once_is_taken_by_one_wait",
            requests_made_once,
        ),
        trial("a_standing_request_is_never_lost", standing_requests),
        trial("an_offloaded_call_begins_or_is_given_up", offloads),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

struct Signal;

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        [Key::from_static("a"), Key::from_static("b")].into_iter()
    }
}

type Dispatcher = FanoutDispatcher<Signal, ()>;

fn registration(name: &str, key: &'static str) -> Registration<Signal> {
    Registration::sync(
        RegistrationName::new(name).unwrap(),
        handler_fn(|_: &Signal| Ok(())),
    )
    .on(Key::from_static(key))
}

fn names<T>(report: &DispatchReport<T>) -> Vec<String> {
    report
        .entries()
        .map(|entry| entry.name.to_string())
        .collect()
}

fn registrations() {
    let dispatcher = Arc::new(Dispatcher::new(DispatchPolicy::isolated_in_order()));
    dispatcher.register(registration("first", "a"));
    let gone = dispatcher.register(registration("removed", "b"));
    let adds = {
        let dispatcher = Arc::clone(&dispatcher);
        thread::spawn(move || {
            dispatcher.register(registration("second", "b"));
            dispatcher.register(registration("third", "a"));
        })
    };
    let removes = {
        let dispatcher = Arc::clone(&dispatcher);
        thread::spawn(move || assert!(dispatcher.remove(gone)))
    };
    let emit = || block_on(dispatcher.emit(&Arc::new(Signal), &Scope::new())).unwrap();
    let during = names(&emit());
    // Whatever the moment: in order, each once, and what was there all the time is there.
    let all = ["first", "removed", "second", "third"];
    let order: Vec<_> = all
        .iter()
        .filter(|name| during.iter().any(|n| n == *name))
        .collect();
    assert_eq!(during.iter().collect::<Vec<_>>(), order);
    assert_eq!(during[0], "first");
    assert!(during.iter().any(|n| n == "second") || !during.iter().any(|n| n == "third"));
    adds.join().unwrap();
    removes.join().unwrap();
    assert_eq!(names(&emit()), ["first", "second", "third"]);
    assert!(!dispatcher.remove(gone));
}

fn snapshots() {
    let dispatcher = Arc::new(Dispatcher::new(DispatchPolicy::isolated_in_order()));
    dispatcher.register(registration("first", "a"));
    let snapshot = dispatcher.preflight_sync().unwrap();
    let adds = {
        let dispatcher = Arc::clone(&dispatcher);
        thread::spawn(move || {
            dispatcher.register(registration("second", "a"));
        })
    };
    match dispatcher.emit_sync(&Arc::new(Signal), &snapshot) {
        Ok(report) => assert_eq!(names(&report), ["first"]),
        Err(error) => assert!(matches!(error, DispatchError::StaleSnapshot { .. })),
    }
    adds.join().unwrap();
    assert!(dispatcher.emit_sync(&Arc::new(Signal), &snapshot).is_err());
}

fn requests_made_once() {
    let scope = Scope::new();
    let taken = Arc::new(AtomicUsize::new(0));
    let waits: Vec<_> = [scope.clone(), scope.child()]
        .into_iter()
        .map(|scope| {
            let taken = Arc::clone(&taken);
            thread::spawn(move || {
                block_on(scope.cancelled());
                taken.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    scope.cancel_once(CancelCause::Emitter);
    // One of the two has it or will have it; the other needs a request of its own.
    while taken.load(Ordering::SeqCst) == 0 {
        thread::yield_now();
    }
    for _ in 0..20 {
        thread::yield_now();
    }
    assert_eq!(taken.load(Ordering::SeqCst), 1);
    scope.cancel(CancelCause::Emitter);
    for wait in waits {
        wait.join().unwrap();
    }
}

fn standing_requests() {
    let scope = Scope::new();
    let child = scope.child();
    let waits = thread::spawn(move || (block_on(child.cancelled()), block_on(child.cancelled())));
    let once = {
        let scope = scope.clone();
        thread::spawn(move || scope.cancel_once(CancelCause::Handler))
    };
    scope.cancel(CancelCause::Deadline);
    once.join().unwrap();
    let (_, second) = waits.join().unwrap();
    assert_eq!(scope.requested(), Some(CancelCause::Deadline));
    assert_eq!(second, CancelCause::Deadline);
}

/// Makes calls on threads of the schedule.
#[derive(Debug, Default)]
struct Threads(std::sync::Mutex<Vec<thread::JoinHandle<()>>>);

impl Offload for Threads {
    fn submit(&self, work: Box<dyn FnOnce() + Send>) {
        self.0.lock().unwrap().push(thread::spawn(work));
    }
}

fn offloads() {
    let threads = Arc::new(Threads::default());
    let policy = offloading();
    let dispatcher = Dispatcher::new(policy).with_offload(threads.clone());
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let handler = handler_fn(move |_: &Signal| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let name = RegistrationName::new("elsewhere").unwrap();
    dispatcher.register(Registration::sync(name, handler));
    let scope = Scope::new();
    let cancels = {
        let scope = scope.clone();
        thread::spawn(move || scope.cancel(CancelCause::Emitter))
    };
    let result = block_on(dispatcher.emit(&Arc::new(Signal), &scope));
    cancels.join().unwrap();
    for thread in threads.0.lock().unwrap().drain(..) {
        thread.join().unwrap();
    }
    let report = match &result {
        Ok(report) => report,
        Err(error) => error.report().unwrap(),
    };
    let called = calls.load(Ordering::SeqCst);
    match report.entries().next().unwrap().outcome {
        HandlerOutcome::Value(()) | HandlerOutcome::AbandonedUnknown => assert_eq!(called, 1),
        HandlerOutcome::CancelledBeforeStart => assert_eq!(called, 0),
        other => panic!("{other:?}"),
    }
}

/// The terminal profile without its deadline: the schedule has no clock.
fn offloading() -> DispatchPolicy {
    let text =
        serde_json::to_string(&profile::terminal_callbacks(profile::TERMINAL_BUDGET)).unwrap();
    let text = text
        .replace(r#","deadline_disposition":"silent_stop""#, "")
        .replace(r#","deadline_seconds":10.0"#, "");
    serde_json::from_str(&text).unwrap()
}
