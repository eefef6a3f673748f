//! Errors of the old mechanisms, and how they are told apart from a handler's own.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use triplane_kernel::{DispatchError, HandlerError, HandlerFailure};

/// Said by a hook to skip the hooks behind it at the same point; it is no failure there (plane:
/// interception).
///
/// Move to a guard's [`Verdict`](triplane_interception::Verdict), which is an answer and no error.
/// Everywhere else it is an error like any other.
#[derive(Debug, Clone, PartialEq, Eq, Default, thiserror::Error)]
#[error("a hook asked to skip the rest: {reason}")]
pub struct StopHook {
    /// Why; often empty.
    pub reason: String,
}

/// The store refused a write for good, since it is kept in an older form (ADR-0128 D6).
///
/// At an observational point it is the one failure that reaches the owner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the store refused {what}")]
pub struct StateCompatibilityRefused {
    /// What was refused.
    pub what: String,
}

/// A built-in handler was called whose plane is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the built-in handler `{name}` is not bound to anything")]
pub struct BuiltinUnbound {
    /// The handler's name.
    pub name: String,
}

/// Several errors that are raised together.
#[derive(Debug)]
pub struct ErrorGroup {
    /// What they have in common, in the words of whoever raises them.
    pub message: String,
    /// The errors, in the order of registration.
    pub members: Vec<HandlerFailure>,
}

impl fmt::Display for ErrorGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = match self.members.len() {
            1 => "error",
            _ => "errors",
        };
        write!(f, "{} ({} {errors}", self.message, self.members.len())?;
        for (index, member) in self.members.iter().enumerate() {
            f.write_str(if index == 0 { ": " } else { "; " })?;
            fmt::Display::fmt(member, f)?;
        }
        f.write_str(")")
    }
}

impl Error for ErrorGroup {}

/// What an emission of a legacy name raises. It can be kept, shared, and raised again by a handler.
#[derive(Debug, Clone)]
pub struct Raised(Arc<Cause>);

#[derive(Debug)]
enum Cause {
    Handler(HandlerFailure),
    Dispatch(DispatchError),
}

impl Raised {
    /// The failure of a handler, if one handler's failure was raised as it is.
    pub fn failure(&self) -> Option<&HandlerFailure> {
        match &*self.0 {
            Cause::Handler(failure) => Some(failure),
            Cause::Dispatch(DispatchError::Failed { report }) => {
                report.raised().find_map(|entry| entry.outcome.failure())
            }
            Cause::Dispatch(_) => None,
        }
    }

    /// The same as the failure of a handler that raises it: of its class, with the error as its cause.
    pub fn into_failure(self) -> HandlerFailure {
        match (&*self.0, self.failure()) {
            (_, Some(HandlerFailure::Cancelled(cause)))
            | (Cause::Dispatch(DispatchError::Cancelled { cause, .. }), _) => {
                HandlerFailure::Cancelled(*cause)
            }
            (_, Some(HandlerFailure::Fatal(_))) => HandlerFailure::fatal(self),
            _ => HandlerFailure::failed(self),
        }
    }

    /// What the dispatcher raised, with its report.
    pub fn dispatch(&self) -> Option<&DispatchError> {
        match &*self.0 {
            Cause::Handler(_) => None,
            Cause::Dispatch(error) => Some(error),
        }
    }

    /// Whether this is an ordinary error, not a cancellation and not a fatal failure.
    pub fn is_ordinary(&self) -> bool {
        match &*self.0 {
            Cause::Handler(failure) => matches!(failure, HandlerFailure::Failed(_)),
            Cause::Dispatch(
                DispatchError::Cancelled { .. } | DispatchError::HandlerCancelled { .. },
            ) => false,
            Cause::Dispatch(_) => !matches!(
                self.failure(),
                Some(HandlerFailure::Fatal(_) | HandlerFailure::Cancelled(_))
            ),
        }
    }

    /// The name of the registration whose failure was raised, if it is known.
    pub fn registration(&self) -> Option<&str> {
        let report = self.dispatch()?.report()?;
        report.raised().next().map(|entry| entry.name.as_str())
    }
}

impl From<HandlerFailure> for Raised {
    fn from(failure: HandlerFailure) -> Self {
        Self(Arc::new(Cause::Handler(failure)))
    }
}

impl From<DispatchError> for Raised {
    fn from(error: DispatchError) -> Self {
        Self(Arc::new(Cause::Dispatch(error)))
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Cause::Handler(failure) => fmt::Display::fmt(failure, f),
            Cause::Dispatch(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for Raised {}

/// Finds an error of this type in a failure: itself, a member of a group, or a source.
pub(crate) fn find<E: Error + 'static>(failure: &HandlerFailure) -> Option<&E> {
    match failure {
        HandlerFailure::Failed(HandlerError::Error(error))
        | HandlerFailure::Fatal(HandlerError::Error(error)) => find_in(&**error),
        HandlerFailure::Failed(HandlerError::Panic(_))
        | HandlerFailure::Fatal(HandlerError::Panic(_))
        | HandlerFailure::Cancelled(_) => None,
    }
}

fn find_in<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    if let Some(found) = error.downcast_ref() {
        return Some(found);
    }
    if let Some(group) = error.downcast_ref::<ErrorGroup>() {
        return group.members.iter().find_map(find);
    }
    if let Some(raised) = error.downcast_ref::<Raised>() {
        return match &*raised.0 {
            Cause::Handler(failure) => find(failure),
            Cause::Dispatch(error) => {
                let report = error.report()?;
                report
                    .raised()
                    .filter_map(|entry| entry.outcome.failure())
                    .find_map(find)
            }
        };
    }
    error.source().and_then(find_in)
}

/// Whether a failure is the word to skip the rest; a group that holds one is not.
pub(crate) fn is_stop(failure: &HandlerFailure) -> bool {
    let HandlerFailure::Failed(HandlerError::Error(error)) = failure else {
        return false;
    };
    error.is::<StopHook>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal() -> HandlerFailure {
        HandlerFailure::failed(StateCompatibilityRefused {
            what: "a signal".to_owned(),
        })
    }

    fn group(members: Vec<HandlerFailure>) -> ErrorGroup {
        let message = "both".to_owned();
        ErrorGroup { message, members }
    }

    #[test]
    fn a_group_says_what_its_members_say() {
        let together = group(vec![HandlerFailure::failed(StopHook::default()), refusal()]);
        assert_eq!(
            together.to_string(),
            "both (2 errors: a hook asked to skip the rest: ; the store refused a signal)"
        );
        let alone = group(vec![refusal()]);
        assert_eq!(
            alone.to_string(),
            "both (1 error: the store refused a signal)"
        );
    }

    #[test]
    fn a_refusal_is_found_alone_and_in_a_group() {
        let found = |failure: &HandlerFailure| find::<StateCompatibilityRefused>(failure).is_some();
        assert!(found(&refusal()));
        let together = group(vec![HandlerFailure::failed(StopHook::default()), refusal()]);
        assert!(found(&HandlerFailure::failed(together)));
        assert!(found(&HandlerFailure::failed(Raised::from(refusal()))));
        assert!(!found(&HandlerFailure::failed(StopHook::default())));
    }

    #[test]
    fn only_the_bare_word_stops() {
        assert!(is_stop(&HandlerFailure::failed(StopHook::default())));
        assert!(!is_stop(&HandlerFailure::fatal(StopHook::default())));
        let together = group(vec![HandlerFailure::failed(StopHook::default())]);
        assert!(!is_stop(&HandlerFailure::failed(together)));
    }
}
