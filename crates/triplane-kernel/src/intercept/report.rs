//! What a chain came to: the outcome, and what every registration of the plan did.

use std::fmt;
use std::time::Duration;

use crate::cancel::CancelCause;
use crate::failure::HandlerFailure;
use crate::intercept::decision::Denial;
use crate::intercept::plan::{Compiled, Outline};
use crate::intercept::stage::StageFailure;
use crate::name::{RegistrationName, StageName};

/// What the owner of the operation does next.
#[derive(Debug)]
#[must_use]
pub enum ChainOutcome<C> {
    /// The operation may happen, with this context.
    Proceed(C),
    /// The operation must not happen.
    Denied {
        /// The context as it was when the denial was spoken.
        context: C,
        /// Why, and what that rests on.
        denial: Denial,
        /// The registration that denied, or whose failure its stage maps to a denial.
        by: RegistrationName,
    },
    /// The chain did not come to a decision: a failure that its stage propagates, a fatal failure,
    /// or a cancellation.
    Failed {
        /// The context as it was when the chain ended.
        context: C,
        /// What happened. A cancellation is [`HandlerFailure::Cancelled`].
        failure: HandlerFailure,
        /// The registration that failed, or whose turn it was when the request to cancel came.
        by: RegistrationName,
    },
}

/// What a chain came to, beside the context.
#[derive(Debug, Clone, Copy)]
pub enum ChainVerdict<'a> {
    /// The operation may happen.
    Proceed,
    /// The operation must not happen.
    Denied {
        /// Why, and what that rests on.
        denial: &'a Denial,
        /// The registration that denied, or whose failure its stage maps to a denial.
        by: &'a RegistrationName,
    },
    /// The chain did not come to a decision.
    Failed {
        /// What happened. A cancellation is [`HandlerFailure::Cancelled`].
        failure: &'a HandlerFailure,
        /// The registration that failed, or whose turn it was when the request to cancel came.
        by: &'a RegistrationName,
    },
}

/// The report of one run of a chain (ADR-0120 D2, `InterceptorReport`).
///
/// It names every registration of the plan, in order. It is sparse inside: a registration that
/// continued costs nothing, so that a quiet chain allocates nothing and its report is small. It
/// borrows the plan from its chain; [`into_outcome`](Self::into_outcome) is what outlives the chain.
#[must_use]
pub struct InterceptorReport<'p, C> {
    plan: &'p Compiled<C>,
    context: C,
    notes: Notes,
}

/// What happened, by index into the plan and in the plan's order; continuations are left out. A
/// verdict stands before all others.
pub(crate) type Notes = Vec<(usize, Note)>;

/// What ended the question whether the operation may happen.
#[derive(Debug)]
pub(crate) enum Decided {
    Denied(Denial),
    Failed(HandlerFailure),
}

#[derive(Debug)]
pub(crate) enum Note {
    Verdict(Decided),
    Replaced,
    Stopped {
        replaced: bool,
    },
    /// The denial or failure is the verdict, and is kept there.
    Decisive,
    Denied(Denial),
    Failed {
        failure: HandlerFailure,
        mapped: StageFailure,
    },
    Dropped,
    NotRun(Ending),
    /// How long it took, noted before what it did.
    Took(Duration),
    /// The ordinary registrations from this index on were not asked.
    Ended(Ending),
    /// Behind all registrations: a cancellation was held back for teardown.
    Shielded {
        budget_ran_out: bool,
    },
}

/// Why a chain asked nobody further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// A registration said stop.
    Stopped,
    /// A registration denied, or failed in a stage that maps failures to denials.
    Denied,
    /// A registration failed in a stage that propagates, or failed fatally.
    Failed,
    /// The scope was cancelled.
    Cancelled(CancelCause),
    /// The budget of a teardown stage ran out while a cancellation waited.
    BudgetRanOut,
}

/// One registration in a report.
#[derive(Debug, Clone, Copy)]
pub struct InterceptorEntry<'a> {
    /// The registration's name.
    pub name: &'a RegistrationName,
    /// Its stage.
    pub stage: &'a StageName,
    /// Its place within the stage.
    pub order: i32,
    /// What it did.
    pub state: EntryState<'a>,
    /// The time from the question to the answer, waits included. `None` unless the plan was built
    /// [`with_durations`](crate::PlanBuilder::with_durations), and for a registration that was not
    /// asked.
    pub took: Option<Duration>,
}

/// What one registration did.
#[derive(Debug, Clone, Copy)]
pub enum EntryState<'a> {
    /// It went on with the context as it was.
    Continued,
    /// It went on with another context.
    Replaced,
    /// It stopped the chain, with another context if `replaced`.
    Stopped {
        /// Whether it replaced the context.
        replaced: bool,
    },
    /// It denied.
    Denied(&'a Denial),
    /// It failed.
    Failed {
        /// How. A panic is [`HandlerError::Panic`](crate::HandlerError::Panic).
        failure: &'a HandlerFailure,
        /// What was made of the failure: the stage's mapping, or `Propagate` for a cancellation
        /// and for a fatal failure.
        mapped: StageFailure,
    },
    /// It was asked, and dropped unfinished when the budget of its teardown stage ran out.
    Dropped,
    /// It was not asked.
    NotRun(Ending),
}

/// How the teardown stages of a chain met a request to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TeardownReport {
    /// A request to cancel was held back for a teardown stage.
    pub shielded: bool,
    /// A stage used up its budget and was dropped.
    pub budget_ran_out: bool,
}

