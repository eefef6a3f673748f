//! A planted difference: the other side runs under another policy, and so does what it is told to do.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;
use triplane::legacy::Value;
use triplane_kernel::profile::ProfileName;

use crate::alteration::Alteration;
use crate::live::Campaign;
use crate::live::verdict::{Reference, Verdict, judge};
use crate::neighbours;
use crate::script;
use crate::suite::Tree;

/// The legacy names themselves, with a profile that was changed.
struct Altered(Arc<Alteration>);

impl Reference for Altered {
    fn trace(&mut self, scenario: &Value) -> anyhow::Result<Json> {
        script::trace(scenario, Some(Arc::clone(&self.0)))
    }
}

fn altered(of: ProfileName, change: &str) -> Altered {
    let mut changes = neighbours::of(of).into_iter();
    let found = changes.find(|one| one.to_string() == change);
    Altered(Arc::new(found.expect("the change is legal")))
}

/// Makes the difference smaller, and checks that what is left is small, written, and still differs.
#[track_caller]
fn check(name: &str, scenario: &str, mut other: Altered) {
    let scenario: Value = serde_json::from_str(scenario).unwrap();
    let folder = std::env::temp_dir().join(format!("planted-{name}-{}", std::process::id()));
    let campaign = Campaign::within(folder.clone()).unwrap();
    let recorded = other.trace(&scenario).unwrap();
    let verdict = judge(&scenario, &recorded, &mut other).unwrap();
    assert!(matches!(verdict, Verdict::Differs(_)), "{verdict:?}");

    let finding = campaign.reduce(&scenario, &verdict, &mut other).unwrap();
    assert!(
        finding.handlers <= 3 && finding.operations <= 5,
        "{finding:?}"
    );
    assert!(finding.difference.contains("    - {"), "{finding:?}");
    assert!(finding.difference.contains("    + {"), "{finding:?}");

    let again = Tree {
        scenarios: campaign.scenarios(),
        traces: campaign.traces(),
        deliberate: None,
    };
    let outcomes = again.run("").unwrap();
    assert_eq!(outcomes.len(), 1);
    assert_eq!(outcomes[0].id, finding.id.clone() + "_minimised");
    assert_eq!(outcomes[0].verdict.as_str(), "fail");
    assert_eq!(Path::new(&finding.file).extension().unwrap(), "json");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_planted_difference_is_made_small() {
    check(
        "hook",
        r#"{"id": "hookbus_observational/planted", "profile": "hookbus_observational",
            "handlers": {
                "a": {"form": "async", "steps": [{"sleep_ms": 30}, {"mark": "a"}]},
                "b": {"form": "sync", "steps": [{"mark": "b"}, {"return": 1}]},
                "c": {"form": "async", "steps": [
                    {"try": [{"sleep_ms": 60}, {"mark": "c"}], "on_cancel": [{"mark": "x"}]},
                    {"raise": {"kind": "value_error", "message": "e"}}]},
                "d": {"form": "sync_returning_coroutine", "call_steps": [{"mark": "d"}],
                      "steps": [{"do": {"op": "unregister", "handler": "a", "point": "tool.post"}}]},
                "e": {"form": "sync", "steps": []}},
            "script": [
                {"op": "register", "handler": "a", "point": "tool.post"},
                {"op": "register", "handler": "b", "point": "tool.post"},
                {"op": "register", "handler": "c", "point": "tool.post"},
                {"op": "register", "handler": "d", "point": "tool.post"},
                {"op": "register", "handler": "e", "point": "tool.error"},
                {"op": "handlers_for", "point": "tool.post"},
                {"op": "emit", "point": "tool.error", "payload": {"n": 0}},
                {"op": "spawn", "as": "s", "do": {"op": "emit", "point": "tool.post", "payload": {"n": 1}}},
                {"op": "sleep_ms", "ms": 15},
                {"op": "join", "task": "s"},
                {"op": "emit", "point": "tool.post", "payload": {"n": 2, "db": "h"}},
                {"op": "unregister", "handler": "b", "point": "tool.post"}]}"#,
        altered(ProfileName::HookbusObservational, "on_failure=propagate"),
    );
    check(
        "terminal",
        r#"{"id": "terminal_callbacks/planted", "profile": "terminal_callbacks",
            "setup": {"budget_ms": 400},
            "handlers": {
                "a": {"form": "sync", "steps": [{"sleep_ms": 30}, {"mark": "a"}]},
                "b": {"form": "async", "steps": [{"sleep_ms": 60}, {"return": 2}]},
                "c": {"form": "async", "steps": [{"sleep_ms": 600}, {"mark": "late"}]},
                "d": {"form": "sync_returning_awaitable", "call_steps": [{"sleep_ms": 90}], "steps": []},
                "e": {"form": "async", "steps": [{"raise": {"kind": "key_error", "message": "k"}}]}},
            "script": [
                {"op": "register", "handler": "a", "kinds": ["session", "play"]},
                {"op": "register", "handler": "b", "name": "other"},
                {"op": "register", "handler": "c", "kinds": ["session"], "ids": ["x"]},
                {"op": "register", "handler": "d"},
                {"op": "register", "handler": "e", "kinds": ["play"]},
                {"op": "contains", "name": "other"},
                {"op": "emit", "kind": "session", "id": "x"},
                {"op": "sleep_ms", "ms": 900},
                {"op": "emit", "kind": "play", "id": "y", "reason_code": "late"}]}"#,
        altered(ProfileName::TerminalCallbacks, "deadline_seconds=half"),
    );
    check(
        "scheduler",
        r#"{"id": "scheduler_signal_bus/planted", "profile": "scheduler_signal_bus",
            "handlers": {
                "a": {"form": "async", "steps": [{"sleep_ms": 30}, {"return": true}]},
                "b": {"form": "async", "steps": [{"sleep_ms": 60}, {"mark": "b"}]},
                "c": {"form": "sync", "steps": [{"return": 0}]},
                "d": {"form": "async", "steps": [{"sleep_ms": 90}, {"mark": "d"}]}},
            "script": [
                {"op": "observe", "handler": "a", "types": ["schedule_run_failed"], "predicates": ["always"]},
                {"op": "observe", "handler": "b", "types": ["schedule_run_failed", "schedule_run_succeeded"]},
                {"op": "observe", "handler": "c", "types": ["schedule_run_failed"]},
                {"op": "observe", "handler": "d", "types": ["schedule_run_failed"]},
                {"op": "emit", "signal": {"$signal": "schedule_run_failed", "run_id": "r"}},
                {"op": "unobserve", "handler": "c"},
                {"op": "pop_counters", "run_id": "r"},
                {"op": "emit", "signal": {"$signal": "schedule_run_succeeded", "run_id": "q"}}]}"#,
        altered(ProfileName::SchedulerSignalBus, "concurrency=sequential"),
    );
}

