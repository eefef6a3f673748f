//! Which signals an observer hears of.

use triplane_kernel::Key;
use uuid::Uuid;

use crate::signal::{EmitterRole, Signal, SignalKind};

/// A condition on signals. Every part that is set must hold; an empty filter holds for all.
///
/// The kind or family becomes a key of the dispatcher's index, so that an emission never asks the
/// observers of other kinds; the rest becomes a predicate.
///
/// ```
/// use triplane_signals::{EmitterRole, SignalFilter, SignalKind};
///
/// let denials = SignalFilter::kind(SignalKind::OperationDenied).by(EmitterRole::Owner);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignalFilter {
    scope: KeyScope,
    emitter: Option<EmitterRole>,
    session: Option<String>,
    invocation: Option<Uuid>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum KeyScope {
    #[default]
    Any,
    Family(&'static str),
    Kind(SignalKind),
}

impl SignalFilter {
    /// Every signal.
    pub fn any() -> Self {
        Self::default()
    }

    /// The signals of one kind.
    pub fn kind(kind: SignalKind) -> Self {
        Self {
            scope: KeyScope::Kind(kind),
            ..Self::default()
        }
    }

    /// The signals of the family that `kind` belongs to.
    pub fn family_of(kind: SignalKind) -> Self {
        Self {
            scope: KeyScope::Family(kind.family()),
            ..Self::default()
        }
    }

    /// Only those that this role states.
    #[must_use]
    pub fn by(mut self, emitter: EmitterRole) -> Self {
        self.emitter = Some(emitter);
        self
    }

    /// Only those of this session.
    #[must_use]
    pub fn in_session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Only those of this invocation.
    #[must_use]
    pub fn of_invocation(mut self, invocation: Uuid) -> Self {
        self.invocation = Some(invocation);
        self
    }

    /// Whether the filter holds for `signal`.
    pub fn holds(&self, signal: &Signal) -> bool {
        let in_scope = match self.scope {
            KeyScope::Any => true,
            KeyScope::Family(family) => signal.kind.family() == family,
            KeyScope::Kind(kind) => signal.kind == kind,
        };
        in_scope
            && self.emitter.is_none_or(|emitter| signal.emitter == emitter)
            && self
                .session
                .as_ref()
                .is_none_or(|session| signal.session == *session)
            && self
                .invocation
                .is_none_or(|invocation| signal.invocation == Some(invocation))
    }

    pub(crate) fn key(&self) -> Key {
        match self.scope {
            KeyScope::Any => Signal::ANY,
            KeyScope::Family(family) => Key::from_static(family),
            KeyScope::Kind(kind) => kind.key(),
        }
    }

    pub(crate) fn needs_predicate(&self) -> bool {
        self.emitter.is_some() || self.session.is_some() || self.invocation.is_some()
    }
}
