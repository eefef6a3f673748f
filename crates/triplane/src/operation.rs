//! The order of one operation. Read this file first.
//!
//! ```text
//! authorize / intercept the proposed operation          the plan           (interception)
//!   -> perform it, or deny it                            the owner
//!   -> take secrets out of what will be kept             the redaction
//!   -> participants stage evidence and intents           the unit of work   (state)
//!   -> commit outcome and staged rows atomically         the store          (state)
//!   -> emit the immutable observation                    from the receipt   (signals)
//!   -> sinks convey the committed intents                the delivery worker
//! ```
//!
//! A denial takes the same road: it is an outcome, committed with its evidence and observed. No
//! guard, policy or observer runs over a signal. Guards and the action see, and the caller is
//! answered with, what was really said; from the redaction on there is only what may be kept.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use triplane_interception::{
    Action, ActionExecutor, Executed, Finding, Judged, Outcome, ToolCall, ToolCallDecision,
    ToolCallPlan,
};
use triplane_kernel::Scope;
use triplane_signals::{EmitterRole, Payload, SessionObservation, Signal, SignalKind};
use triplane_state::commit::{
    CommitParticipant, FactIdentity, Judgement, PendingFact, Repeat, Rewrite,
};
use triplane_state::{Committed, Receipt, Store, Submitted};
use uuid::Uuid;

use crate::error::RuntimeError;
use crate::event::{AgentEvent, Enforcement};
use crate::redaction::{Account, Hiding, Redaction};

/// What an operation needs on its way.
pub(crate) struct Operations {
    pub(crate) plan: Arc<ToolCallPlan>,
    pub(crate) executor: ActionExecutor,
    pub(crate) redaction: Redaction,
    pub(crate) participants: Vec<Arc<dyn CommitParticipant>>,
    pub(crate) store: Store,
    pub(crate) observation: SessionObservation,
}

/// The answer to a proposed event, and where it stands on record.
#[derive(Debug)]
pub struct Decided {
    /// How it was judged; an event that proposes nothing is allowed and has no notes.
    pub judged: Judged,
    /// The commit.
    pub committed: Committed,
}

/// An event that was judged and queued for the store, in the order of the calls.
///
/// Awaiting [`recorded`](Pending::recorded) waits for the commit and then emits the observation.
/// Dropping it loses neither: the fact is committed all the same, but nobody in this process
/// observes it.
#[must_use]
pub struct Pending {
    judged: Judged,
    submitted: Submitted,
    signal: UnsentSignal,
    operations: Arc<Operations>,
}

/// A signal that waits for the receipt of its commit.
struct UnsentSignal {
    kind: SignalKind,
    occurred_at_us: i64,
    emitter: EmitterRole,
    payload: Payload,
}

impl Operations {
    /// Intercepts the event and queues its outcome; the caller performs what was allowed.
    pub(crate) async fn submit(
        self: &Arc<Self>,
        event: AgentEvent,
        scope: &Scope,
    ) -> Result<Pending, RuntimeError> {
        let judged = match &event.call {
            Some(call) => self.plan.judge(Arc::clone(call), scope).await?,
            None => Judged {
                decision: ToolCallDecision::Allowed,
                notes: Vec::new(),
            },
        };
        let hiding = Hiding::new(&self.redaction, event.subject.as_deref());
        let fact = fact_of_event(event, &judged, hiding);
        self.queue(fact, judged).await
    }

    /// Intercepts a call, performs it if it may happen, and commits how it ended.
    pub(crate) async fn call(
        self: &Arc<Self>,
        action: &Action,
        call: ToolCall,
        scope: &Scope,
    ) -> Result<Outcome, RuntimeError> {
        let call = Arc::new(call);
        let occurred_at_us = now_us();
        let Executed { judged, outcome } = self
            .executor
            .execute(action, Arc::clone(&call), scope)
            .await;
        let hiding = Hiding::new(&self.redaction, Some(&call.tool));
        let fact = fact_of_call(&call, judged.as_ref(), &outcome, occurred_at_us, hiding)?;
        let judged = judged.unwrap_or(Judged {
            decision: ToolCallDecision::Allowed,
            notes: Vec::new(),
        });
        self.queue(fact, judged).await?.recorded().await?;
        Ok(outcome)
    }

