//! Random policies and handlers on a paused clock, against a model that is written as a table of
//! events and shares nothing with the dispatcher.
//!
//! Every wait takes another even number of milliseconds, the emitter cancels at 1 modulo 4 and the
//! deadline falls at 3 modulo 4, so that no two things happen at one moment except at the start.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use triplane_kernel::declare::Setting;
use triplane_kernel::policy::*;
use triplane_kernel::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Value,
    Fails,
    Panics,
    Fatal,
    Cancels,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accepts {
    Always,
    Never,
    Fails,
}

#[derive(Debug, Clone, Copy)]
struct Behaviour {
    declared: Declared,
    accepts: Accepts,
    does: Does,
    /// Milliseconds before it answers; `None` answers in the call, 0 in the first poll.
    wait: Option<u64>,
    kind: AwaitableKind,
}

#[derive(Debug, Clone, Copy)]
struct Request {
    at: u64,
    standing: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Came {
    entries: Vec<(usize, String)>,
    result: String,
    elapsed: u64,
}

// ---------------------------------------------------------------- the model

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    None,
    Counts,
    Ends,
}

#[derive(Clone)]
enum End {
    Raise(&'static str, Vec<usize>),
    Cancelled(&'static str, Vec<usize>),
    Deadline(DeadlineDisposition),
}

impl End {
    fn not_run(&self) -> String {
        match self {
            Self::Raise(..) => "not run: failure".into(),
            Self::Cancelled(by, _) => format!("not run: cancelled by {by}"),
            Self::Deadline(_) => "not run: deadline".into(),
        }
    }
}

struct Book {
    policy: DispatchStagePolicy,
    gathered: bool,
    one_by_one: bool,
    members: Vec<usize>,
    translated: Vec<usize>,
    collected: Vec<(usize, &'static str)>,
    end: Option<End>,
}

impl Book {
    fn new(policy: DispatchStagePolicy, gathered: bool, one_by_one: bool) -> Self {
        Self {
            policy,
            gathered,
            one_by_one,
            members: vec![],
            translated: vec![],
            collected: vec![],
            end: None,
        }
    }

    fn isolates(&self) -> bool {
        self.policy.failure() == DispatchFailure::Isolate
    }

    fn exceptional(&mut self, i: usize, end: End, member: bool) -> Effect {
        match self.policy.handler_cancellation() {
            HandlerCancellation::Propagate => {
                self.end.get_or_insert(end);
                Effect::Ends
            }
            HandlerCancellation::Translate => {
                self.translated.push(i);
                Effect::Counts
            }
            HandlerCancellation::Collect => {
                if member && !self.isolates() {
                    self.members.push(i);
                }
                Effect::Counts
            }
        }
    }

    fn answer(&mut self, i: usize, does: Does) -> (&'static str, Effect) {
        match does {
            Does::Value => ("value", Effect::None),
            Does::Fails | Does::Panics if self.isolates() => ("failed", Effect::None),
            Does::Fails | Does::Panics => {
                self.members.push(i);
                ("failed", Effect::Counts)
            }
            Does::Fatal => (
                "fatal",
                self.exceptional(i, End::Raise("failed", vec![i]), true),
            ),
            Does::Cancels => {
                let end = End::Cancelled("handler", vec![i]);
                let member = !self.gathered;
                if self.policy.handler_cancellation() == HandlerCancellation::Collect {
                    self.collected.push((i, "handler"));
                }
                ("cancelled by handler", self.exceptional(i, end, member))
            }
        }
    }

    /// The emitter's request at a handler that runs alone.
    fn emitter_at(&mut self, i: usize) -> Effect {
        let collects = self.policy.handler_cancellation() == HandlerCancellation::Collect;
        if collects && self.one_by_one {
            self.collected.push((i, "emitter"));
            if !self.isolates() {
                self.members.push(i);
            }
            return Effect::Counts;
        }
        self.end.get_or_insert(End::Cancelled("emitter", vec![i]));
        Effect::Ends
    }

    fn finish(mut self, expired: Option<DeadlineDisposition>) -> Option<End> {
        if self.end.is_some() {
            return self.end;
        }
        let in_time = self.members.clone();
        self.members.sort_unstable();
        if let Some(&first) = self.translated.iter().min() {
            let causes = if self.members.is_empty() {
                vec![first]
            } else {
                self.members
            };
            return Some(End::Raise("handler cancelled", causes));
        }
        let surface = self.policy.error_surface();
        let raised = match (surface, self.members.len()) {
            (_, 0) | (ErrorSurface::ReturnReport | ErrorSurface::LogOnly, _) => None,
            (ErrorSurface::RaiseFirst, _)
                if self.policy.failure() == DispatchFailure::Propagate =>
            {
                Some(End::Raise("failed", vec![in_time[0]]))
            }
            (ErrorSurface::RaiseFirst, _) | (ErrorSurface::UnwrapSingleElseGroup, 1) => {
                Some(End::Raise("failed", vec![self.members[0]]))
            }
            _ => Some(End::Raise("group", self.members)),
        };
        let raised = raised.map(|end| match end {
            End::Raise("failed", who) => match self.collected.iter().find(|(i, _)| who == [*i]) {
                Some((_, by)) => End::Cancelled(by, who),
                None => End::Raise("failed", who),
            },
            end => end,
        });
        let emitter = self.collected.iter().find(|(_, by)| *by == "emitter");
        raised
            .or_else(|| emitter.map(|(i, by)| End::Cancelled(by, vec![*i])))
            .or_else(|| expired.map(End::Deadline))
    }
}

enum Form {
    Answers,
    Waits(u64),
    Gathered(u64),
    Unawaited,
    Rejected,
}

#[expect(deprecated, reason = "the model knows the deprecated disposition")]
fn form(phase: &PhaseDeclaration, b: &Behaviour) -> Form {
    use ReturnedAwaitableDisposition as D;
    let Some(wait) = b.wait else {
        return Form::Answers;
    };
    let by_declaration = phase.handler_classification == HandlerClassification::ByDeclaration;
    let disposition = if by_declaration && b.declared == Declared::Async {
        D::AwaitInInvocation
    } else {
        match (phase.returned_value_classifier, b.kind) {
            (ReturnedValueClassifier::NotInspected, _)
            | (ReturnedValueClassifier::AsyncioCoroutineOnly, AwaitableKind::Awaitable) => {
                return Form::Unawaited;
            }
            _ => phase.returned_awaitable,
        }
    };
    match disposition {
        D::AwaitInInvocation if wait == 0 => Form::Answers,
        D::AwaitInInvocation => Form::Waits(wait),
        D::GatherAfterInvocations => Form::Gathered(wait),
        D::DiscardUnawaited => Form::Unawaited,
        D::Reject => Form::Rejected,
    }
}

struct Model<'a> {
    behaviours: &'a [Behaviour],
    now: u64,
    request: Option<Request>,
    entries: BTreeMap<usize, String>,
}

impl Model<'_> {
    fn run(mut self, policy: &DispatchPolicy) -> Came {
        let mut end: Option<End> = None;
        for phase in policy.phases() {
            let phase = phase.declaration();
            let selected: Vec<usize> = (0..self.behaviours.len())
                .filter(|&i| phase.selector.selects(self.behaviours[i].declared))
                .collect();
            if let Some(end) = &end {
                for i in selected {
                    self.entries.insert(i, end.not_run());
                }
                continue;
            }
            end = match phase.concurrency {
                DispatchConcurrency::Sequential => self.one_by_one(&phase, &selected),
                DispatchConcurrency::Concurrent => self.together(&phase, &selected),
            };
        }
        let result = match end {
            Some(End::Deadline(DeadlineDisposition::Raise)) => "deadline []".to_owned(),
            None | Some(End::Deadline(_)) => "report".to_owned(),
            Some(End::Raise(kind, who)) => format!("{kind} {who:?}"),
            Some(End::Cancelled(by, who)) => format!("cancelled by {by} {who:?}"),
        };
        Came {
            entries: self.entries.into_iter().collect(),
            result,
            elapsed: self.now,
        }
    }

    fn deadline(&self, phase: &PhaseDeclaration) -> u64 {
        let seconds = phase.deadline_seconds.value();
        seconds.map_or(u64::MAX, |seconds| {
            let budget = Deadline::from_secs(seconds).unwrap().duration();
            self.now + u64::try_from(budget.as_millis()).unwrap()
        })
    }

    /// When a wait that begins now would meet the emitter's request.
    fn request_at(&self) -> u64 {
        self.request
            .map_or(u64::MAX, |request| request.at.max(self.now))
    }

    fn meet_request(&mut self) {
        self.request = self.request.filter(|request| request.standing);
    }

    /// Asks the predicate: whether to call, and what was booked instead.
    fn ask(&mut self, phase: &PhaseDeclaration, book: &mut Book, i: usize) -> (bool, Effect) {
        match (self.behaviours[i].accepts, phase.predicate_failure) {
            (Accepts::Always, _) => (true, Effect::None),
            (Accepts::Never, _) | (Accepts::Fails, PredicateFailure::NoMatch) => {
                (false, Effect::None)
            }
            (Accepts::Fails, PredicateFailure::Isolate) => {
                self.entries.insert(i, "predicate failed".into());
                (false, Effect::None)
            }
            (Accepts::Fails, PredicateFailure::Propagate) => {
                self.entries.insert(i, "predicate failed".into());
                book.end.get_or_insert(End::Raise("failed", vec![i]));
                (false, Effect::Ends)
            }
            (Accepts::Fails, PredicateFailure::CollectAsHandlerFailure) => {
                let (entry, effect) = book.answer(i, Does::Fails);
                self.entries.insert(i, entry.into());
                (false, effect)
            }
        }
    }

    fn one_by_one(&mut self, phase: &PhaseDeclaration, selected: &[usize]) -> Option<End> {
        let mut book = Book::new(phase.invocation, false, true);
        let deadline = self.deadline(phase);
        let mut gathered = vec![];
        let mut stopped: Option<String> = None;
        for &i in selected {
            if let Some(why) = &stopped {
                self.entries.insert(i, why.clone());
                continue;
            }
            let (calls, mut effect) = self.ask(phase, &mut book, i);
            if calls {
                let does = self.behaviours[i].does;
                let (entry, e) = match form(phase, &self.behaviours[i]) {
                    Form::Answers => book.answer(i, does),
                    Form::Unawaited => ("unawaited", Effect::None),
                    Form::Rejected => book.answer(i, Does::Fails),
                    Form::Gathered(wait) => {
                        gathered.push((i, wait));
                        ("unawaited", Effect::None)
                    }
                    Form::Waits(wait) => {
                        let ends = self.now + wait;
                        let cut = self.request_at();
                        if cut < ends && cut < deadline {
                            self.now = cut;
                            self.meet_request();
                            ("cancelled by emitter", book.emitter_at(i))
                        } else if deadline < ends {
                            self.now = deadline;
                            ("timed out", Effect::None)
                        } else {
                            self.now = ends;
                            book.answer(i, does)
                        }
                    }
                };
                self.entries.insert(i, entry.into());
                effect = e;
            }
            let stops = phase.invocation.completion() == CompletionTiming::StopOnFailure;
            if effect == Effect::Ends || (effect == Effect::Counts && stops) {
                stopped = Some(
                    book.end
                        .as_ref()
                        .map_or("not run: failure".into(), End::not_run),
                );
            } else if self.now >= deadline {
                stopped = Some("not run: deadline".into());
            }
        }
        let expired = (self.now >= deadline)
            .then(|| phase.deadline_disposition.value())
            .flatten();
        let end = book.finish(expired);
        let (None, Some(second)) = (&end, phase.returned_awaitables.value()) else {
            return end;
        };
        let mut book = Book::new(second, true, false);
        let mut worst = Effect::None;
        let mut pending = vec![];
        for (i, wait) in gathered {
            if wait == 0 {
                let (entry, effect) = book.answer(i, self.behaviours[i].does);
                self.entries.insert(i, entry.into());
                worst = worst.max(effect);
            } else {
                pending.push((self.now + wait, i));
            }
        }
        self.beside(phase, book, pending, worst, deadline)
    }

    fn together(&mut self, phase: &PhaseDeclaration, selected: &[usize]) -> Option<End> {
        let mut book = Book::new(phase.invocation, false, false);
        let deadline = self.deadline(phase);
        let mut worst = Effect::None;
        let mut matched = vec![];
        for (place, &i) in selected.iter().enumerate() {
            let (calls, effect) = self.ask(phase, &mut book, i);
            worst = worst.max(effect);
            if calls {
                matched.push(i);
            }
            if effect == Effect::Ends {
                for &other in matched.iter().chain(&selected[place + 1..]) {
                    self.entries.insert(other, "not run: failure".into());
                }
                return book.finish(None);
            }
        }
        let mut pending = vec![];
        for i in matched {
            let does = self.behaviours[i].does;
            let (entry, effect) = match form(phase, &self.behaviours[i]) {
                Form::Answers => book.answer(i, does),
                Form::Unawaited => ("unawaited", Effect::None),
                Form::Rejected => book.answer(i, Does::Fails),
                Form::Waits(wait) | Form::Gathered(wait) => {
                    pending.push((self.now + wait, i));
                    continue;
                }
            };
            self.entries.insert(i, entry.into());
            worst = worst.max(effect);
        }
        self.beside(phase, book, pending, worst, deadline)
    }

    fn beside(
        &mut self,
        phase: &PhaseDeclaration,
        mut book: Book,
        mut pending: Vec<(u64, usize)>,
        mut worst: Effect,
        deadline: u64,
    ) -> Option<End> {
        let timing = book.policy.completion();
        let mut expired = None;
        pending.sort_unstable();
        loop {
            let cancels = timing == CompletionTiming::CancelRemainingOnFailure;
            let all = |model: &mut Self, pending: &mut Vec<(u64, usize)>, entry: &str| {
                for (_, i) in pending.drain(..) {
                    model.entries.insert(i, entry.into());
                }
            };
            if worst == Effect::Ends || (worst == Effect::Counts && cancels) {
                all(self, &mut pending, "cancelled by sibling");
            }
            let Some(&(ends, i)) = pending.first() else {
                break;
            };
            let cut = self.request_at();
            if cut < ends && cut < deadline {
                self.now = cut;
                book.end = Some(End::Cancelled("emitter", vec![]));
                all(self, &mut pending, "cancelled by emitter");
            } else if deadline < ends {
                self.now = deadline;
                expired = phase.deadline_disposition.value();
                let detaches = timing == CompletionTiming::DetachBounded;
                all(
                    self,
                    &mut pending,
                    if detaches { "detached" } else { "timed out" },
                );
            } else {
                self.now = ends;
                pending.remove(0);
                let (entry, effect) = book.answer(i, self.behaviours[i].does);
                self.entries.insert(i, entry.into());
                worst = worst.max(effect);
            }
        }
        book.finish(expired)
    }
}

// ---------------------------------------------------------------- the dispatcher

struct Signal;

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        std::iter::empty()
    }
}

