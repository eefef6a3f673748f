//! The book of one stage while its handlers answer: what each answer means under the stage's policy,
//! and what the stage comes to.

use crate::cancel::CancelCause;
use crate::dispatch::call::{Answer, Ended};
use crate::dispatch::outcome::{HandlerOutcome, NotRun};
use crate::dispatch::work::Stop;
use crate::failure::HandlerFailure;
use crate::name::RegistrationName;
use crate::policy::{
    CompletionTiming, DeadlineDisposition, DispatchConcurrency, DispatchFailure,
    DispatchStagePolicy, ErrorSurface, HandlerCancellation, PredicateFailure,
};

/// What the runner of a stage does after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[must_use]
pub(crate) enum Effect {
    /// Nothing.
    GoOn,
    /// Completes a stage that completes at the first failure.
    Failure,
    /// Ends the emission; [`Stage::surface`] says how.
    End,
}

/// How an emission ends before its last phase, or with an error. Places are indices of the roster.
#[derive(Debug)]
pub(crate) enum Ending {
    Failed(usize),
    Group(Vec<usize>),
    Cancelled {
        cause: CancelCause,
        by: Option<usize>,
    },
    HandlerCancelled(Vec<usize>),
    Deadline(DeadlineDisposition),
}

impl Ending {
    /// What the ending means for handlers that were not called.
    pub(crate) fn not_run(&self) -> NotRun {
        match self {
            Self::Failed(_) | Self::Group(_) | Self::HandlerCancelled(_) => {
                NotRun::StoppedByFailure
            }
            Self::Cancelled { cause, .. } => NotRun::Cancelled(*cause),
            Self::Deadline(_) => NotRun::DeadlineExpired,
        }
    }
}

/// Which of the two sets of handlers a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    Calls(DispatchConcurrency),
    ReturnedAwaitables,
}

pub(crate) struct Stage {
    policy: DispatchStagePolicy,
    set: Set,
    /// What the error surface raises, in the order in which it happened.
    members: Vec<usize>,
    /// Cancellations and fatal failures that are to be translated.
    translated: Vec<usize>,
    /// Cancellations that are collected beside failures, the emitter's among them.
    collected: Vec<(usize, CancelCause)>,
    ended: Option<Ending>,
}

impl Stage {
    pub(crate) fn new(policy: DispatchStagePolicy, set: Set) -> Self {
        Self {
            policy,
            set,
            members: Vec::new(),
            translated: Vec::new(),
            collected: Vec::new(),
            ended: None,
        }
    }

    pub(crate) fn completion(&self) -> CompletionTiming {
        self.policy.completion()
    }

    /// Why the handlers that still run are stopped after this effect, if they are.
    pub(crate) fn stops(&self, effect: Effect) -> Option<Stop> {
        match effect {
            Effect::GoOn => None,
            Effect::Failure => {
                let cancels = CompletionTiming::CancelRemainingOnFailure;
                (self.completion() == cancels).then_some(Stop::Sibling)
            }
            Effect::End => match self.ended {
                Some(Ending::Cancelled {
                    cause: CancelCause::Emitter,
                    ..
                }) => Some(Stop::Cancelled(CancelCause::Emitter)),
                _ => Some(Stop::Sibling),
            },
        }
    }

    /// The ending, if an answer has ended the emission already.
    pub(crate) fn ended(&self) -> Option<&Ending> {
        self.ended.as_ref()
    }