    async fn queue(
        self: &Arc<Self>,
        fact: PendingFact,
        judged: Judged,
    ) -> Result<Pending, RuntimeError> {
        let signal = UnsentSignal {
            kind: fact.kind,
            occurred_at_us: fact.occurred_at_us,
            emitter: fact.emitter,
            payload: fact.payload.clone(),
        };
        let mut unit = self.store.begin(fact);
        for participant in &self.participants {
            unit.stage(participant.as_ref())?;
        }
        let submitted = unit.submit().await?;
        Ok(Pending {
            judged,
            submitted,
            signal,
            operations: Arc::clone(self),
        })
    }

    async fn observe(&self, signal: UnsentSignal, receipt: &Receipt) {
        if self.observation.is_empty() {
            return;
        }
        let UnsentSignal {
            kind,
            occurred_at_us,
            emitter,
            payload,
        } = signal;
        for stored in receipt.signals() {
            let signal = Arc::new(Signal {
                id: stored.id,
                kind,
                session: stored.session.clone(),
                sequence: Some(stored.sequence),
                occurred_at_us,
                emitter,
                invocation: None,
                payload: payload.clone(),
            });
            match self.observation.emit(&signal, &Scope::new()).await {
                Ok(report) => {
                    for (observer, failure) in report.failures() {
                        tracing::warn!(%observer, %failure, signal = %signal.id, "an observer failed");
                    }
                }
                Err(error) => tracing::warn!(%error, signal = %signal.id, "nobody observed"),
            }
        }
    }
}

impl Pending {
    /// How the event was judged.
    pub fn judged(&self) -> &Judged {
        &self.judged
    }

    /// Waits for the commit, then emits the observation of what it wrote.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::State`] when the store refused the commit; nothing was written then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future does not undo the commit; the observation may not be emitted.
    pub async fn recorded(self) -> Result<Decided, RuntimeError> {
        let Self {
            judged,
            submitted,
            signal,
            operations,
        } = self;
        let committed = submitted.receipt().await?;
        if let Committed::Recorded(receipt) = &committed {
            operations.observe(signal, receipt).await;
        }
        Ok(Decided { judged, committed })
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("judged", &self.judged)
            .finish_non_exhaustive()
    }
}

/// The stored body of an event: what was told, and how it was judged.
#[derive(Serialize)]
struct EventBody<'a> {
    event: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    judgement: Option<JudgementBody<'a>>,
    redaction: Account,
}

#[derive(Serialize)]
struct JudgementBody<'a> {
    decision: &'a str,
    enforcement: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The stored body of a call that this process performed.
#[derive(Serialize)]
struct CallBody<'a> {
    tool: &'a str,
    arguments: Box<RawValue>,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    redaction: Account,
}

fn fact_of_event(event: AgentEvent, judged: &Judged, mut hiding: Hiding<'_>) -> PendingFact {
    let AgentEvent {
        session,
        name,
        subject,
        call,
        identity,
        repeat,
        occurred_at_us,
        enforcement,
        payload,
    } = event;
    let payload = hiding.json("/event", payload);
    let judgement = call
        .map(|call| judgement_of(judged, enforcement, Some(&call)))
        .map(|judgement| hiding.judgement(judgement));
    let (outcome, kind, emitter) = match (&judgement, enforcement) {
        (Some(_), Enforcement::Enforced) => (
            judged.decision.as_str(),
            kind_of(&judged.decision),
            EmitterRole::Owner,
        ),
        // What a provider tells of its own doing is an observation, whatever we think of it.
        _ => (
            "observed",
            SignalKind::ProviderObserved,
            EmitterRole::Provider,
        ),
    };
    let body = to_raw_value(&EventBody {
        event: &payload,
        judgement: judgement.as_ref().map(|judgement| JudgementBody {
            decision: &judgement.decision,
            enforcement: &judgement.enforcement,
            rule: judgement.rule.as_deref(),
            reason: judgement.reason.as_deref(),
        }),
        redaction: hiding.account(),
    })
    .expect("strings and valid JSON are written without an error");
    PendingFact {
        operation: Uuid::now_v7(),
        identity,
        repeat,
        session,
        event: name,
        subject,
        outcome: outcome.to_owned(),
        occurred_at_us,
        judgement,
        kind,
        emitter,
        payload: Payload {
            payload_type: "agent.event".to_owned(),
            version: 1,
            body: body.into(),
        },
    }
}

