//! What a guard is, and what it may answer.

use std::fmt;
use std::ops::Range;

use triplane_kernel::{Denial, EvidenceRef, HandlerFailure, Scope, Step};

use crate::tool_call::ToolCall;

/// A judge of tool calls that knows one danger well.
///
/// Guards are asked in the order of their registration, before any policy, and once more when a
/// policy has rewritten the arguments. A guard that fails, panics or is cancelled denies: its own
/// failure is never permission. It must not block; what takes long answers [`Step::Later`].
pub trait Guard: Send + Sync {
    /// The guard's name, unique within one plan, for example `guard.commands`.
    fn name(&self) -> &str;

    /// Judges one proposed call.
    fn judge<'a>(
        &'a self,
        call: &'a ToolCall,
        scope: &'a Scope,
    ) -> Step<'a, Result<Verdict, HandlerFailure>>;
}

/// The answer of a guard.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Nothing to say against the call.
    Allow,
    /// The call may happen; what was noticed is recorded with it.
    Advisory(Finding),
    /// Dangerous: refused, unless the mode of a later policy lets this tier pass.
    SoftDeny(Finding),
    /// Catastrophic: refused in every mode.
    HardDeny(Finding),
}

/// What a rule found in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The stable id of the rule that spoke, for example `rm.recursive-root`.
    pub rule: String,
    /// Why, a sentence for the agent and for people.
    pub reason: String,
    /// The part of the call that the rule spoke about.
    pub offence: Option<Offence>,
    /// A safer way to reach the same end.
    pub safer: Option<String>,
}

/// The offending part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offence {
    /// The part itself, shortened if it is long.
    pub text: String,
    /// Where it stands in the argument that was judged, in bytes, if that is known.
    pub span: Option<Range<usize>>,
}

impl Finding {
    /// A finding without an offending part and without a safer way.
    pub fn new(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            reason: reason.into(),
            offence: None,
            safer: None,
        }
    }

    /// Everything about the finding in one line, for the agent and for people: the reason, the rule
    /// in brackets, the offending part with its position in bytes, and the safer way.
    ///
    /// ```
    /// use triplane_interception::{Finding, Offence};
    ///
    /// let finding = Finding {
    ///     offence: Some(Offence { text: "/etc".into(), span: Some(7..11) }),
    ///     safer: Some("name a folder below the workspace".into()),
    ///     ..Finding::new("rm.system", "it deletes the system")
    /// };
    /// assert_eq!(
    ///     finding.told(),
    ///     "it deletes the system [rm.system] At 7..11: `/etc`. Safer: name a folder below the workspace"
    /// );
    /// ```
    pub fn told(&self) -> String {
        let mut told = self.to_string().trim().to_owned();
        let about = self.offence.as_ref().map(|offence| match &offence.span {
            Some(Range { start, end }) => format!(" At {start}..{end}: `{}`.", offence.text),
            None => format!(" About `{}`.", offence.text),
        });
        told.extend(about);
        if let Some(safer) = &self.safer {
            told.push_str(" Safer: ");
            told.push_str(safer);
        }
        told
    }

    /// The denial that the kernel carries: the rule and the offence become evidence.
    pub fn into_denial(self) -> Denial {
        let mut denial = Denial::new(self.reason).with(EvidenceRef::new(EVIDENCE_RULE, self.rule));
        if let Some(offence) = self.offence {
            denial = denial.with(EvidenceRef::new(EVIDENCE_OFFENCE, offence.text));
            if let Some(Range { start, end }) = offence.span {
                denial = denial.with(EvidenceRef::new(EVIDENCE_SPAN, format!("{start}..{end}")));
            }
        }
        if let Some(safer) = self.safer {
            denial = denial.with(EvidenceRef::new(EVIDENCE_SAFER, safer));
        }
        denial
    }
}

impl From<Denial> for Finding {
    fn from(denial: Denial) -> Self {
        let text = |kind| denial.evidence(kind).map(str::to_owned);
        let span = denial.evidence(EVIDENCE_SPAN).and_then(|span| {
            let (start, end) = span.split_once("..")?;
            Some(start.parse().ok()?..end.parse().ok()?)
        });
        Self {
            rule: text(EVIDENCE_RULE).unwrap_or_default(),
            offence: text(EVIDENCE_OFFENCE).map(|text| Offence { text, span }),
            safer: text(EVIDENCE_SAFER),
            reason: denial.reason,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.reason, self.rule)
    }
}

/// The kind of evidence that names the rule that spoke.
pub const EVIDENCE_RULE: &str = "rule";
/// The kind of evidence that quotes the offending part.
pub const EVIDENCE_OFFENCE: &str = "offence";
/// The kind of evidence that says where the offending part stands.
pub const EVIDENCE_SPAN: &str = "span";
/// The kind of evidence that names a safer way.
pub const EVIDENCE_SAFER: &str = "safer";
