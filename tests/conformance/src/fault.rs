//! Errors in neutral words: made as a scenario describes them, and described as a trace has them.

use std::error::Error;
use std::fmt;

use serde_json::{Value as Json, json};
use triplane::legacy::{
    AddMessageError, BroadcastError, BuiltinUnbound, CountersGone, ErrorGroup, LoadError,
    NoCondition, Raised, SchedulerError, SchedulerHandlerCancelled, StateCompatibilityRefused,
    StopHook, UnknownHandler, UnknownHookPoint, UnknownRunStatus, Value,
};
use triplane_kernel::{
    CancelCause, DispatchError, DispatchReport, HandlerError, HandlerFailure, HandlerOutcome,
};

use crate::fields::Fields as _;

/// The neutral kinds that a scenario can raise, with the name of each in recorded text.
const CLASSES: &[(&str, &str)] = &[
    ("value_error", "ValueError"),
    ("runtime_error", "RuntimeError"),
    ("permission_denied", "PermissionError"),
    ("key_error", "KeyError"),
    ("type_error", "TypeError"),
    ("timeout", "TimeoutError"),
    ("os_error", "OSError"),
    ("stop_hook", "StopHook"),
    ("store_refused", "StateCompatibilityRefused"),
    ("base_exception", "OracleBaseException"),
];

/// An error that a step of a scenario raises.
#[derive(Debug, Clone)]
struct Scripted {
    kind: String,
    message: String,
}

impl fmt::Display for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = CLASSES.iter().find(|(kind, _)| *kind == self.kind);
        let class = class.map_or(self.kind.as_str(), |(_, class)| class);
        write!(f, "{class}: {}", self.message)
    }
}

impl Error for Scripted {}

/// The failure that a step describes.
pub(crate) fn make(spec: &Value) -> HandlerFailure {
    let kind = spec.text("kind");
    let message = spec.text("message").to_owned();
    match kind {
        "cancelled" => HandlerFailure::Cancelled(CancelCause::Handler),
        "stop_hook" => HandlerFailure::failed(StopHook { reason: message }),
        "store_refused" => HandlerFailure::failed(StateCompatibilityRefused { what: message }),
        "group" => {
            let members: Vec<_> = spec.list("members").iter().map(make).collect();
            let ordinary = |member: &HandlerFailure| matches!(member, HandlerFailure::Failed(_));
            let is_ordinary = members.iter().all(ordinary);
            let group = ErrorGroup { message, members };
            // A group is as grave as its gravest member.
            if is_ordinary {
                HandlerFailure::failed(group)
            } else {
                HandlerFailure::fatal(group)
            }
        }
        "base_exception" => HandlerFailure::fatal(Scripted {
            kind: kind.to_owned(),
            message,
        }),
        _ => HandlerFailure::failed(Scripted {
            kind: kind.to_owned(),
            message,
        }),
    }
}

/// What an operation raised.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) described: Json,
    /// A cancellation that no handler made: its emitter's, or that of a scope around it.
    pub(crate) from_outside: bool,
    again: Again,
}

#[derive(Debug, Clone)]
enum Again {
    Cancelled(CancelCause),
    Raised(Raised),
    Scheduler(SchedulerHandlerCancelled),
    Said,
}

impl Fault {
    /// An error that the facade raises by itself, by its neutral kind.
    fn said(kind: &str, text: &impl fmt::Display) -> Self {
        Self {
            described: json!({"kind": kind, "text": text.to_string()}),
            from_outside: false,
            again: Again::Said,
        }
    }

    /// Whether no handler made the error, but the facade by itself.
    pub(crate) fn is_said(&self) -> bool {
        matches!(self.again, Again::Said)
    }

    /// The same as the failure of a handler that lets it through.
    pub(crate) fn again(&self) -> HandlerFailure {
        match &self.again {
            Again::Cancelled(cause) => HandlerFailure::Cancelled(*cause),
            Again::Raised(raised) => HandlerFailure::failed(raised.clone()),
            Again::Scheduler(cancelled) => SchedulerError::from(cancelled.clone()).into_failure(),
            Again::Said => HandlerFailure::failed(Told(self.described.clone())),
        }
    }
}

