use std::time::Duration;

use super::*;
use crate::intercept::decision::Decision;
use crate::intercept::interceptor::intercept_fn;
use crate::intercept::stage::StageFailure;

fn stage(name: &str) -> StageDeclaration {
    StageDeclaration::new(StageName::new(name).unwrap(), StageFailure::Deny)
}

fn teardown(name: &str, budget: Option<Duration>) -> StageDeclaration {
    StageDeclaration {
        kind: StageKind::Teardown { budget },
        ..stage(name)
    }
}

fn registration(name: &str, stage: &str, order: i32) -> InterceptorRegistration<()> {
    InterceptorRegistration::new(
        RegistrationName::new(name).unwrap(),
        StageName::new(stage).unwrap(),
        order,
        intercept_fn(|(): &()| Ok(Decision::CONTINUE)),
    )
}

/// Builds a plan; `wanted` is the order of the names, or the start of the refusal.
fn check(stages: &[StageDeclaration], registrations: &[(&str, &str, i32)], wanted: &str) {
    let mut builder = PlanBuilder::new(StageOrder::new(stages.iter().cloned()));
    for (name, stage, order) in registrations {
        builder = builder.register(registration(name, stage, *order));
    }
    let got = match builder.build() {
        Ok(plan) => plan
            .entries()
            .map(|e| e.name.to_string())
            .collect::<Vec<_>>()
            .join(" "),
        Err(error) => error.to_string(),
    };
    assert_eq!(got, wanted);
}

#[test]
fn the_order_is_stage_then_place_then_composition() {
    let two = [stage("b"), stage("a")];
    check(&two, &[], "");
    check(
        &two,
        &[
            ("1", "a", 0),
            ("2", "b", 5),
            ("3", "b", -1),
            ("4", "a", 0),
            ("5", "b", 5),
        ],
        "3 2 5 1 4",
    );
}

#[test]
fn a_plan_that_breaks_a_rule_is_refused_by_name() {
    let second = Duration::from_secs(1);
    check(
        &[stage("a"), stage("a")],
        &[],
        "stage `a` is declared twice",
    );
    check(
        &[stage("a")],
        &[("x", "b", 0)],
        "`x` is registered in stage `b`, which the owner does not declare",
    );
    check(
        &[stage("a")],
        &[("x", "a", 0), ("x", "a", 1)],
        "`x` is registered twice",
    );
    check(
        &[stage("last").exclusive()],
        &[("x", "last", 0), ("y", "last", 1)],
        "`y` is registered in exclusive stage `last`, which `x` holds already",
    );
    check(
        &[teardown("t", None)],
        &[],
        "teardown stage `t` has no budget",
    );
    check(
        &[teardown("t", Some(Duration::ZERO))],
        &[],
        "teardown stage `t` has a budget of 0ns; it must be above zero and at most 3600s",
    );
    check(
        &[teardown("t", Some(second)), stage("a")],
        &[],
        "ordinary stage `a` comes after teardown stage `t`",
    );
}

#[test]
fn a_plan_says_what_each_stage_does() {
    let stages = [
        stage("guard"),
        teardown("release", Some(Duration::from_secs(2))),
    ];
    let plan = PlanBuilder::new(StageOrder::new(stages))
        .register(registration("lock", "release", 0))
        .build()
        .unwrap();
    assert_eq!(
        plan.to_string(),
        "guard: error or panic denies; cancellation ends the chain; no deadline of its own\n\
         release: error or panic denies; runs in every case; cancellation waits at most 2s, \
         then the stage is dropped\n  lock (0)\n"
    );
}

#[test]
fn the_digest_says_what_is_declared_and_nothing_of_the_handlers() {
    use crate::declare::{CallableRef, Digest};

    let digest = |order: i32, version: &str| {
        let reference = CallableRef::new("tests", "x", version, Digest::of(b"x")).unwrap();
        let plan = PlanBuilder::new(StageOrder::new([stage("a")]))
            .register(registration("x", "a", order).resolved_from(reference))
            .build()
            .unwrap();
        plan.snapshot().digest()
    };
    assert_eq!(digest(0, "1"), digest(0, "1"));
    assert_ne!(digest(0, "1"), digest(1, "1"));
    assert_ne!(digest(0, "1"), digest(0, "2"));
}
