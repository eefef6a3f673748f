//! What one handler can come to.

use std::convert::Infallible;

use crate::cancel::CancelCause;
use crate::failure::HandlerFailure;

/// What one handler came to. In a report `T` and `F` are references to the value and the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerOutcome<T, F = HandlerFailure> {
    /// It returned this value.
    Value(T),
    /// It failed, ordinarily or fatally, or panicked.
    Failed(F),
    /// Its predicate failed; it was not called.
    PredicateFailed(F),
    /// It cancelled itself, or the emitter's request met it.
    Cancelled(CancelCause),
    /// It was stopped because another handler had failed or cancelled.
    CancelledBySibling,
    /// It was stopped by the deadline.
    TimedOut,
    /// It is offloaded, had begun when nobody waited for it any longer, and may still be at work.
    /// What it comes to will never be known here.
    AbandonedUnknown,
    /// It is offloaded and had not begun when nobody waited for it any longer: it never will.
    CancelledBeforeStart,
    /// It goes on without the emission, owned by the dispatcher.
    Detached,
    /// It was to go on without the emission, but the dispatcher had no room: it was stopped.
    Overflowed,
    /// It returned an awaitable that was dropped without being awaited.
    Unawaited,
    /// It was not called.
    NotRun(NotRun),
}

/// Why a matched handler was not called.
///
/// When an emission has ended, predicates are not asked any more: every registration found by key
/// counts as matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotRun {
    /// An earlier failure ended the emission.
    StoppedByFailure,
    /// The emission was cancelled.
    Cancelled(CancelCause),
    /// The deadline ran out before its turn.
    DeadlineExpired,
}

impl<T, F> HandlerOutcome<T, F> {
    /// The value, or else the same outcome without its place for one.
    pub(crate) fn split(self) -> Result<T, HandlerOutcome<Infallible, F>> {
        Err(match self {
            Self::Value(value) => return Ok(value),
            Self::Failed(failure) => HandlerOutcome::Failed(failure),
            Self::PredicateFailed(failure) => HandlerOutcome::PredicateFailed(failure),
            Self::Cancelled(cause) => HandlerOutcome::Cancelled(cause),
            Self::CancelledBySibling => HandlerOutcome::CancelledBySibling,
            Self::TimedOut => HandlerOutcome::TimedOut,
            Self::AbandonedUnknown => HandlerOutcome::AbandonedUnknown,
            Self::CancelledBeforeStart => HandlerOutcome::CancelledBeforeStart,
            Self::Detached => HandlerOutcome::Detached,
            Self::Overflowed => HandlerOutcome::Overflowed,
            Self::Unawaited => HandlerOutcome::Unawaited,
            Self::NotRun(why) => HandlerOutcome::NotRun(why),
        })
    }

    /// The failure of the handler or of its predicate.
    pub fn failure(self) -> Option<F> {
        match self {
            Self::Failed(failure) | Self::PredicateFailed(failure) => Some(failure),
            _ => None,
        }
    }
}
