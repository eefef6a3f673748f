//! Every combination of a policy's axes against an oracle that lists the rules it breaks.
//!
//! The oracle is written from the text of `docs/kernel-semantics.md`: it knows which rules are
//! broken and nothing of the order in which the constructors look.

#![expect(deprecated, reason = "the product holds the deprecated disposition")]

use triplane_kernel::declare::Setting;
use triplane_kernel::policy::{
    CompletionTiming, DeadlineDisposition, DispatchConcurrency, DispatchFailure, DispatchPhase,
    DispatchPolicy, DispatchStagePolicy, ErrorSurface, HandlerCancellation, HandlerClassification,
    PhaseDeclaration, PhaseSelector, PolicyError, PredicateFailure, ReturnedAwaitableDisposition,
    ReturnedValueClassifier, SyncEntryPolicy, SyncHandlerMode,
};

/// Accepted exactly when no rule is broken, and refused by a rule that is.
fn check<T>(built: &Result<T, PolicyError>, broken: &[&str], what: impl FnOnce() -> String) {
    match built {
        Ok(_) => assert!(
            broken.is_empty(),
            "{} is accepted and breaks {broken:?}",
            what()
        ),
        Err(error) => assert!(
            broken.contains(&error.rule()),
            "{} is refused by {error}, and breaks {broken:?}",
            what()
        ),
    }
}

fn broken_in_stage(
    failure: DispatchFailure,
    completion: CompletionTiming,
    surface: ErrorSurface,
) -> Vec<&'static str> {
    use CompletionTiming as C;
    use DispatchFailure as F;
    use ErrorSurface as E;
    let rules = [
        (
            "RaiseGroupNeedsCollect",
            surface == E::RaiseGroup && failure != F::Collect,
        ),
        (
            "RaiseGroupNeedsAwaitAll",
            surface == E::RaiseGroup && completion != C::AwaitAll,
        ),
        (
            "UnwrapNeedsCollect",
            surface == E::UnwrapSingleElseGroup && failure != F::Collect,
        ),
        (
            "UnwrapNeedsAwaitAllOrCancelRemaining",
            surface == E::UnwrapSingleElseGroup
                && !matches!(completion, C::AwaitAll | C::CancelRemainingOnFailure),
        ),
        (
            "LogOnlyNeedsIsolate",
            surface == E::LogOnly && failure != F::Isolate,
        ),
        (
            "PropagateNeedsRaiseFirst",
            failure == F::Propagate && surface != E::RaiseFirst,
        ),
        (
            "RaiseFirstForbidsIsolate",
            failure == F::Isolate && surface == E::RaiseFirst,
        ),
        (
            "IsolateNeedsAwaitAllOrDetach",
            failure == F::Isolate && !matches!(completion, C::AwaitAll | C::DetachBounded),
        ),
        (
            "DetachForbidsPropagate",
            completion == C::DetachBounded && failure == F::Propagate,
        ),
    ];
    rules
        .into_iter()
        .filter_map(|(rule, broken)| broken.then_some(rule))
        .collect()
}

#[test]
fn the_180_combinations_of_a_stage_are_accepted_or_refused_by_a_broken_rule() {
    let (mut all, mut accepted) = (0, 0);
    for &failure in DispatchFailure::ALL {
        for &completion in CompletionTiming::ALL {
            for &surface in ErrorSurface::ALL {
                for &cancellation in HandlerCancellation::ALL {
                    let built =
                        DispatchStagePolicy::new(failure, completion, surface, cancellation);
                    let broken = broken_in_stage(failure, completion, surface);
                    check(&built, &broken, || {
                        format!("{failure}/{completion}/{surface}")
                    });
                    all += 1;
                    accepted += i32::from(built.is_ok());
                }
            }
        }
    }
    // The `ok` cells of the table in the documentation, times three.
    assert_eq!((all, accepted), (180, 18 * 3));
}

fn stage(
    failure: DispatchFailure,
    completion: CompletionTiming,
    surface: ErrorSurface,
) -> DispatchStagePolicy {
    DispatchStagePolicy::new(failure, completion, surface, HandlerCancellation::Propagate).unwrap()
}