/// The legacy names as they are.
struct Same;

impl Reference for Same {
    fn trace(&mut self, scenario: &Value) -> anyhow::Result<Json> {
        script::trace(scenario, None)
    }
}

#[test]
fn what_is_the_same_is_no_difference() {
    let scenario = r#"{"id": "broadcaster/same", "profile": "broadcaster",
        "handlers": {"a": {"form": "sync", "steps": [{"mark": "a"}]}},
        "script": [{"op": "subscribe", "handler": "a"}, {"op": "broadcast", "payload": 1}]}"#;
    let scenario: Value = serde_json::from_str(scenario).unwrap();
    let recorded = Same.trace(&scenario).unwrap();
    let verdict = judge(&scenario, &recorded, &mut Same).unwrap();
    assert_eq!(verdict, Verdict::Same);
}

#[test]
fn a_gate_beside_a_bound_sink_differs_on_purpose_and_nothing_else_does() {
    let tree = Tree::recorded();
    let read = |folder: &Path, name: &str| {
        let file = folder.join(format!("session_observer/{name}.json"));
        fs::read_to_string(file).unwrap()
    };
    let judged = |name: &str, recorded: &Json| {
        let scenario = serde_json::from_str(&read(&tree.scenarios, name)).unwrap();
        judge(&scenario, recorded, &mut Same).unwrap()
    };
    for name in ["gate_denies_bound_store", "gate_raises_bound_store"] {
        let recorded = serde_json::from_str(&read(&tree.traces, name)).unwrap();
        assert_eq!(judged(name, &recorded), Verdict::Deliberate, "{name}");
    }
    let mut other: Json = serde_json::from_str(&read(&tree.traces, "gate_deny")).unwrap();
    other["final"]["subscriptions"] = 7.into();
    assert!(matches!(judged("gate_deny", &other), Verdict::Differs(_)));
}