fn fact_of_call(
    call: &ToolCall,
    judged: Option<&Judged>,
    outcome: &Outcome,
    occurred_at_us: i64,
    mut hiding: Hiding<'_>,
) -> Result<PendingFact, RuntimeError> {
    let operation = Uuid::now_v7();
    let (value, error) = match outcome {
        Outcome::Succeeded(value) => (Some(raw(value)), None),
        Outcome::Denied(finding) => (None, Some(finding.to_string())),
        other => (None, Some(other.to_string())),
    };
    let arguments = hiding.json("/arguments", raw(&call.arguments));
    let value = value.map(|value| hiding.json("/value", value));
    let error = error.map(|error| hiding.text("/error", error));
    let judgement = judged
        .map(|judged| judgement_of(judged, Enforcement::Enforced, Some(call)))
        .map(|judgement| hiding.judgement(judgement));
    let body = to_raw_value(&CallBody {
        tool: &call.tool,
        arguments,
        outcome: outcome.as_str(),
        value,
        error,
        redaction: hiding.account(),
    })
    .map_err(RuntimeError::Payload)?;
    let kind = match outcome {
        Outcome::Succeeded(_) => SignalKind::OperationSucceeded,
        Outcome::Denied(_) => SignalKind::OperationDenied,
        Outcome::Failed(_) => SignalKind::OperationFailed,
        Outcome::Cancelled(_) => SignalKind::OperationCancelled,
    };
    Ok(PendingFact {
        operation,
        // Each call is a fact of its own; nobody tells it a second time.
        identity: FactIdentity {
            key: format!("{}/call/{operation}", call.session),
            shape: "operation".to_owned(),
            digest: operation.simple().to_string(),
        },
        repeat: Repeat::SameContent,
        session: call.session.clone(),
        event: "Call".to_owned(),
        subject: Some(call.tool.clone()),
        outcome: outcome.as_str().to_owned(),
        occurred_at_us,
        judgement,
        kind,
        emitter: EmitterRole::Owner,
        payload: Payload {
            payload_type: "action.call".to_owned(),
            version: 1,
            body: body.into(),
        },
    })
}

fn judgement_of(judged: &Judged, enforcement: Enforcement, call: Option<&ToolCall>) -> Judgement {
    let (rule, reason, rewrite) = match &judged.decision {
        ToolCallDecision::Allowed => (None, None, None),
        ToolCallDecision::Denied(finding) => (
            Some(finding.rule.clone()),
            Some(finding.reason.clone()),
            None,
        ),
        ToolCallDecision::Rewritten {
            arguments,
            rule,
            reason,
        } => {
            let rewrite = call.map(|call| Rewrite {
                before: raw(&call.arguments),
                after: raw(arguments),
            });
            (Some(rule.clone()), Some(reason.clone()), rewrite)
        }
    };
    Judgement {
        decision: judged.decision.as_str().to_owned(),
        enforcement: enforcement.as_str().to_owned(),
        rule,
        reason,
        notes: notes_of(judged),
        rewrite,
    }
}

/// The notes as a JSON array, with what a denial pointed at as one of them.
fn notes_of(judged: &Judged) -> Option<String> {
    #[derive(Serialize)]
    struct Note<'a> {
        rule: &'a str,
        reason: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        offence: Option<&'a str>,
        /// Where the offence stands, in bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        span: Option<[usize; 2]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        safer: Option<&'a str>,
    }
    fn note(finding: &Finding) -> Note<'_> {
        Note {
            rule: &finding.rule,
            reason: &finding.reason,
            offence: finding
                .offence
                .as_ref()
                .map(|offence| offence.text.as_str()),
            span: finding
                .offence
                .as_ref()
                .and_then(|offence| offence.span.as_ref())
                .map(|span| [span.start, span.end]),
            safer: finding.safer.as_deref(),
        }
    }
    let denied = match &judged.decision {
        ToolCallDecision::Denied(finding) => Some(note(finding)),
        ToolCallDecision::Allowed | ToolCallDecision::Rewritten { .. } => None,
    };
    let notes: Vec<Note<'_>> = denied
        .into_iter()
        .chain(judged.notes.iter().map(note))
        .collect();
    if notes.is_empty() {
        return None;
    }
    Some(raw(&notes).get().to_owned())
}

fn kind_of(decision: &ToolCallDecision) -> SignalKind {
    match decision {
        ToolCallDecision::Allowed => SignalKind::OperationAllowed,
        ToolCallDecision::Rewritten { .. } => SignalKind::OperationRewritten,
        ToolCallDecision::Denied(_) => SignalKind::OperationDenied,
    }
}

fn now_us() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).expect("JSON values and strings are written without an error")
}