impl<'p, C> InterceptorReport<'p, C> {
    #[inline]
    pub(crate) fn new(plan: &'p Compiled<C>, context: C, notes: Notes) -> Self {
        Self {
            plan,
            context,
            notes,
        }
    }

    /// The report of a chain in which everybody went on with the context as it was.
    #[inline]
    pub(crate) fn quiet(plan: &'p Compiled<C>, context: C) -> Self {
        Self::new(plan, context, Notes::new())
    }

    /// Whether the operation may happen.
    pub fn verdict(&self) -> ChainVerdict<'_> {
        let Some((index, Note::Verdict(decided))) = self.notes.first() else {
            return ChainVerdict::Proceed;
        };
        let by = &self.plan.outline.places[*index].name;
        match decided {
            Decided::Denied(denial) => ChainVerdict::Denied { denial, by },
            Decided::Failed(failure) => ChainVerdict::Failed { failure, by },
        }
    }

    /// The context as it was when the chain ended.
    pub fn context(&self) -> &C {
        &self.context
    }

    /// What the owner does next.
    #[inline]
    pub fn into_outcome(self) -> ChainOutcome<C> {
        let Self {
            plan,
            context,
            notes,
        } = self;
        if notes.is_empty() {
            return ChainOutcome::Proceed(context);
        }
        match notes.into_iter().next() {
            Some((index, Note::Verdict(decided))) => {
                let by = plan.outline.places[index].name.clone();
                match decided {
                    Decided::Denied(denial) => ChainOutcome::Denied {
                        context,
                        denial,
                        by,
                    },
                    Decided::Failed(failure) => ChainOutcome::Failed {
                        context,
                        failure,
                        by,
                    },
                }
            }
            _ => ChainOutcome::Proceed(context),
        }
    }

    /// Whether a registration replaced the context.
    pub fn replaced(&self) -> bool {
        let replaces =
            |note: &Note| matches!(note, Note::Replaced | Note::Stopped { replaced: true });
        self.notes.iter().any(|(_, note)| replaces(note))
    }

    /// How the teardown stages met a request to cancel.
    pub fn teardown(&self) -> TeardownReport {
        match self.notes.last() {
            Some((_, Note::Shielded { budget_ran_out })) => TeardownReport {
                shielded: true,
                budget_ran_out: *budget_ran_out,
            },
            _ => TeardownReport::default(),
        }
    }

    /// Every registration of the plan, in the plan's order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = InterceptorEntry<'_>> {
        let outline: &Outline = &self.plan.outline;
        let verdict = usize::from(matches!(self.notes.first(), Some((_, Note::Verdict(_)))));
        let mut notes = self.notes[verdict..].iter().peekable();
        let mut ended = None;
        outline
            .places
            .iter()
            .enumerate()
            .map(move |(index, place)| {
                let mut next = || notes.next_if(|(at, _)| *at == index).map(|(_, note)| note);
                let (mut note, mut took) = (next(), None);
                loop {
                    match note {
                        Some(Note::Ended(ending)) => ended = Some(*ending),
                        Some(Note::Took(time)) => took = Some(*time),
                        _ => break,
                    }
                    note = next();
                }
                let state = match (note, ended) {
                    (Some(note), _) => self.state(note),
                    (None, Some(ending)) if index < self.plan.ordinary.len() => {
                        EntryState::NotRun(ending)
                    }
                    (None, _) => EntryState::Continued,
                };
                InterceptorEntry {
                    name: &place.name,
                    stage: &outline.stages[place.stage].name,
                    order: place.order,
                    state,
                    took,
                }
            })
    }

    fn state<'a>(&'a self, note: &'a Note) -> EntryState<'a> {
        match note {
            Note::Replaced => EntryState::Replaced,
            Note::Stopped { replaced } => EntryState::Stopped {
                replaced: *replaced,
            },
            Note::Dropped => EntryState::Dropped,
            Note::NotRun(ending) => EntryState::NotRun(*ending),
            Note::Denied(denial) => EntryState::Denied(denial),
            Note::Failed { failure, mapped } => EntryState::Failed {
                failure,
                mapped: *mapped,
            },
            Note::Decisive => match self.verdict() {
                ChainVerdict::Denied { denial, .. } => EntryState::Denied(denial),
                ChainVerdict::Failed { failure, .. } => EntryState::Failed {
                    failure,
                    mapped: StageFailure::Propagate,
                },
                // A chain that proceeds was decided by nobody.
                ChainVerdict::Proceed => EntryState::Continued,
            },
            // None says what a registration did.
            Note::Verdict(_) | Note::Took(_) | Note::Ended(_) | Note::Shielded { .. } => {
                EntryState::Continued
            }
        }
    }
}

impl<C> ChainOutcome<C> {
    /// The denial, if the operation must not happen.
    pub fn denial(&self) -> Option<&Denial> {
        match self {
            Self::Denied { denial, .. } => Some(denial),
            Self::Proceed(_) | Self::Failed { .. } => None,
        }
    }

    /// The failure, if the chain came to no decision.
    pub fn failure(&self) -> Option<&HandlerFailure> {
        match self {
            Self::Failed { failure, .. } => Some(failure),
            Self::Proceed(_) | Self::Denied { .. } => None,
        }
    }
}

impl<C: fmt::Debug> fmt::Debug for InterceptorReport<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterceptorReport")
            .field("verdict", &self.verdict())
            .field("context", &self.context)
            .field("entries", &self.entries().collect::<Vec<_>>())
            .field("teardown", &self.teardown())
            .finish_non_exhaustive()
    }
}