/// One stage for each completion, since that is the axis that meets the phase's.
fn stages() -> [DispatchStagePolicy; 4] {
    use CompletionTiming as C;
    [
        stage(DispatchFailure::Isolate, C::AwaitAll, ErrorSurface::LogOnly),
        stage(
            DispatchFailure::Propagate,
            C::StopOnFailure,
            ErrorSurface::RaiseFirst,
        ),
        stage(
            DispatchFailure::Collect,
            C::CancelRemainingOnFailure,
            ErrorSurface::ReturnReport,
        ),
        stage(
            DispatchFailure::Collect,
            C::DetachBounded,
            ErrorSurface::RaiseFirst,
        ),
    ]
}

fn broken_in_phase(phase: &PhaseDeclaration) -> Vec<&'static str> {
    use CompletionTiming as C;
    let second = phase.returned_awaitables.value();
    let gathers = phase.returned_awaitable == ReturnedAwaitableDisposition::GatherAfterInvocations;
    let discards = phase.returned_awaitable == ReturnedAwaitableDisposition::DiscardUnawaited;
    let by_value = phase.handler_classification == HandlerClassification::ByReturnValue;
    let uninspected = phase.returned_value_classifier == ReturnedValueClassifier::NotInspected;
    let sequential = phase.concurrency == DispatchConcurrency::Sequential;
    let offloads = phase.sync_handlers == SyncHandlerMode::Offload;
    let sync_entry = phase.sync_entry != SyncEntryPolicy::Unavailable;
    let deadline = phase.deadline_seconds.value();
    let disposed = phase.deadline_disposition.value().is_some();
    let calls = phase.invocation.completion();
    let beside = |timing| {
        (!sequential && calls == timing) || second.is_some_and(|s| s.completion() == timing)
    };
    let in_turn = |timing| sequential && calls == timing;
    let rules = [
        ("GatherNeedsReturnValue", gathers && !by_value),
        ("GatherNeedsAsyncEntry", gathers && sync_entry),
        ("GatherNeedsSequential", gathers && !sequential),
        ("GatherNeedsSecondStage", gathers && second.is_none()),
        ("SecondStageNeedsGather", !gathers && second.is_some()),
        ("ReturnValueNeedsClassifier", by_value && uninspected),
        (
            "NotInspectedNeedsDiscard",
            !by_value && uninspected && !discards,
        ),
        (
            "SelectorNeedsDeclaration",
            by_value && phase.selector != PhaseSelector::All,
        ),
        ("OffloadNeedsDeclaration", by_value && offloads),
        ("DeadlineNeedsDisposition", deadline.is_some() && !disposed),
        ("DispositionNeedsDeadline", deadline.is_none() && disposed),
        (
            "DeadlineNotFinite",
            deadline.is_some_and(|s| !s.is_finite()),
        ),
        (
            "DeadlineNotPositive",
            deadline.is_some_and(|s| s.is_finite() && s <= 0.0),
        ),
        (
            "DeadlineTooLong",
            deadline.is_some_and(|s| s.is_finite() && s > 31_536_000.0),
        ),
        ("StopNeedsSequential", beside(C::StopOnFailure)),
        (
            "CancelRemainingNeedsConcurrent",
            in_turn(C::CancelRemainingOnFailure),
        ),
        ("DetachNeedsConcurrent", in_turn(C::DetachBounded)),
        (
            "DetachNeedsDeadline",
            beside(C::DetachBounded) && deadline.is_none(),
        ),
        ("SyncEntryNeedsSequential", sync_entry && !sequential),
        ("SyncEntryNeedsInline", sync_entry && offloads),
        ("SyncEntryForbidsDeadline", sync_entry && deadline.is_some()),
    ];
    rules
        .into_iter()
        .filter_map(|(rule, broken)| broken.then_some(rule))
        .collect()
}