    /// Takes what the handler at `at` came to. `asked` is what it had been asked to stop for.
    pub(crate) fn take<T>(
        &mut self,
        name: &RegistrationName,
        at: usize,
        ended: Ended<T>,
        asked: Option<Stop>,
    ) -> (HandlerOutcome<T>, Effect) {
        let answer = match ended {
            Ended::Answered(answer) => answer,
            Ended::Unawaited => {
                tracing::warn!(registration = %name,
                    "a returned awaitable is dropped unawaited by the policy");
                return (HandlerOutcome::Unawaited, Effect::GoOn);
            }
        };
        match (answer, asked) {
            (Ok(value), _) => (HandlerOutcome::Value(value), Effect::GoOn),
            (Err(HandlerFailure::Cancelled(_)), Some(stop)) => (stop.outcome(), Effect::GoOn),
            (Err(HandlerFailure::Cancelled(cause)), None) => {
                (HandlerOutcome::Cancelled(cause), self.cancelled(at, cause))
            }
            (Err(failure @ HandlerFailure::Fatal(_)), _) => {
                let effect = self.fatal(at);
                (HandlerOutcome::Failed(failure), effect)
            }
            (Err(failure @ HandlerFailure::Failed(_)), _) => {
                let effect = self.failed(name, at, &failure);
                (HandlerOutcome::Failed(failure), effect)
            }
        }
    }

    /// Takes the failure of a predicate; `None` means that the registration does not match.
    pub(crate) fn take_predicate<T>(
        &mut self,
        name: &RegistrationName,
        at: usize,
        failure: HandlerFailure,
        policy: PredicateFailure,
    ) -> Option<(HandlerOutcome<T>, Effect)> {
        match (&failure, policy) {
            (HandlerFailure::Failed(_), PredicateFailure::NoMatch) => {
                log_failure(
                    name,
                    &failure,
                    "a predicate failed; its registration does not match",
                );
                None
            }
            (HandlerFailure::Failed(_), PredicateFailure::Isolate) => {
                log_failure(
                    name,
                    &failure,
                    "a predicate failed; its handler is not called",
                );
                Some((HandlerOutcome::PredicateFailed(failure), Effect::GoOn))
            }
            (HandlerFailure::Failed(_), PredicateFailure::Propagate) => {
                self.end(Ending::Failed(at));
                Some((HandlerOutcome::PredicateFailed(failure), Effect::End))
            }
            (HandlerFailure::Failed(_), PredicateFailure::CollectAsHandlerFailure)
            | (HandlerFailure::Cancelled(_) | HandlerFailure::Fatal(_), _) => {
                let answer: Answer<T> = Err(failure);
                Some(self.take(name, at, Ended::Answered(answer), None))
            }
        }
    }

    fn failed(&mut self, name: &RegistrationName, at: usize, failure: &HandlerFailure) -> Effect {
        match self.policy.failure() {
            DispatchFailure::Isolate => {
                if self.policy.error_surface() == ErrorSurface::LogOnly {
                    log_failure(name, failure, "a handler failed");
                }
                Effect::GoOn
            }
            DispatchFailure::Propagate | DispatchFailure::Collect => {
                self.members.push(at);
                Effect::Failure
            }
        }
    }

    fn cancelled(&mut self, at: usize, cause: CancelCause) -> Effect {
        let sequential = self.set == Set::Calls(DispatchConcurrency::Sequential);
        match (self.policy.handler_cancellation(), cause) {
            // One after the other, a request of the emitter cannot be told from the handler's own
            // cancellation: it is collected with the rest, and raised when the rest has run.
            (HandlerCancellation::Collect, CancelCause::Emitter) if sequential => {
                self.collect_cancellation(at, cause)
            }
            (_, CancelCause::Emitter) | (HandlerCancellation::Propagate, _) => {
                self.end(Ending::Cancelled {
                    cause,
                    by: Some(at),
                });
                Effect::End
            }
            (HandlerCancellation::Translate, _) => {
                self.translated.push(at);
                Effect::Failure
            }
            (HandlerCancellation::Collect, _) => self.collect_cancellation(at, cause),
        }
    }

    fn collect_cancellation(&mut self, at: usize, cause: CancelCause) -> Effect {
        self.collected.push((at, cause));
        // Of returned awaitables a cancellation is data: it is in the report and raises nothing
        // (session_observer/one_cancelled_one_sibling).
        if matches!(self.set, Set::Calls(_)) && self.policy.failure() != DispatchFailure::Isolate {
            self.members.push(at);
        }
        Effect::Failure
    }