fn answer(does: Does) -> Result<u8, HandlerFailure> {
    match does {
        Does::Value => Ok(1),
        Does::Fails => Err(HandlerFailure::failed("fails")),
        Does::Panics => std::panic::resume_unwind(Box::new("panics")),
        Does::Fatal => Err(HandlerFailure::fatal("fatal")),
        Does::Cancels => Err(HandlerFailure::Cancelled(CancelCause::Handler)),
    }
}

impl Handler<Signal, u8> for Behaviour {
    fn call<'a>(&'a self, _: &'a Signal, _: &'a Scope) -> Called<'a, Result<u8, HandlerFailure>> {
        let Some(wait) = self.wait else {
            return Called::Now(answer(self.does));
        };
        let future = Box::pin(async move {
            if wait > 0 {
                tokio::time::sleep(Duration::from_millis(wait)).await;
            }
            answer(self.does)
        });
        Called::Later {
            kind: self.kind,
            future,
        }
    }
}

/// Makes the call at once, on this thread: the paused clock stands still while others run.
#[derive(Debug)]
struct AtOnce;

impl Offload for AtOnce {
    fn submit(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}

async fn dispatched(
    policy: &DispatchPolicy,
    behaviours: &[Behaviour],
    request: Option<Request>,
) -> Came {
    let dispatcher =
        FanoutDispatcher::<Signal, u8>::new(policy.clone()).with_offload(Arc::new(AtOnce));
    let mut places = BTreeMap::new();
    for (i, behaviour) in behaviours.iter().enumerate() {
        let name = RegistrationName::new(i.to_string()).unwrap();
        let registration = Registration::new(name, behaviour.declared, *behaviour);
        let registration = match behaviour.accepts {
            Accepts::Always => registration,
            Accepts::Never => registration.when(|_| false),
            Accepts::Fails => registration.when_fallible(|_| Err(HandlerFailure::failed("asked"))),
        };
        places.insert(dispatcher.register(registration), i);
    }
    let scope = Scope::new();
    let requests = tokio::spawn({
        let scope = scope.clone();
        async move {
            let Some(request) = request else { return };
            tokio::time::sleep(Duration::from_millis(request.at)).await;
            if request.standing {
                scope.cancel(CancelCause::Emitter);
            } else {
                scope.cancel_once(CancelCause::Emitter);
            }
        }
    });
    let began = tokio::time::Instant::now();
    let came = dispatcher.emit(&Arc::new(Signal), &scope).await;
    let elapsed = u64::try_from(began.elapsed().as_millis()).unwrap();
    requests.abort();
    let (entries, result) = match &came {
        Ok(report) => (entries(report, &places), "report".to_owned()),
        Err(error) => {
            let report = error.report().unwrap();
            let raised: Vec<_> = report.raised().map(|e| places[&e.id]).collect();
            let kind = match error {
                DispatchError::Failed { .. } => "failed",
                DispatchError::Group { .. } => "group",
                DispatchError::Cancelled {
                    cause: CancelCause::Emitter,
                    ..
                } => "cancelled by emitter",
                DispatchError::Cancelled { .. } => "cancelled by handler",
                DispatchError::HandlerCancelled { .. } => "handler cancelled",
                DispatchError::DeadlineExceeded { .. } => "deadline",
                other => panic!("{other}"),
            };
            (entries(report, &places), format!("{kind} {raised:?}"))
        }
    };
    Came {
        entries,
        result,
        elapsed,
    }
}

fn entries<T>(
    report: &DispatchReport<T>,
    places: &BTreeMap<RegistrationId, usize>,
) -> Vec<(usize, String)> {
    let all = report
        .entries()
        .map(|e| (places[&e.id], entry(e.outcome).to_owned()));
    all.collect()
}

fn entry<T>(outcome: HandlerOutcome<&T, &HandlerFailure>) -> &'static str {
    match outcome {
        HandlerOutcome::Value(_) => "value",
        HandlerOutcome::Failed(HandlerFailure::Fatal(_)) => "fatal",
        HandlerOutcome::Failed(_) => "failed",
        HandlerOutcome::PredicateFailed(_) => "predicate failed",
        HandlerOutcome::Cancelled(CancelCause::Emitter) => "cancelled by emitter",
        HandlerOutcome::Cancelled(_) => "cancelled by handler",
        HandlerOutcome::CancelledBySibling => "cancelled by sibling",
        HandlerOutcome::TimedOut => "timed out",
        HandlerOutcome::Detached => "detached",
        HandlerOutcome::Unawaited => "unawaited",
        HandlerOutcome::NotRun(NotRun::StoppedByFailure) => "not run: failure",
        HandlerOutcome::NotRun(NotRun::Cancelled(CancelCause::Emitter)) => {
            "not run: cancelled by emitter"
        }
        HandlerOutcome::NotRun(NotRun::Cancelled(_)) => "not run: cancelled by handler",
        HandlerOutcome::NotRun(NotRun::DeadlineExpired) => "not run: deadline",
        _ => "something else",
    }
}