/// Calls `each` with the full product of a phase's own axes, the deadline and the stages.
fn for_each_phase(mut each: impl FnMut(PhaseDeclaration)) {
    let stages = stages();
    let second_stages: Vec<_> = std::iter::once(Setting::Undefined)
        .chain(stages.map(Setting::Value))
        .collect();
    let dispositions: Vec<_> = std::iter::once(Setting::Undefined)
        .chain(DeadlineDisposition::ALL.iter().map(|&d| Setting::Value(d)))
        .collect();
    for &selector in PhaseSelector::ALL {
        for &concurrency in DispatchConcurrency::ALL {
            for &sync_handlers in SyncHandlerMode::ALL {
                for &handler_classification in HandlerClassification::ALL {
                    for &returned_value_classifier in ReturnedValueClassifier::ALL {
                        for &returned_awaitable in ReturnedAwaitableDisposition::ALL {
                            for &sync_entry in SyncEntryPolicy::ALL {
                                for &predicate_failure in PredicateFailure::ALL {
                                    for &deadline_disposition in &dispositions {
                                        for deadline_seconds in
                                            [Setting::Undefined, Setting::Value(2.5)]
                                        {
                                            for invocation in stages {
                                                for &returned_awaitables in &second_stages {
                                                    each(PhaseDeclaration {
                                                        selector,
                                                        concurrency,
                                                        sync_handlers,
                                                        handler_classification,
                                                        returned_value_classifier,
                                                        returned_awaitable,
                                                        sync_entry,
                                                        predicate_failure,
                                                        invocation,
                                                        returned_awaitables,
                                                        deadline_disposition,
                                                        deadline_seconds,
                                                    });
                                                }
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_product_of_a_phase_is_accepted_or_refused_by_a_broken_rule_and_reads_back() {
    let (mut all, mut accepted) = (0_u32, 0_u32);
    for_each_phase(|declared| {
        let built = DispatchPhase::new(declared);
        check(&built, &broken_in_phase(&declared), || {
            format!("{declared:?}")
        });
        all += 1;
        let Ok(phase) = built else { return };
        accepted += 1;
        assert_eq!(phase.declaration(), declared);
        // Reading goes through the same rules; a sample is enough, since it calls the same code.
        if accepted.is_multiple_of(64) {
            let text = serde_json::to_string(&phase).unwrap();
            assert_eq!(serde_json::from_str::<DispatchPhase>(&text).unwrap(), phase);
        }
    });
    assert_eq!(all, 691_200);
    assert!(accepted > 5_000, "only {accepted} are accepted");
}

/// The valid phase that the tests below vary.
fn plain() -> PhaseDeclaration {
    PhaseDeclaration {
        selector: PhaseSelector::All,
        concurrency: DispatchConcurrency::Concurrent,
        sync_handlers: SyncHandlerMode::Inline,
        handler_classification: HandlerClassification::ByDeclaration,
        returned_value_classifier: ReturnedValueClassifier::InspectAwaitable,
        returned_awaitable: ReturnedAwaitableDisposition::AwaitInInvocation,
        sync_entry: SyncEntryPolicy::Unavailable,
        predicate_failure: PredicateFailure::Propagate,
        invocation: stages()[0],
        returned_awaitables: Setting::Undefined,
        deadline_disposition: Setting::Value(DeadlineDisposition::Raise),
        deadline_seconds: Setting::Value(1.0),
    }
}

#[test]
fn a_deadline_is_finite_positive_and_not_absurd() {
    for seconds in [
        0.0,
        -0.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e9,
        f64::MAX,
        3.0,
    ] {
        let declared = PhaseDeclaration {
            deadline_seconds: Setting::Value(seconds),
            ..plain()
        };
        let built = DispatchPhase::new(declared);
        check(&built, &broken_in_phase(&declared), || format!("{seconds}"));
    }
}

#[test]
fn phases_together_call_every_registration_exactly_once() {
    use PhaseSelector::{All, DeclaredAsync, DeclaredSync};
    let lists: [&[PhaseSelector]; 12] = [
        &[],
        &[All],
        &[DeclaredSync],
        &[DeclaredAsync],
        &[DeclaredSync, DeclaredAsync],
        &[DeclaredAsync, DeclaredSync],
        &[All, All],
        &[All, DeclaredSync],
        &[DeclaredAsync, All],
        &[DeclaredSync, DeclaredSync],
        &[DeclaredAsync, DeclaredAsync],
        &[DeclaredSync, DeclaredAsync, DeclaredSync],
    ];
    let plain = PhaseDeclaration {
        deadline_disposition: Setting::Undefined,
        deadline_seconds: Setting::Undefined,
        ..plain()
    };
    for selectors in lists {
        for concurrency in DispatchConcurrency::ALL {
            for entries in [[0, 0, 0], [1, 1, 1], [0, 1, 0], [2, 0, 2], [1, 2, 1]] {
                let phases: Result<Vec<_>, _> = selectors
                    .iter()
                    .zip(entries)
                    .map(|(&selector, entry)| {
                        DispatchPhase::new(PhaseDeclaration {
                            selector,
                            concurrency: *concurrency,
                            sync_entry: SyncEntryPolicy::ALL[entry],
                            ..plain
                        })
                    })
                    .collect();
                let Ok(phases) = phases else { continue };
                let covers = |declared| selectors.iter().filter(|s| s.selects(declared)).count();
                let times = [
                    covers(triplane_kernel::Declared::Sync),
                    covers(triplane_kernel::Declared::Async),
                ];
                let used = &entries[..selectors.len()];
                let mut broken = Vec::new();
                if times == [0, 0] {
                    broken.push("NoPhases");
                } else if times.contains(&0) && times.iter().all(|&t| t < 2) {
                    broken.push("IncompleteSelectors");
                }
                if times.iter().any(|&t| t > 1) {
                    broken.push("OverlappingSelectors");
                }
                if used.contains(&0) && used.iter().any(|&entry| entry != 0) {
                    broken.push("SyncEntryNeedsAllPhases");
                }
                let built = DispatchPolicy::new(phases);
                check(&built, &broken, || format!("{selectors:?} {entries:?}"));
                let Ok(policy) = built else { continue };
                let free = policy.without_start_order();
                let ordered = *concurrency == DispatchConcurrency::Sequential;
                let broken: &[_] = if ordered {
                    &["OrderNeedsSequential"]
                } else {
                    &[]
                };
                check(&free, broken, || format!("free start of {selectors:?}"));
            }
        }
    }
}

/// Replaces one text in a valid policy, and compares the refusal's place and rule.
fn check_read(from: &str, to: &str, wanted: &str) {
    let phase = DispatchPhase::new(plain()).unwrap();
    let text = serde_json::to_string(&DispatchPolicy::new([phase]).unwrap()).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    let got = match serde_json::from_str::<DispatchPolicy>(&text.replace(from, to)) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    };
    assert!(got.starts_with(wanted), "{got}");
}

#[test]
fn reading_goes_through_the_same_rules_and_names_the_place() {
    check_read("\"raise\"", "\"raise\"", "accepted");
    check_read(
        "\"log_only\"",
        "\"raise_group\"",
        "phases[0].invocation.error_surface: raise_group requires failure=collect",
    );
    check_read(
        "\"deadline_seconds\":1.0",
        "\"deadline_seconds\":-1.0",
        "phases[0].deadline_seconds: a deadline must be above zero",
    );
    check_read(
        "\"deadline_seconds\":1.0",
        "\"deadline_seconds\":null",
        "phases[0].deadline_seconds: null is no value of this field; leave it out",
    );
    check_read(
        "\"selector\":\"all\"",
        "\"selector\":\"ALL\"",
        "unknown variant `ALL`",
    );
    check_read(
        "\"selector\":\"all\"",
        "\"selector\":\"declared_sync\"",
        "phases: no phase selects the registrations of the other declaration",
    );
    check_read(
        "{\"phases\"",
        "{\"more\":1,\"phases\"",
        "unknown field `more`",
    );
    check_read(
        "\"selector\"",
        "\"more\":1,\"selector\"",
        "unknown field `more`",
    );
    check_read(
        "\"failure\"",
        "\"more\":1,\"failure\"",
        "unknown field `more`",
    );
    check_read(",\"preserve_registration_order\":true", "", "accepted");
    check_read(
        "\"sync_handlers\":\"inline\",",
        "",
        "missing field `sync_handlers`",
    );
}
