//! One call of a session, put together from what is on record of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use triplane::state::{DeliveryRecord, OperationRecord};
use triplane_external_hooks::HookEvent;

use crate::cmd::session::result::{CallResult, Halves, ResultState};
use crate::cmd::session::told::event_of;

/// A call in the order of its session. Its form as JSON is what `--json` and `--export` write.
#[derive(Debug, Serialize)]
pub(crate) struct Call {
    pub(crate) session: String,
    pub(crate) sequence: u64,
    pub(crate) operation: String,
    pub(crate) identity: String,
    pub(crate) event: String,
    pub(crate) tool: Option<String>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) occurred_at_us: i64,
    /// Nothing when only the end of the call is on record.
    pub(crate) decision: Option<String>,
    pub(crate) enforcement: Option<String>,
    pub(crate) rule: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) notes: Option<Box<RawValue>>,
    /// As they were proposed.
    pub(crate) arguments: Option<Box<RawValue>>,
    /// As a rewrite has left them.
    pub(crate) arguments_after: Option<Box<RawValue>>,
    pub(crate) result: CallResult,
    /// The deliveries of the proposal.
    pub(crate) deliveries: Vec<DeliveryRecord>,
}

/// The stored body of a call that a runtime performed itself.
#[derive(Deserialize)]
struct PerformedBody {
    arguments: Value,
    #[serde(default)]
    error: Option<String>,
}

impl Call {
    /// The call that `operation` is about, or nothing when it is about none, or is the end of a call
    /// that stands at its proposal.
    pub(crate) fn of(mut operation: OperationRecord, halves: &Halves) -> Option<Self> {
        if operation.payload_type == "action.call" {
            return Some(Self::performed(operation));
        }
        let event = event_of(&operation);
        if operation.evidence.is_some() {
            let result = halves.result(&operation);
            return Some(Self::proposed(operation, event.as_ref(), result));
        }
        let state = ResultState::told_by(&operation.event)?;
        if halves.has_proposal(&operation) {
            return None;
        }
        let end = CallResult::told(state, operation.clone());
        operation.deliveries.clear();
        Some(Self::proposed(operation, event.as_ref(), end))
    }

    fn proposed(operation: OperationRecord, event: Option<&HookEvent>, result: CallResult) -> Self {
        let arguments = event.and_then(HookEvent::tool_input).and_then(raw);
        let tool_use_id = event.and_then(HookEvent::tool_use_id);
        Self::new(operation, tool_use_id.map(str::to_owned), arguments, result)
    }

    fn performed(operation: OperationRecord) -> Self {
        let payload = operation.payload.as_ref();
        let body: Option<PerformedBody> =
            payload.and_then(|payload| serde_json::from_str(payload.get()).ok());
        let (arguments, error) = match body {
            Some(body) => (raw(&body.arguments), body.error),
            None => (None, None),
        };
        let state = match operation.outcome.as_str() {
            "succeeded" => ResultState::Succeeded,
            "failed" => ResultState::Failed,
            "cancelled" => ResultState::Cancelled,
            _denied => ResultState::NoResult,
        };
        // Why it was denied stands with the decision.
        let error = error.filter(|_| state != ResultState::NoResult);
        Self::new(operation, None, arguments, CallResult::of(state, error))
    }

    fn new(
        operation: OperationRecord,
        tool_use_id: Option<String>,
        arguments: Option<Box<RawValue>>,
        result: CallResult,
    ) -> Self {
        let evidence = operation.evidence;
        let (before, after) = evidence.as_ref().map_or((None, None), |evidence| {
            let (before, after) = (&evidence.arguments_before, &evidence.arguments_after);
            (before.clone(), after.clone())
        });
        Self {
            session: operation.session,
            sequence: operation.sequence,
            operation: operation.id,
            identity: operation.identity,
            event: operation.event,
            tool: operation.subject,
            tool_use_id,
            occurred_at_us: operation.occurred_at_us,
            decision: evidence.as_ref().map(|it| it.decision.clone()),
            enforcement: evidence.as_ref().map(|it| it.enforcement.clone()),
            rule: evidence.as_ref().and_then(|it| it.rule.clone()),
            reason: evidence.as_ref().and_then(|it| it.reason.clone()),
            notes: evidence.and_then(|it| it.notes),
            // What a rewrite kept is what the guards saw.
            arguments: before.or(arguments),
            arguments_after: after,
            result,
            deliveries: operation.deliveries,
        }
    }

    /// The decision in a word: one that came too late to be kept says what it would have been.
    pub(crate) fn decided(&self) -> &'static str {
        let enforced = self.enforcement.as_deref() == Some("enforced");
        match (self.decision.as_deref(), enforced) {
            (None, _) => "not asked",
            (Some("denied"), true) => "denied",
            (Some("denied"), false) => "would deny",
            (Some("rewritten"), true) => "rewritten",
            (Some("rewritten"), false) => "would rewrite",
            (Some(_allowed), _) => "allowed",
        }
    }

    /// Every delivery of the call, those of its proposal and those of its end.
    pub(crate) fn all_deliveries(&self) -> impl Iterator<Item = &DeliveryRecord> {
        self.deliveries.iter().chain(&self.result.deliveries)
    }
}

fn raw(value: &Value) -> Option<Box<RawValue>> {
    to_raw_value(value).ok()
}
