//! The recorded scenarios as a test, and the policies behind the legacy names.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

#[expect(deprecated, reason = "a deprecated name has a profile, too")]
use triplane::legacy::Broadcaster;
use triplane::legacy::{
    Callback, HookBus, HookPoint, MessageManager, SchedulerSignalBus, SessionObserver,
    TerminalCallbackRegistry, TerminalFilter, TypeName, Value,
};
use triplane_kernel::profile::{ProfileName, TERMINAL_BUDGET};

use crate::evidence::{Ended, Ran};
use crate::exit;
use crate::matrix::Matrix;
use crate::mutations::{self, Unobservable};
use crate::options::{Evidence, Options};
use crate::report::{self, own_file};
use crate::suite::{Tree, Verdict};

#[test]
fn everything_that_was_recorded_comes_and_every_row_has_evidence() {
    let outcomes = Tree::recorded().run("").unwrap();
    for outcome in &outcomes {
        if let Verdict::Failed(difference) = &outcome.verdict {
            panic!("{}: - recorded, + came\n{difference}", outcome.id);
        }
    }
    // The tests that rows name run beside this one, not in it: each is missed here, and nothing else is.
    let matrix = Matrix::read(&own_file("matrix.toml")).unwrap();
    let judgement = matrix.judge(&outcomes, &Ran::new());
    assert!(!matrix.tests().is_empty());
    let ran: Ran = matrix
        .tests()
        .into_iter()
        .map(|test| (test, Ended::Passed))
        .collect();
    assert_eq!(matrix.judge(&outcomes, &ran).blocking, Vec::<String>::new());
    for reason in judgement.blocking {
        let missed =
            reason.ends_with("did not run") || reason.ends_with("nothing that ran shows it");
        assert!(missed, "{reason}");
    }
    assert_eq!(Tree::recorded().orphans().unwrap(), Vec::<PathBuf>::new());
}

/// Each row stands on what it names: without that it blocks.
#[test]
fn a_row_that_loses_its_last_evidence_blocks() {
    let outcomes = Tree::recorded().run("").unwrap();
    let matrix = Matrix::read(&own_file("matrix.toml")).unwrap();
    let ran: Ran = matrix
        .tests()
        .into_iter()
        .map(|test| (test, Ended::Passed))
        .collect();
    let mut rows = 0;
    for row in matrix.rows().filter(|row| row.is_shown_by_scenarios_only()) {
        let left: Vec<_> = outcomes
            .iter()
            .filter(|one| !row.names(&one.id))
            .cloned()
            .collect();
        assert!(
            left.len() < outcomes.len(),
            "`{}` names scenarios",
            row.name()
        );
        let blocking = matrix.judge(&left, &ran).blocking;
        let lost = format!("`{}`: nothing that ran shows it", row.name());
        assert!(blocking.contains(&lost), "{lost}: {blocking:?}");
        rows += 1;
    }
    assert!(rows > 20);
}

/// The same from outside: a tree without the last scenario of a row ends the run with 1.
#[test]
fn a_tree_without_the_last_scenario_of_a_row_ends_with_failure() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = Tree::recorded();
    let row = "session_observer/invocation_failure_abandons_awaitables.json";
    let copy = |from: &Path, to: &Path| {
        for profile in std::fs::read_dir(from).unwrap() {
            let profile = profile.unwrap();
            let folder = to.join(profile.file_name());
            std::fs::create_dir_all(&folder).unwrap();
            for file in std::fs::read_dir(profile.path()).unwrap() {
                let file = file.unwrap().path();
                let name = file.file_name().unwrap();
                if !file.ends_with(row) {
                    std::fs::copy(&file, folder.join(name)).unwrap();
                }
            }
        }
    };
    let tree = Tree {
        scenarios: folder.path().join("scenarios"),
        traces: folder.path().join("traces"),
        deliberate: Some(folder.path().join("deliberate")),
    };
    copy(&recorded.scenarios, &tree.scenarios);
    copy(&recorded.traces, &tree.traces);
    copy(
        &recorded.deliberate.unwrap(),
        tree.deliberate.as_ref().unwrap(),
    );
    let mut options = Options::parse([]).unwrap();
    options.tree = tree;
    options.evidence = Evidence::ScenariosOnly;
    let blocking = report::scenarios(&options).unwrap();
    let lost = "`awaitables abandoned by an invocation failure`: nothing that ran shows it";
    assert!(blocking.contains(&lost.to_owned()), "{blocking:?}");
    assert_eq!(exit(&blocking), ExitCode::FAILURE);
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
#[expect(deprecated, reason = "a deprecated name has a profile, too")]
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
