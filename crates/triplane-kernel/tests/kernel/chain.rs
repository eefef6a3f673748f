//! What a chain does with every kind of answer, at every kind of stage.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use triplane_kernel::{
    CancelCause, ChainVerdict, Decision, EntryState, HandlerFailure, Interceptor, InterceptorChain,
    InterceptorRegistration, PlanBuilder, RegistrationName, Scope, StageDeclaration, StageFailure,
    StageName, StageOrder, Step,
};

/// What one interceptor of a test does.
#[derive(Clone, Copy)]
enum Does {
    Continue,
    Replace(&'static str),
    Stop,
    StopWith(&'static str),
    Deny,
    Fail,
    Panic,
    PanicLater,
    Fatal,
    Cancel,
    WaitThen(u64, &'static Does),
    /// Waits on its scope and answers with what it saw.
    Cooperate,
}

impl Interceptor<String> for Does {
    fn intercept<'a>(
        &'a self,
        cx: &'a String,
        scope: &'a Scope,
    ) -> Step<'a, Result<Decision<String>, HandlerFailure>> {
        let replaced = |text: &str| Box::new(format!("{cx}{text}"));
        Step::Ready(match *self {
            Self::Continue => Ok(Decision::CONTINUE),
            Self::Replace(text) => Ok(Decision::Continue(Some(replaced(text)))),
            Self::Stop => Ok(Decision::Stop(None)),
            Self::StopWith(text) => Ok(Decision::Stop(Some(replaced(text)))),
            Self::Deny => Ok(Decision::deny("no")),
            Self::Fail => Err(HandlerFailure::failed("broken")),
            Self::Panic => panic!("boom"),
            Self::PanicLater => return Step::later(async { panic!("late boom") }),
            Self::Fatal => Err(HandlerFailure::fatal("abort")),
            Self::Cancel => Err(HandlerFailure::Cancelled(CancelCause::Handler)),
            Self::WaitThen(ms, then) => {
                return Step::later(async move {
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                    then.intercept(cx, scope).resolve().await
                });
            }
            Self::Cooperate => {
                return Step::later(async move {
                    let cause = scope.cancelled().await;
                    Ok(Decision::deny(format!("saw {cause:?}")))
                });
            }
        })
    }
}

fn order() -> StageOrder {
    let named =
        |name: &str, on_failure| StageDeclaration::new(StageName::new(name).unwrap(), on_failure);
    StageOrder::new([
        named("closed", StageFailure::Deny),
        named("open", StageFailure::Isolate),
        named("strict", StageFailure::Propagate),
        StageDeclaration::teardown(
            StageName::new("teardown").unwrap(),
            StageFailure::Isolate,
            Duration::from_millis(100),
        ),
    ])
}

/// A chain of registrations that are named `1`, `2` and so on, in the stages given.
fn chain(asked: &[(&str, Does)]) -> InterceptorChain<String> {
    let mut builder = PlanBuilder::new(order());
    for (index, (stage, does)) in asked.iter().enumerate() {
        let registration = InterceptorRegistration::new(
            RegistrationName::new((index + 1).to_string()).unwrap(),
            StageName::new(stage).unwrap(),
            0,
            Arc::new(*does),
        );
        builder = builder.register(match does {
            Does::Cooperate => registration.cooperative(),
            _ => registration,
        });
    }
    InterceptorChain::new(builder.build().unwrap())
}

fn state(state: EntryState<'_>) -> String {
    match state {
        EntryState::Continued => "continued".into(),
        EntryState::Replaced => "replaced".into(),
        EntryState::Stopped { replaced } => format!("stopped{}", if replaced { "+" } else { "" }),
        EntryState::Denied(denial) => format!("denied({denial})"),
        EntryState::Failed { failure, mapped } => format!("{}({failure})", mapped.as_str()),
        EntryState::Dropped => "dropped".into(),
        EntryState::NotRun(ending) => format!("not run({ending:?})"),
    }
}

fn show(report: &triplane_kernel::InterceptorReport<'_, String>) -> String {
    let context = report.context();
    let outcome = match report.verdict() {
        ChainVerdict::Proceed => format!("proceed {context}"),
        ChainVerdict::Denied { denial, by } => format!("denied {context} by {by}: {denial}"),
        ChainVerdict::Failed { failure, by } => format!("failed {context} by {by}: {failure}"),
    };
    let entries: Vec<_> = report.entries().map(|entry| state(entry.state)).collect();
    let teardown = match (report.teardown().shielded, report.teardown().budget_ran_out) {
        (false, _) => "",
        (true, false) => " | shielded",
        (true, true) => " | shielded, budget ran out",
    };
    format!("{outcome} | {}{teardown}", entries.join(", "))
}

/// Applies without waiting and with waiting, which must come to the same.
fn check(asked: &[(&str, Does)], wanted: &str) {
    let chain = chain(asked);
    let sync = show(&chain.apply_sync("x".into(), &Scope::new()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let awaited = show(&runtime.block_on(chain.apply("x".into(), &Scope::new())));
    assert_eq!(awaited, wanted);
    assert_eq!(sync, wanted);
}

/// Applies on a paused clock and cancels after 10 ms.
async fn check_cancelled(asked: &[(&str, Does)], wanted: &str) {
    for standing in [false, true] {
        let scope = Scope::new();
        let chain = chain(asked);
        let (report, ()) = tokio::join!(chain.apply("x".into(), &scope), async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            if standing {
                scope.cancel(CancelCause::Emitter);
            } else {
                scope.cancel_once(CancelCause::Emitter);
            }
        });
        assert_eq!(show(&report), wanted, "standing: {standing}");
    }
}

use Does::{
    Cancel, Continue, Cooperate, Deny, Fail, Fatal, Panic, PanicLater, Replace, Stop, StopWith,
    WaitThen,
};

#[test]
fn decisions_end_or_continue_the_chain() {
    check(&[], "proceed x | ");
    check(
        &[("closed", Continue), ("open", Continue)],
        "proceed x | continued, continued",
    );
    check(
        &[
            ("closed", Replace("a")),
            ("closed", Replace("b")),
            ("open", Continue),
        ],
        "proceed xab | replaced, replaced, continued",
    );
    check(
        &[("closed", Stop), ("open", Deny)],
        "proceed x | stopped, not run(Stopped)",
    );
    check(
        &[("closed", StopWith("a")), ("open", Deny)],
        "proceed xa | stopped+, not run(Stopped)",
    );
    check(
        &[("closed", Replace("a")), ("closed", Deny), ("open", Fatal)],
        "denied xa by 2: no | replaced, denied(no), not run(Denied)",
    );
}

#[test]
fn a_failure_is_what_its_stage_makes_of_it() {
    for (does, text) in [(Fail, "broken"), (Panic, "panicked: boom")] {
        check(
            &[("closed", does), ("closed", Continue)],
            &format!("denied x by 1: `1` could not judge: {text} | deny({text}), not run(Denied)"),
        );
        check(
            &[("open", does), ("open", Replace("a"))],
            &format!("proceed xa | isolate({text}), replaced"),
        );
        check(
            &[("strict", does), ("strict", Continue)],
            &format!("failed x by 1: {text} | propagate({text}), not run(Failed)"),
        );
    }
}

#[test]
fn a_fatal_failure_and_a_cancellation_end_the_chain_at_every_stage() {
    for stage in ["closed", "open", "strict"] {
        check(
            &[(stage, Fatal), ("strict", Continue)],
            "failed x by 1: fatal: abort | propagate(fatal: abort), not run(Failed)",
        );
        check(
            &[(stage, Cancel), ("strict", Continue)],
            "failed x by 1: cancelled by the handler itself | \
             propagate(cancelled by the handler itself), not run(Cancelled(Handler))",
        );
    }
}

#[test]
fn teardown_runs_whatever_came_before() {
    let after = "replaced, isolate(broken), denied(no), continued";
    let teardown = [
        ("teardown", Replace("t")),
        ("teardown", Fail),
        ("teardown", Deny),
        ("teardown", Continue),
    ];
    let with = |first| {
        let mut all = vec![("strict", first)];
        all.extend(teardown);
        all
    };
    check(
        &with(Continue),
        &format!("denied xt by 4: no | continued, {after}"),
    );
    check(
        &with(Stop),
        &format!("denied xt by 4: no | stopped, {after}"),
    );
    check(
        &with(Deny),
        &format!("denied xt by 1: no | denied(no), {after}"),
    );
    check(
        &with(Fail),
        &format!("failed xt by 1: broken | propagate(broken), {after}"),
    );
    check(
        &[("teardown", Stop), ("teardown", Deny)],
        "proceed x | stopped, not run(Stopped)",
    );
}

#[tokio::test]
async fn a_future_that_panics_is_a_failure_of_its_interceptor() {
    let chain = chain(&[("open", PanicLater), ("open", Continue)]);
    let report = chain.apply("x".into(), &Scope::new()).await;
    assert_eq!(
        show(&report),
        "proceed x | isolate(panicked: late boom), continued"
    );
}

#[test]
fn an_interceptor_that_answers_later_fails_a_sync_entry_at_every_stage() {
    let chain = chain(&[("open", WaitThen(1, &Continue))]);
    let report = chain.apply_sync("x".into(), &Scope::new());
    assert!(show(&report).starts_with("failed x by 1: fatal: the interceptor answers later"));
}

#[tokio::test(start_paused = true)]
async fn a_request_to_cancel_drops_the_interceptor_that_waits() {
    check_cancelled(
        &[("open", WaitThen(20, &Deny)), ("open", Deny)],
        "failed x by 1: cancelled by the emitter | propagate(cancelled by the emitter), \
         not run(Cancelled(Emitter))",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cooperative_interceptor_meets_the_request_itself() {
    check_cancelled(
        &[("closed", Cooperate), ("open", Continue)],
        "denied x by 1: saw Emitter | denied(saw Emitter), not run(Denied)",
    )
    .await;
}

#[tokio::test]
async fn a_standing_request_ends_a_chain_before_it_begins() {
    let scope = Scope::new();
    scope.cancel(CancelCause::Emitter);
    let chain = chain(&[("open", Continue), ("teardown", Replace("t"))]);
    let wanted = "failed xt by 1: cancelled by the emitter | not run(Cancelled(Emitter)), replaced \
                  | shielded";
    assert_eq!(show(&chain.apply("x".into(), &scope).await), wanted);
    assert_eq!(show(&chain.apply_sync("x".into(), &scope)), wanted);
}

#[tokio::test(start_paused = true)]
async fn a_teardown_stage_is_shielded_and_the_cancellation_is_raised_after_it() {
    check_cancelled(
        &[
            ("open", Continue),
            ("teardown", WaitThen(50, &Replace("t"))),
            ("teardown", Continue),
        ],
        "failed xt by 2: cancelled by the emitter | continued, replaced, continued | shielded",
    )
    .await;
    check_cancelled(
        &[
            ("open", WaitThen(20, &Continue)),
            ("teardown", WaitThen(99, &Replace("t"))),
        ],
        "failed xt by 1: cancelled by the emitter | propagate(cancelled by the emitter), replaced \
         | shielded",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_teardown_stage_is_shielded_no_longer_than_its_budget() {
    check_cancelled(
        &[
            ("teardown", WaitThen(60, &Continue)),
            ("teardown", WaitThen(60, &Replace("t"))),
            ("teardown", Deny),
        ],
        "failed x by 1: cancelled by the emitter | continued, dropped, not run(BudgetRanOut) | \
         shielded, budget ran out",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_teardown_stage_without_a_cancellation_takes_its_time() {
    let chain = chain(&[("teardown", WaitThen(5000, &Replace("t")))]);
    let report = chain.apply("x".into(), &Scope::new()).await;
    assert_eq!(show(&report), "proceed xt | replaced");
}

#[tokio::test(start_paused = true)]
async fn a_held_cancellation_wins_over_a_denial_that_stays_in_the_report() {
    check_cancelled(
        &[("closed", Deny), ("teardown", WaitThen(50, &Continue))],
        "failed x by 2: cancelled by the emitter | denied(no), continued | shielded",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn dropping_the_future_drops_what_waits_and_asks_nobody_further() {
    struct Guard(Arc<AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    struct Holds(Arc<AtomicBool>);
    impl Interceptor<String> for Holds {
        fn intercept<'a>(
            &'a self,
            _: &'a String,
            _: &'a Scope,
        ) -> Step<'a, Result<Decision<String>, HandlerFailure>> {
            let guard = Guard(Arc::clone(&self.0));
            Step::later(async move {
                std::future::pending::<()>().await;
                drop(guard);
                Ok(Decision::CONTINUE)
            })
        }
    }
    let dropped = Arc::new(AtomicBool::new(false));
    let stage = StageName::new("open").unwrap();
    let plan = PlanBuilder::new(order())
        .register(InterceptorRegistration::new(
            RegistrationName::new("holds").unwrap(),
            stage,
            0,
            Arc::new(Holds(Arc::clone(&dropped))),
        ))
        .build()
        .unwrap();
    let chain = InterceptorChain::new(plan);
    let scope = Scope::new();
    let applied = tokio::time::timeout(Duration::from_millis(5), chain.apply("x".into(), &scope));
    assert!(applied.await.is_err());
    assert!(dropped.load(Ordering::SeqCst));
}

#[test]
fn a_chain_can_run_on_any_thread() {
    fn sendable<F: Future + Send>(_: F) {}
    sendable(chain(&[]).apply("x".into(), &Scope::new()));
}