// ---------------------------------------------------------------- what is drawn

fn any_stage(
    completions: &'static [CompletionTiming],
) -> impl Strategy<Value = DispatchStagePolicy> {
    let mut valid = vec![];
    for &failure in DispatchFailure::ALL {
        for &completion in completions {
            for &surface in ErrorSurface::ALL {
                for &cancellation in HandlerCancellation::ALL {
                    valid.extend(DispatchStagePolicy::new(
                        failure,
                        completion,
                        surface,
                        cancellation,
                    ));
                }
            }
        }
    }
    prop::sample::select(valid)
}

const ONE_BY_ONE: &[CompletionTiming] =
    &[CompletionTiming::AwaitAll, CompletionTiming::StopOnFailure];
const TOGETHER: &[CompletionTiming] = &[
    CompletionTiming::AwaitAll,
    CompletionTiming::CancelRemainingOnFailure,
    CompletionTiming::DetachBounded,
];

fn any_phase(selector: PhaseSelector) -> impl Strategy<Value = DispatchPhase> {
    let any = |values: &'static [bool]| prop::sample::select(values);
    (
        (
            any(&[false, true]),
            any(&[false, true]),
            any(&[false, true]),
            any(&[false, true]),
        ),
        prop::sample::select(PredicateFailure::ALL),
        prop::sample::select(ReturnedValueClassifier::ALL),
        prop::sample::select(ReturnedAwaitableDisposition::ALL),
        prop::sample::select(DeadlineDisposition::ALL),
        prop::option::of(0_u32..250),
        (
            any_stage(ONE_BY_ONE),
            any_stage(TOGETHER),
            any_stage(TOGETHER),
        ),
    )
        .prop_filter_map("a phase that a rule refuses", move |drawn| {
            let (
                (together, by_value, offloads, gathers),
                predicate,
                classifier,
                disposition,
                at_deadline,
                deadline,
                stages,
            ) = drawn;
            let by_value = by_value && selector == PhaseSelector::All;
            let gathers = gathers && by_value && !together;
            let gather = ReturnedAwaitableDisposition::GatherAfterInvocations;
            let deadline = deadline.map(|n| f64::from(n * 4 + 3) / 1000.0);
            DispatchPhase::new(PhaseDeclaration {
                selector,
                concurrency: if together {
                    DispatchConcurrency::Concurrent
                } else {
                    DispatchConcurrency::Sequential
                },
                sync_handlers: if offloads && !by_value {
                    SyncHandlerMode::Offload
                } else {
                    SyncHandlerMode::Inline
                },
                handler_classification: if by_value {
                    HandlerClassification::ByReturnValue
                } else {
                    HandlerClassification::ByDeclaration
                },
                returned_value_classifier: classifier,
                returned_awaitable: if gathers { gather } else { disposition },
                sync_entry: SyncEntryPolicy::Unavailable,
                predicate_failure: predicate,
                invocation: if together { stages.1 } else { stages.0 },
                returned_awaitables: gathers.then_some(stages.2).into(),
                deadline_disposition: deadline.map(|_| at_deadline).into(),
                deadline_seconds: Setting::from(deadline),
            })
            .ok()
        })
}

