//! `triplane hook`: one question of a harness, one answer.
//!
//! Whatever goes wrong on the way, a blocking event is denied with the reason: a hook that crashes
//! or hangs lets the tool run. So everything happens inside one guarded call with one deadline, and
//! the process leaves by [`std::process::exit`], which waits for no thread that is stuck.

use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use triplane::state::Lifetime;
use triplane::state::commit::Repeat;
use triplane::{DeliveryMode, Enforcement, Finding, Runtime, RuntimeError, ToolCallDecision};
use triplane_external_hooks::{
    Harness, HarnessAnswer, HookEvent, Phase, Ruling, answer, answer_unreadable, identity,
    occurrence_key, print_config,
};
use uuid::Uuid;

use crate::agent_event::agent_event;
use crate::args::HookArgs;
use crate::guard_option::{self, Started};
use crate::render::{chain, complain};
use crate::sink_option::DESTINATION;
use crate::stdin::read_question;
use crate::workspace::Workspaces;
use crate::{redact_option, store_mode};

/// What is kept back of the time for the answer itself, when the work takes all the rest.
const RESERVE: Duration = Duration::from_millis(20);

pub(crate) fn run(args: &HookArgs) -> ExitCode {
    if let Some(harness) = args.print_config {
        return config(harness, args);
    }
    // The message of a panic would stand on standard error before the reason of the refusal.
    std::panic::set_hook(Box::new(|_| {}));
    let answer = catch_unwind(AssertUnwindSafe(|| answered(args))).unwrap_or_else(|_| refusal(
        "triplane failed on this event and refuses it; this is a fault of triplane, please report it.",
    ));
    say(&answer);
    std::process::exit(i32::from(answer.exit))
}

fn config(harness: Harness, args: &HookArgs) -> ExitCode {
    let printed = || -> Result<String> {
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let store = std::path::absolute(&args.store.store)?;
        let store = store
            .to_str()
            .context("the path of the store is not UTF-8")?;
        let arguments = ["hook", "--harness", harness.as_str(), "--store", store];
        Ok(print_config(harness, &program, &arguments)?)
    };
    match printed() {
        Ok(snippet) => {
            let written = io::stdout().write_all(snippet.as_bytes());
            if written.is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            complain(chain(&error));
            ExitCode::from(2)
        }
    }
}

fn answered(args: &HookArgs) -> HarnessAnswer {
    let deadline = Instant::now() + args.timeout;
    // Before the question, for which the program may have to wait.
    let guards = guard_option::started(args.guard.policy.as_deref());
    let question = match read_question(io::stdin(), deadline) {
        Ok(question) => question,
        Err(error) => return refusal(&format!("triplane refuses this event: {error}.")),
    };
    let event = match HookEvent::read(&question) {
        Ok(event) => event,
        Err(unreadable) => return answer_unreadable(args.harness, &unreadable),
    };
    drop(question);
    let ruling = guards.and_then(|guards| ruling(args, guards, event.clone(), deadline));
    let ruling = ruling.unwrap_or_else(|error| {
        Ruling::Deny(Finding::new(
            "triplane.unavailable",
            format!("triplane cannot judge this: {}", chain(&error)),
        ))
    });
    answer(args.harness, &event, &ruling)
}

/// The decision on a question, without the harness around it: the same one, by the same way.
pub(crate) fn rule(args: &HookArgs, question: &[u8]) -> Result<Ruling> {
    let event = HookEvent::read(question)?;
    let guards = guard_option::started(args.guard.policy.as_deref())?;
    ruling(args, guards, event, Instant::now() + args.timeout)
}

fn ruling(args: &HookArgs, guards: Started, event: HookEvent, deadline: Instant) -> Result<Ruling> {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let budget = deadline
        .saturating_duration_since(Instant::now())
        .saturating_sub(RESERVE);
    let work = decide(args, guards, event, budget);
    let decided = tokio.block_on(async { tokio::time::timeout(budget, work).await });
    // What is stuck stays behind; the process ends with the answer.
    tokio.shutdown_background();
    decided.unwrap_or_else(|_elapsed| bail!("no decision within {:?}", args.timeout))
}

async fn decide(
    args: &HookArgs,
    guards: Started,
    event: HookEvent,
    budget: Duration,
) -> Result<Ruling> {
    let builder = Runtime::durable(&args.store.store)
        .synchronous(args.store.synchronous.into())
        // So that a store that others hold is named as the cause, before the time is up.
        .busy_timeout(budget.saturating_sub(2 * RESERVE))
        .lifetime(Lifetime::Short)
        .destination(DESTINATION)
        .delivery(DeliveryMode::OnDemand);
    let mut builder = guards.attach(builder);
    if let Some(redaction) = redact_option::asked(&args.redact)? {
        builder = builder.redaction(redaction);
    }
    let enforcement = match event.phase() {
        Phase::Before if event.can_block(args.harness) => Enforcement::Enforced,
        Phase::Before | Phase::Notice => Enforcement::Advisory,
        Phase::After => Enforcement::AfterTheFact,
    };
    let mut identity = identity(&event, 1);
    if occurrence_key(&event).is_some() {
        // The harness gave it no id: each such event is one of its own.
        identity = format!("{identity}.{}", Uuid::now_v7().simple());
    }
    // Somebody waits for this answer: another answer to the same question is another fact.
    let repeat = Repeat::SameContentAndJudgement;
    let call = event.tool_call(Workspaces::new(args.guard.root.clone()).of(event.cwd()));
    let event = agent_event(event, identity, call, enforcement, repeat);
    store_mode::report(&args.store.store);
    let opened = builder.open().await;
    let runtime = opened.inspect_err(|error| note_uncaptured(&args.store.store, error))?;
    let decided = runtime.decide(event).await;
    // An open connection would leave its log behind for the next call to work through.
    let closed = runtime.store().close().await;
    let decided = decided?;
    closed?;
    Ok(match decided.judged.decision {
        ToolCallDecision::Allowed => Ruling::Allow,
        ToolCallDecision::Rewritten {
            arguments, reason, ..
        } => Ruling::Rewrite { arguments, reason },
        ToolCallDecision::Denied(finding) => Ruling::Deny(finding),
    })
}

/// The event will not be on record. That it is missing is noted, where the note can be kept.
fn note_uncaptured(store: &Path, error: &RuntimeError) {
    if let RuntimeError::State(error) = error {
        let _kept = triplane::state::note_uncaptured(store, 1, error);
    }
}

/// A refusal without an event: the form that every harness takes when there is no other.
fn refusal(reason: &str) -> HarnessAnswer {
    HarnessAnswer {
        stdout: String::new(),
        stderr: format!("{reason}\n"),
        exit: 2,
    }
}

fn say(answer: &HarnessAnswer) {
    // A host that does not listen still sees the exit code.
    let _unheard = io::stdout().write_all(answer.stdout.as_bytes());
    let _unheard = io::stdout().flush();
    let _unheard = io::stderr().write_all(answer.stderr.as_bytes());
}