/// A fault that was described already.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
struct Told(Json);

impl From<Raised> for Fault {
    fn from(raised: Raised) -> Self {
        let cancelled = cancellation(&raised);
        Self {
            described: describe_raised(&raised),
            from_outside: matches!(cancelled, Some((_, Origin::Outside))),
            again: match cancelled {
                Some((cause, _)) => Again::Cancelled(cause),
                None => Again::Raised(raised),
            },
        }
    }
}

impl From<SchedulerError> for Fault {
    fn from(error: SchedulerError) -> Self {
        match error {
            SchedulerError::Raised(raised) => raised.into(),
            SchedulerError::HandlerCancelled(cancelled) => Self {
                described: describe_scheduler(&cancelled),
                // No handler made this very error, it is the bus that cancels whoever emitted.
                from_outside: true,
                again: Again::Scheduler(cancelled),
            },
            other => Self::said("other", &other),
        }
    }
}

macro_rules! said {
    ($($error:ty => $kind:literal),+ $(,)?) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::said($kind, &error)
            }
        })+
    };
}

said! {
    UnknownHookPoint => "value_error",
    UnknownRunStatus => "value_error",
    UnknownHandler => "key_error",
    NoCondition => "type_error",
}

impl From<StateCompatibilityRefused> for Fault {
    fn from(refused: StateCompatibilityRefused) -> Self {
        Raised::from(HandlerFailure::failed(refused)).into()
    }
}

impl From<BroadcastError> for Fault {
    fn from(error: BroadcastError) -> Self {
        match error {
            BroadcastError::Raised(raised) => raised.into(),
            other => Self::said("value_error", &other),
        }
    }
}

impl From<AddMessageError> for Fault {
    fn from(error: AddMessageError) -> Self {
        match error {
            AddMessageError::Raised(raised) => raised.into(),
            other => Self::said("runtime_error", &other),
        }
    }
}

impl From<LoadError> for Fault {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::UnknownHandler(unknown) => unknown.into(),
            other => Self::said("value_error", &other),
        }
    }
}

impl Fault {
    /// What a legacy name refuses by its type in Rust: there is no such call.
    pub(crate) fn cannot_be_written(kind: &str) -> Self {
        Self::said(kind, &"there is no such call")
    }
}

enum Origin {
    Own,
    Outside,
}

fn cancellation(raised: &Raised) -> Option<(CancelCause, Origin)> {
    let of = |cause, own: bool| {
        let own = own && cause == CancelCause::Handler;
        Some((cause, if own { Origin::Own } else { Origin::Outside }))
    };
    match (raised.dispatch(), raised.failure()) {
        (Some(DispatchError::Cancelled { cause, report }), _) => {
            of(*cause, report.raised().len() > 0)
        }
        (_, Some(HandlerFailure::Cancelled(cause))) => of(*cause, true),
        _ => None,
    }
}

pub(crate) fn describe_raised(raised: &Raised) -> Json {
    match raised.dispatch() {
        Some(DispatchError::Group { report }) => {
            let members: Vec<_> = members(report).into_iter().map(|(json, _)| json).collect();
            json!({"kind": "group", "members": members})
        }
        Some(DispatchError::Cancelled { .. }) => json!({"kind": "cancelled"}),
        Some(DispatchError::Failed { report }) => members(report)
            .into_iter()
            .next()
            .map_or(Json::Null, |(json, _)| json),
        Some(other) => json!({"kind": "other", "text": other.to_string()}),
        None => raised.failure().map_or(Json::Null, describe),
    }
}

fn describe_scheduler(cancelled: &SchedulerHandlerCancelled) -> Json {
    let report = cancelled.raised.dispatch().and_then(DispatchError::report);
    let members = report.map(members).unwrap_or_default();
    let (failures, others): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|(_, ordinary)| *ordinary);
    let only = |all: Vec<(Json, bool)>| all.into_iter().map(|(json, _)| json);
    let cause = if failures.is_empty() {
        only(others).next().unwrap_or_default()
    } else {
        json!({"kind": "group", "members": only(failures).collect::<Vec<_>>()})
    };
    json!({"kind": "scheduler_handler_cancelled", "cause": cause})
}