fn any_policy() -> impl Strategy<Value = DispatchPolicy> {
    let one = any_phase(PhaseSelector::All).prop_map(|phase| DispatchPolicy::new([phase]).unwrap());
    let two = (
        any_phase(PhaseSelector::DeclaredSync),
        any_phase(PhaseSelector::DeclaredAsync),
        any::<bool>(),
    )
        .prop_map(|(sync, later, turned)| {
            let phases = if turned { [later, sync] } else { [sync, later] };
            DispatchPolicy::new(phases).unwrap()
        });
    prop_oneof![3 => one, 1 => two]
}

fn any_behaviours() -> impl Strategy<Value = Vec<Behaviour>> {
    let does = prop_oneof![
        6 => Just(Does::Value), 3 => Just(Does::Fails), 1 => Just(Does::Panics),
        1 => Just(Does::Fatal), 1 => Just(Does::Cancels)
    ];
    let accepts = prop_oneof![
        8 => Just(Accepts::Always), 1 => Just(Accepts::Never), 1 => Just(Accepts::Fails)
    ];
    let one = (
        any::<bool>(),
        accepts,
        does,
        prop::option::weighted(0.7, 0_u64..5),
        any::<bool>(),
    );
    prop::collection::vec(one, 0..7).prop_map(|drawn| {
        let each = drawn
            .into_iter()
            .enumerate()
            .map(|(i, (later, accepts, does, wait, plain))| Behaviour {
                declared: if later {
                    Declared::Async
                } else {
                    Declared::Sync
                },
                accepts,
                does,
                wait: wait.map(|n| if n == 0 { 0 } else { n * 100 + 2 * i as u64 }),
                kind: if plain {
                    AwaitableKind::Coroutine
                } else {
                    AwaitableKind::Awaitable
                },
            });
        each.collect()
    })
}

fn any_request() -> impl Strategy<Value = Option<Request>> {
    let request = (0_u64..150, any::<bool>()).prop_map(|(n, standing)| Request {
        at: n * 4 + 1,
        standing,
    });
    prop::option::weighted(0.4, request)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_emission_comes_to_what_the_model_says(
        policy in any_policy(),
        behaviours in any_behaviours(),
        request in any_request(),
    ) {
        let model = Model { behaviours: &behaviours, now: 0, request, entries: BTreeMap::new() };
        let wanted = model.run(&policy);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let got = runtime.block_on(dispatched(&policy, &behaviours, request));
        prop_assert_eq!(got, wanted);
    }
}