    fn fatal(&mut self, at: usize) -> Effect {
        match self.policy.handler_cancellation() {
            HandlerCancellation::Propagate => {
                self.end(Ending::Failed(at));
                Effect::End
            }
            HandlerCancellation::Translate => {
                self.translated.push(at);
                Effect::Failure
            }
            HandlerCancellation::Collect => {
                if self.policy.failure() != DispatchFailure::Isolate {
                    self.members.push(at);
                }
                Effect::Failure
            }
        }
    }

    /// A request of the emitter that the runner has seen.
    pub(crate) fn cancelled_by_emitter(&mut self, cause: CancelCause) {
        self.ended = Some(Ending::Cancelled { cause, by: None });
    }

    /// The first ending stands.
    fn end(&mut self, ending: Ending) {
        self.ended.get_or_insert(ending);
    }

    /// What the stage comes to. A failure that is known is raised also when the deadline ran out.
    ///
    /// Boxed, since nearly always there is none, and `None` should be as small as a pointer.
    pub(crate) fn surface(&mut self, expired: Option<DeadlineDisposition>) -> Option<Box<Ending>> {
        let quiet = self.ended.is_none() && self.members.is_empty() && self.translated.is_empty();
        if quiet && self.collected.is_empty() && expired.is_none() {
            return None;
        }
        self.raises(expired).map(Box::new)
    }

    fn raises(&mut self, expired: Option<DeadlineDisposition>) -> Option<Ending> {
        if let Some(ending) = self.ended.take() {
            return Some(ending);
        }
        if let Some(first) = self.translated.iter().copied().min() {
            let mut causes = std::mem::take(&mut self.members);
            if causes.is_empty() {
                causes.push(first);
            }
            return Some(Ending::HandlerCancelled(causes));
        }
        let first_in_time = self.members.first().copied();
        self.members.sort_unstable();
        let raised = match (self.policy.error_surface(), self.members.as_slice()) {
            (ErrorSurface::ReturnReport | ErrorSurface::LogOnly, _) | (_, []) => None,
            (ErrorSurface::RaiseFirst, [first_in_order, ..]) => {
                match (self.policy.failure(), first_in_time) {
                    (DispatchFailure::Propagate, Some(first)) => Some(Ending::Failed(first)),
                    _ => Some(Ending::Failed(*first_in_order)),
                }
            }
            (ErrorSurface::UnwrapSingleElseGroup, [one]) => Some(Ending::Failed(*one)),
            (ErrorSurface::RaiseGroup | ErrorSurface::UnwrapSingleElseGroup, _) => {
                Some(Ending::Group(std::mem::take(&mut self.members)))
            }
        };
        // What is raised as it is, and was a cancellation, is no failure.
        let cancelled = |at: usize| self.collected.iter().find(|(place, _)| *place == at);
        let raised = raised.map(|ending| match ending {
            Ending::Failed(at) => match cancelled(at) {
                Some((_, cause)) => Ending::Cancelled {
                    cause: *cause,
                    by: Some(at),
                },
                None => Ending::Failed(at),
            },
            ending => ending,
        });
        let emitter = || {
            let by_emitter = |(_, cause): &&(usize, CancelCause)| *cause == CancelCause::Emitter;
            let (at, cause) = self.collected.iter().find(by_emitter)?;
            Some(Ending::Cancelled {
                cause: *cause,
                by: Some(*at),
            })
        };
        raised
            .or_else(emitter)
            .or_else(|| expired.map(Ending::Deadline))
    }
}

pub(crate) fn log_failure(name: &RegistrationName, failure: &HandlerFailure, message: &str) {
    tracing::warn!(registration = %name, failure = %failure.chain(), "{message}");
}