/// Whether a handler that waits sees the failure as a cancellation.
pub(crate) fn is_cancellation(failure: &HandlerFailure) -> bool {
    match failure {
        HandlerFailure::Cancelled(_) => true,
        HandlerFailure::Fatal(HandlerError::Error(error)) => {
            error.is::<SchedulerHandlerCancelled>()
        }
        HandlerFailure::Failed(_) | HandlerFailure::Fatal(_) => false,
    }
}

/// What a report raises, and whether each is an ordinary failure.
fn members(report: &DispatchReport) -> Vec<(Json, bool)> {
    let members = report.raised().map(|entry| match entry.outcome {
        HandlerOutcome::Failed(failure) | HandlerOutcome::PredicateFailed(failure) => (
            describe(failure),
            matches!(failure, HandlerFailure::Failed(_)),
        ),
        _ => (json!({"kind": "cancelled"}), false),
    });
    members.collect()
}

/// A failure in neutral words.
pub(crate) fn describe(failure: &HandlerFailure) -> Json {
    match failure {
        HandlerFailure::Cancelled(_) => json!({"kind": "cancelled"}),
        HandlerFailure::Failed(error) | HandlerFailure::Fatal(error) => match error {
            HandlerError::Error(error) => describe_error(&**error),
            HandlerError::Panic(message) => json!({"kind": "panic", "message": message}),
        },
    }
}

fn describe_error(error: &(dyn Error + 'static)) -> Json {
    if let Some(error) = error.downcast_ref::<Scripted>() {
        json!({"kind": error.kind, "message": error.message})
    } else if let Some(stop) = error.downcast_ref::<StopHook>() {
        json!({"kind": "stop_hook", "message": stop.reason})
    } else if let Some(refused) = error.downcast_ref::<StateCompatibilityRefused>() {
        json!({"kind": "store_refused", "message": refused.what})
    } else if let Some(group) = error.downcast_ref::<ErrorGroup>() {
        let members: Vec<_> = group.members.iter().map(describe).collect();
        json!({"kind": "group", "members": members})
    } else if let Some(raised) = error.downcast_ref::<Raised>() {
        describe_raised(raised)
    } else if let Some(cancelled) = error.downcast_ref::<SchedulerHandlerCancelled>() {
        describe_scheduler(cancelled)
    } else if let Some(told) = error.downcast_ref::<Told>() {
        told.0.clone()
    } else if error.is::<CountersGone>() {
        json!({"kind": "key_error", "text": error.to_string()})
    } else if let Some(unbound) = error.downcast_ref::<BuiltinUnbound>() {
        json!({"kind": "builtin_unbound", "name": unbound.name})
    } else {
        json!({"kind": "other", "text": error.to_string()})
    }
}

/// A recorded text such as `ValueError: no` in neutral words; any other text as it is.
pub(crate) fn describe_text(text: &str) -> Json {
    if let Some(what) = text.strip_prefix("the store refused ") {
        return json!({"kind": "store_refused", "message": what});
    }
    if let Some(reason) = text.strip_prefix("a hook asked to skip the rest: ") {
        return json!({"kind": "stop_hook", "message": reason});
    }
    if let Some(group) = group_text(text) {
        return json!(group);
    }
    let known = text.split_once(": ").and_then(|(class, message)| {
        let (kind, _) = CLASSES.iter().find(|(_, known)| *known == class)?;
        Some(json!({"kind": kind, "message": message}))
    });
    known.unwrap_or_else(|| json!(text))
}

/// How the old code wrote down a group: without its members.
fn group_text(text: &str) -> Option<String> {
    let (message, rest) = text.split_once(" (")?;
    let (count, rest) = rest.split_once(' ')?;
    let count: usize = count.parse().ok()?;
    let members = rest.strip_prefix("error")?;
    members.starts_with([':', 's']).then(|| {
        let plural = if count == 1 { "" } else { "s" };
        format!("ExceptionGroup: {message} ({count} sub-exception{plural})")
    })
}
