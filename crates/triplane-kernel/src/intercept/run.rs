//! One run of a plan: the context as it is now, and what has been decided so far.

use std::ops::ControlFlow;

use tokio::time::Instant;

use crate::cancel::CancelCause;
use crate::failure::{HandlerError, HandlerFailure};
use crate::intercept::decision::{Decision, Denial, EvidenceRef};
use crate::intercept::plan::Compiled;
use crate::intercept::report::{Decided, Ending, InterceptorReport, Note, Notes};
use crate::intercept::stage::StageFailure;

/// The kind of evidence that says which class of failure a denial stands for: `error` or `panic`.
pub const EVIDENCE_FAILURE: &str = "failure";

pub(crate) type Answer<C> = Result<Decision<C>, HandlerFailure>;

/// One run of a plan. The loop over the ordinary stages is in `intercept/ordinary.rs`, the one over
/// the teardown stages in `intercept/teardown.rs`.
pub(crate) struct Run<'p, C> {
    pub(crate) plan: &'p Compiled<C>,
    pub(crate) context: C,
    /// How the chain would end if nothing else happened, and by whom.
    pub(crate) verdict: Option<(usize, Decided)>,
    pub(crate) notes: Notes,
}

impl<'p, C> Run<'p, C> {
    pub(crate) fn new(plan: &'p Compiled<C>, context: C) -> Self {
        Self {
            plan,
            context,
            verdict: None,
            notes: Notes::new(),
        }
    }

    /// Takes an answer of an ordinary stage.
    pub(crate) fn settle(&mut self, index: usize, answer: Answer<C>) -> ControlFlow<()> {
        let ending = match answer {
            Ok(decision) => self.take(index, decision),
            Err(failure) => self.fail(index, failure),
        };
        match ending {
            None => ControlFlow::Continue(()),
            Some(ending) => {
                self.note(index + 1, Note::Ended(ending));
                ControlFlow::Break(())
            }
        }
    }

    /// Takes a decision, and says whether it ends the stages of its kind.
    pub(crate) fn take(&mut self, index: usize, decision: Decision<C>) -> Option<Ending> {
        match decision {
            Decision::Continue(None) => None,
            Decision::Continue(Some(context)) => {
                self.context = *context;
                self.note(index, Note::Replaced);
                None
            }
            Decision::Stop(context) => {
                let replaced = context.is_some();
                if let Some(context) = context {
                    self.context = *context;
                }
                self.note(index, Note::Stopped { replaced });
                Some(Ending::Stopped)
            }
            Decision::Deny(denial) => {
                self.deny(index, *denial);
                Some(Ending::Denied)
            }
        }
    }

    /// Takes a failure, and says whether it ends the ordinary stages.
    pub(crate) fn fail(&mut self, index: usize, failure: HandlerFailure) -> Option<Ending> {
        let stage = self.plan.outline.stage_of(index);
        let name = &self.plan.outline.places[index].name;
        let (mapped, ending) = match (&failure, stage.on_failure) {
            (HandlerFailure::Cancelled(cause), _) => {
                (StageFailure::Propagate, Some(Ending::Cancelled(*cause)))
            }
            (HandlerFailure::Fatal(_), _)
            | (HandlerFailure::Failed(_), StageFailure::Propagate) => {
                (StageFailure::Propagate, Some(Ending::Failed))
            }
            (HandlerFailure::Failed(_), StageFailure::Deny) => {
                (StageFailure::Deny, Some(Ending::Denied))
            }
            (HandlerFailure::Failed(_), StageFailure::Isolate) => (StageFailure::Isolate, None),
        };
        match mapped {
            StageFailure::Isolate => {
                tracing::warn!(registration = %name, stage = %stage.name, failure = %failure.chain(),
                    "an interceptor failed and is isolated by its stage");
            }
            StageFailure::Deny if self.verdict.is_none() => {
                let denial = Denial::new(format!("`{name}` could not judge: {}", failure.chain()))
                    .with(EvidenceRef::new(EVIDENCE_FAILURE, class_of(&failure)));
                self.verdict = Some((index, Decided::Denied(denial)));
            }
            StageFailure::Propagate if self.verdict.is_none() => {
                self.verdict = Some((index, Decided::Failed(failure)));
                self.note(index, Note::Decisive);
                return ending;
            }
            StageFailure::Deny | StageFailure::Propagate => {}
        }
        self.note(index, Note::Failed { failure, mapped });
        ending
    }

    fn deny(&mut self, index: usize, denial: Denial) {
        if self.verdict.is_some() {
            self.note(index, Note::Denied(denial));
        } else {
            self.verdict = Some((index, Decided::Denied(denial)));
            self.note(index, Note::Decisive);
        }
    }

    /// Now, if interceptors are timed.
    pub(crate) fn clock(&self) -> Option<Instant> {
        self.plan.timed.then(Instant::now)
    }

    pub(crate) fn stop_clock(&mut self, index: usize, clock: Option<Instant>) {
        if let Some(began) = clock {
            self.note(index, Note::Took(began.elapsed()));
        }
    }

    pub(crate) fn note(&mut self, index: usize, note: Note) {
        self.notes.push((index, note));
    }

    /// Raises a cancellation that a teardown stage held back: it wins over what was decided.
    pub(crate) fn raise(&mut self, index: usize, cause: CancelCause) {
        let cancelled = Decided::Failed(HandlerFailure::Cancelled(cause));
        let (at, displaced) = match self.verdict.replace((index, cancelled)) {
            None => return,
            Some((at, Decided::Denied(denial))) => (at, Note::Denied(denial)),
            Some((at, Decided::Failed(failure))) => (
                at,
                Note::Failed {
                    failure,
                    mapped: StageFailure::Propagate,
                },
            ),
        };
        for (noted, note) in &mut self.notes {
            if *noted == at && matches!(note, Note::Decisive) {
                *note = displaced;
                return;
            }
        }
    }

    pub(crate) fn finish(mut self) -> InterceptorReport<'p, C> {
        if let Some((index, decided)) = self.verdict {
            self.notes.insert(0, (index, Note::Verdict(decided)));
        }
        InterceptorReport::new(self.plan, self.context, self.notes)
    }
}

fn class_of(failure: &HandlerFailure) -> &'static str {
    match failure {
        HandlerFailure::Failed(HandlerError::Error(_)) => "error",
        HandlerFailure::Failed(HandlerError::Panic(_)) => "panic",
        HandlerFailure::Cancelled(_) => "cancelled",
        HandlerFailure::Fatal(_) => "fatal",
    }
}
