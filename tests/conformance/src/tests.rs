//! The recorded scenarios as a test, and the policies behind the legacy names.

use std::sync::Arc;

use triplane::legacy::{
    Broadcaster, Callback, HookBus, HookPoint, MessageManager, SchedulerSignalBus, SessionObserver,
    TerminalCallbackRegistry, TerminalFilter, TypeName, Value,
};
use triplane_kernel::profile::{ProfileName, TERMINAL_BUDGET};

use crate::matrix::Matrix;
use crate::mutations::{self, Unobservable};
use crate::report::own_file;
use crate::suite::{Tree, Verdict};

#[test]
fn everything_that_was_recorded_comes_and_every_row_has_evidence() {
    let outcomes = Tree::recorded().run("").unwrap();
    for outcome in &outcomes {
        if let Verdict::Failed(difference) = &outcome.verdict {
            panic!("{}: - recorded, + came\n{difference}", outcome.id);
        }
    }
    let judgement = Matrix::read(&own_file("matrix.toml"))
        .unwrap()
        .judge(&outcomes);
    assert_eq!(judgement.blocking, Vec::<String>::new());
}

#[test]
fn every_change_of_a_profile_is_seen_or_listed() {
    let mutations = mutations::run(&Tree::recorded(), "").unwrap();
    let unobservable = Unobservable::read(&own_file("unobservable.toml")).unwrap();
    assert_eq!(unobservable.judge(&mutations), Vec::<String>::new());
    let seen = mutations
        .iter()
        .filter(|mutation| mutation.seen_by.is_some());
    assert!(seen.count() > 0);
}

#[path = "../../../crates/triplane/examples/legacy.rs"]
#[allow(dead_code, reason = "the example has a main function, too")]
mod example;

#[tokio::test]
async fn the_example_says_what_a_user_of_the_old_names_expects() {
    let lines = example::run().await.unwrap();
    assert_eq!(
        lines,
        [
            "recorded: null",
            "ls: allowed",
            "recorded: \"rm is not allowed\"",
            "rm: rm is not allowed",
            "large: {\"bytes\":700}",
            "stored: 4 signals",
            "scheduler: 1 handlers failed: `page`: nobody is on call",
            "received 2, acted on 1",
            "session 1: completed",
        ]
    );
}

#[test]
fn every_adapter_runs_under_the_policy_of_its_profile() {
    let manager = MessageManager::new();
    let [sync, asynchronous] = manager.policies();
    let broadcaster = Broadcaster::new(TypeName::from_static("event"));
    let terminal = TerminalCallbackRegistry::new(TERMINAL_BUDGET);
    let digests = [
        (ProfileName::Broadcaster, broadcaster.policy().snapshot()),
        (
            ProfileName::SessionObserver,
            SessionObserver::new().policy().snapshot(),
        ),
        (ProfileName::MessageAddedSync, sync.snapshot()),
        (ProfileName::MessageAddedAsync, asynchronous.snapshot()),
        (
            ProfileName::SchedulerSignalBus,
            SchedulerSignalBus::new().policy().snapshot(),
        ),
        (ProfileName::TerminalCallbacks, terminal.policy().snapshot()),
    ];
    for (profile, snapshot) in digests {
        assert_eq!(
            snapshot.digest(),
            profile.snapshot().digest(),
            "{}",
            profile.as_str()
        );
    }
    let bus = HookBus::new(None);
    for point in HookPoint::ALL {
        let stages = bus.stages(*point).snapshot();
        assert_eq!(
            stages.digest(),
            point.profile().snapshot().digest(),
            "{point}"
        );
    }
}

/// Calls a function when it is dropped.
struct AtEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn ending<S: Send + Sync + 'static>(end: impl Fn() + Send + Sync + 'static) -> Callback<S> {
    let end = AtEnd(end);
    let callback = Callback::sync("ending", move |_| {
        let _held = &end;
        Ok(Value::Null)
    });
    callback.unwrap()
}

#[test]
fn the_end_of_a_handler_may_use_what_it_is_removed_from() {
    let observer = Arc::new(SessionObserver::new());
    let used = Arc::clone(&observer);
    let callback = ending(move || assert_eq!(used.subscription_count(), 0));
    observer.gate(&callback);
    drop(callback);
    observer.clear_gate();

    let registry = Arc::new(TerminalCallbackRegistry::new(TERMINAL_BUDGET));
    let used = Arc::clone(&registry);
    let callback = ending(move || assert!(!used.contains("ending")));
    registry.register(
        callback.name().clone(),
        &callback,
        TerminalFilter::default(),
    );
    drop(callback);
    registry.clear();
}
