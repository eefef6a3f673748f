//! Every legal change of a profile: for each field and each other value of it, the policies that have the
//! value and differ from the profile in as little else as the rules allow.

use std::collections::HashSet;

use serde_json::{Value as Json, json};
use triplane_kernel::policy::{
    CompletionTiming, DeadlineDisposition, DispatchConcurrency, DispatchFailure, ErrorSurface,
    HandlerCancellation, HandlerClassification, PhaseSelector, PredicateFailure,
    ReturnedAwaitableDisposition, ReturnedValueClassifier, SyncEntryPolicy, SyncHandlerMode,
};
use triplane_kernel::profile::{self, ProfileName, TERMINAL_BUDGET};
use triplane_kernel::{DispatchPolicy, StageFailure, StageKind, StageOrder};

use crate::alteration::{
    AS_OBSERVER, Alteration, Assignment, DEADLINE, DISPOSITION, HALF, LONG, NONE, ON_FAILURE,
    ORDER, REVERSED, SECOND_STAGE, SELECTOR, SHORT, START_ORDER, TEARDOWN, TWICE,
};

/// The most fields that are changed beside the one in question. No rule of the kernel needs more.
const COMPANIONS_MAX: usize = 3;

/// The legal changes of a profile.
pub(crate) fn of(name: ProfileName) -> Vec<Alteration> {
    match name {
        ProfileName::HookbusBlocking => of_stages(name, &profile::hookbus_blocking()),
        ProfileName::HookbusObservational => of_stages(name, &profile::hookbus_observational()),
        ProfileName::Broadcaster => of_policy(name, &profile::broadcaster()),
        ProfileName::SessionObserver => of_policy(name, &profile::session_observer()),
        ProfileName::MessageAddedSync => of_policy(name, &profile::message_added_sync()),
        ProfileName::MessageAddedAsync => of_policy(name, &profile::message_added_async()),
        ProfileName::SchedulerSignalBus => of_policy(name, &profile::scheduler_signal_bus()),
        ProfileName::TerminalCallbacks => {
            of_policy(name, &profile::terminal_callbacks(TERMINAL_BUDGET))
        }
    }
}

fn of_policy(of: ProfileName, base: &DispatchPolicy) -> Vec<Alteration> {
    let assignments = assignments(base);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for wanted in &assignments {
        for alteration in nearest(of, base, wanted, &assignments) {
            let Ok(policy) = alteration.policy(base) else {
                continue;
            };
            if seen.insert(policy.snapshot().digest()) {
                found.push(alteration);
            }
        }
    }
    found
}

/// Of the stages of a plan: what a failure means, whether they are teardown, and in which order the hooks
/// of one stage are asked.
fn of_stages(of: ProfileName, base: &StageOrder) -> Vec<Alteration> {
    let mut found = Vec::new();
    let change = |field: &str, word: &str| Alteration {
        of,
        assignments: vec![assignment(field, word)],
    };
    for stage in base.stages() {
        for failure in [
            StageFailure::Deny,
            StageFailure::Isolate,
            StageFailure::Propagate,
        ] {
            if failure != stage.on_failure {
                found.push(change(ON_FAILURE, failure.as_str()));
            }
        }
        match stage.kind {
            StageKind::Ordinary => {
                found.push(change(TEARDOWN, SHORT));
                found.push(change(TEARDOWN, LONG));
            }
            StageKind::Teardown { .. } => {}
        }
    }
    found.push(change(ORDER, REVERSED));
    found.retain(|alteration| alteration.stages(base).is_ok());
    found
}

fn assignment(field: &str, word: &str) -> Assignment {
    Assignment {
        field: field.to_owned(),
        word: word.to_owned(),
    }
}

