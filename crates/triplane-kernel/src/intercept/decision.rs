//! What an interceptor decides: go on, stop asking, or deny.

use std::borrow::Cow;
use std::fmt;

/// The answer of one interceptor (ADR-0120 D2, `InterceptorDecision`).
///
/// Replacements and denials are boxed: nearly every answer is `Continue`, and it should stay two
/// words wide.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Decision<C> {
    /// Ask the next registration, with this context instead of the current one if there is one.
    Continue(Option<Box<C>>),
    /// Ask nobody further; the operation goes on, with this context if there is one.
    Stop(Option<Box<C>>),
    /// Ask nobody further; the operation must not happen.
    Deny(Box<Denial>),
}

impl<C> Decision<C> {
    /// Goes on with the context as it is.
    pub const CONTINUE: Self = Self::Continue(None);

    /// Goes on with another context.
    pub fn replace(context: C) -> Self {
        Self::Continue(Some(Box::new(context)))
    }

    /// Denies for `reason`.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny(Box::new(Denial::new(reason)))
    }
}

/// Why an operation must not happen, and what that rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// The reason, a sentence for whoever asked.
    pub reason: String,
    /// What the reason rests on: the rule that spoke, the offending part, a document.
    pub evidence: Vec<EvidenceRef>,
}

impl Denial {
    /// A denial without evidence.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            evidence: Vec::new(),
        }
    }

    /// Adds one piece of evidence.
    #[must_use]
    pub fn with(mut self, evidence: EvidenceRef) -> Self {
        self.evidence.push(evidence);
        self
    }

    /// The reference of the first evidence of this kind.
    pub fn evidence(&self, kind: &str) -> Option<&str> {
        self.evidence
            .iter()
            .find(|e| e.kind == kind)
            .map(|e| e.reference.as_str())
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// A pointer to what a denial rests on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EvidenceRef {
    /// What kind of thing is pointed at, for example `rule`.
    pub kind: Cow<'static, str>,
    /// Which one of its kind, for example the rule's id.
    pub reference: String,
}

impl EvidenceRef {
    /// Points at `reference`, which is of `kind`.
    pub fn new(kind: impl Into<Cow<'static, str>>, reference: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            reference: reference.into(),
        }
    }
}