/// Each field with each value that it does not have.
fn assignments(base: &DispatchPolicy) -> Vec<Assignment> {
    macro_rules! words {
        ($axis:ty) => {
            <$axis>::ALL
                .iter()
                .map(|value| value.as_str())
                .collect::<Vec<_>>()
        };
    }
    let written = serde_json::to_value(base).unwrap_or_default();
    let phase = &written["phases"][0];
    let stage_fields = [
        ("failure", words!(DispatchFailure)),
        ("completion", words!(CompletionTiming)),
        ("error_surface", words!(ErrorSurface)),
        ("handler_cancellation", words!(HandlerCancellation)),
    ];
    let mut all: Vec<Assignment> = Vec::new();
    let mut each = |field: &str, has: &Json, words: &[&str]| {
        let others = words.iter().filter(|word| *has != json!(word));
        all.extend(others.map(|word| assignment(field, word)));
    };
    for (field, words) in [
        (SELECTOR, words!(PhaseSelector)),
        ("concurrency", words!(DispatchConcurrency)),
        ("sync_handlers", words!(SyncHandlerMode)),
        ("handler_classification", words!(HandlerClassification)),
        ("returned_value_classifier", words!(ReturnedValueClassifier)),
        ("returned_awaitable", words!(ReturnedAwaitableDisposition)),
        ("sync_entry", words!(SyncEntryPolicy)),
        ("predicate_failure", words!(PredicateFailure)),
    ] {
        each(field, &phase[field], &words);
    }
    for stage in ["invocation", SECOND_STAGE] {
        for (axis, words) in &stage_fields {
            if phase[stage].is_object() {
                each(&format!("{stage}.{axis}"), &phase[stage][axis], words);
            }
        }
    }
    let second = if phase[SECOND_STAGE].is_object() {
        NONE
    } else {
        AS_OBSERVER
    };
    each(SECOND_STAGE, &Json::Null, &[second]);
    each(
        DISPOSITION,
        &phase[DISPOSITION],
        &words!(DeadlineDisposition),
    );
    if phase[DEADLINE].is_number() {
        each(DISPOSITION, &Json::Null, &[NONE]);
        each(DEADLINE, &Json::Null, &[NONE, HALF, TWICE]);
    } else {
        each(DEADLINE, &Json::Null, &[SHORT]);
    }
    each(START_ORDER, &Json::Null, &["false"]);
    all
}

/// The legal policies with this value that need the fewest other changes.
fn nearest(
    of: ProfileName,
    base: &DispatchPolicy,
    wanted: &Assignment,
    all: &[Assignment],
) -> Vec<Alteration> {
    let others: Vec<_> = all.iter().filter(|one| one.field != wanted.field).collect();
    for count in 0..=COMPANIONS_MAX {
        let mut legal = Vec::new();
        let mut chosen = Alteration {
            of,
            assignments: vec![wanted.clone()],
        };
        with_companions(base, &mut chosen, &others, count, &mut legal);
        if !legal.is_empty() {
            return legal;
        }
    }
    Vec::new()
}

fn with_companions(
    base: &DispatchPolicy,
    chosen: &mut Alteration,
    others: &[&Assignment],
    count: usize,
    legal: &mut Vec<Alteration>,
) {
    if count == 0 {
        if chosen.policy(base).is_ok() {
            legal.push(chosen.clone());
        }
        return;
    }
    for (index, companion) in others.iter().enumerate() {
        let mut chosen_before = chosen.assignments.iter();
        if chosen_before.any(|one| one.field == companion.field) {
            continue;
        }
        chosen.assignments.push((*companion).clone());
        with_companions(base, chosen, &others[index + 1..], count - 1, legal);
        chosen.assignments.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(found: &[Alteration]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_value_that_is_legal_alone_is_changed_alone() {
        let found = texts(&of(ProfileName::SchedulerSignalBus));
        assert!(found.contains(&"concurrency=sequential".to_owned()));
        assert!(found.contains(&"invocation.handler_cancellation=collect".to_owned()));
    }

    #[test]
    fn a_value_that_needs_others_is_changed_with_them() {
        let found = texts(&of(ProfileName::Broadcaster));
        let propagates = "invocation.failure=propagate, invocation.error_surface=raise_first";
        assert!(found.contains(&propagates.to_owned()), "{found:#?}");
        let split = "selector=declared_sync, handler_classification=by_declaration";
        assert!(found.contains(&split.to_owned()), "{found:#?}");
        let limited = "deadline_disposition=raise, deadline_seconds=0.01";
        assert!(found.contains(&limited.to_owned()), "{found:#?}");
    }

    #[test]
    fn a_plan_is_changed_in_its_failures_its_teardown_and_its_order() {
        let found = texts(&of(ProfileName::HookbusBlocking));
        assert_eq!(
            found,
            [
                "on_failure=deny",
                "on_failure=isolate",
                "teardown=0.01",
                "teardown=3600",
                "order=reversed",
            ]
        );
    }
}
