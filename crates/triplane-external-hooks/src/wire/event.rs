//! One hook event, read from the text that a harness wrote.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;
use serde_json::value::RawValue;
use triplane_interception::{ToolCall, Workspace};

use crate::catalog::{CallRole, EventSpec, Harness, Phase, Refusal};
use crate::format::Format;
use crate::wire::fields::{Fields, text_of};
use crate::wire::json::{Keep, parse};
use crate::wire::node::{Found, Kind, Node};
use crate::wire::unreadable::{Fault, Place, Unreadable};

/// The session that an event without a `session_id` is booked under. Such an event is judged like
/// any other: a missing id is no reason to let a call pass.
pub const UNKNOWN_SESSION: &str = "unknown";

/// One event of a session, in the shape that harnesses send to hooks.
///
/// A value that exists has been read strictly: one JSON object, no key twice at any level, nested
/// at most 128 deep, the fields that triplane uses of the right type, and, where a call is
/// proposed, a tool and its arguments. Unknown fields are kept in [`HookEvent::original`].
///
/// Strings are decoded; a lone surrogate escape (`\ud800`) reads as U+FFFD, while the original
/// text keeps it.
///
/// ```
/// use triplane_external_hooks::HookEvent;
///
/// let event = HookEvent::read(
///     br#"{"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/srv/app",
///          "tool_name": "Bash", "tool_input": {"command": "ls"}}"#,
/// )?;
/// assert_eq!(event.name(), "PreToolUse");
/// assert_eq!(event.tool_name(), Some("Bash"));
///
/// let twice = HookEvent::read(br#"{"hook_event_name": "Stop", "hook_event_name": "PreToolUse"}"#);
/// assert!(twice.is_err());
/// # Ok::<(), triplane_external_hooks::Unreadable>(())
/// ```
#[derive(Debug, Clone)]
pub struct HookEvent {
    original: Box<RawValue>,
    format: Format,
    entry_digest: Option<[u8; 32]>,
    spec: Option<&'static EventSpec>,
    name: String,
    session: Option<String>,
    cwd: Option<String>,
    tool: Option<String>,
    proposed: Option<Value>,
    call_id: Option<String>,
    agent: Option<String>,
    entry: Option<String>,
    occurred_at_us: Option<i64>,
    stop_hook_active: bool,
    prompt: Option<Range<usize>>,
    error: Option<Range<usize>>,
    response: Option<Range<usize>>,
}

impl HookEvent {
    /// Reads one event: the bytes hold one JSON object and nothing else but white space. A
    /// byte-order mark before it is stepped over.
    ///
    /// Time is linear in the length of the text; no text overflows the stack.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] for everything that is not one event, with the fault and its place; see
    /// [`Fault`] for the list. Where the name of the event could be read, the error carries it, so
    /// that the refusal can take that event's form.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let (text, base) = text_of(bytes)?;
        Self::from_text(text, base, Format::Hooks, None)
    }

    /// Reads an event that was built from an entry of a transcript.
    pub(crate) fn from_entry(text: &str, entry_digest: [u8; 32]) -> Result<Self, Unreadable> {
        Self::from_text(text, 0, Format::ClaudeTranscript, Some(entry_digest))
    }

    fn from_text(
        text: &str,
        base: usize,
        format: Format,
        entry_digest: Option<[u8; 32]>,
    ) -> Result<Self, Unreadable> {
        let at = |(fault, byte): Found| Unreadable::new(fault, Place::Byte(base + byte));
        let root = parse(text, Keep::Fields).map_err(at)?;
        let Kind::Object(fields) = &root.kind else {
            let found = root.found();
            return Err(at((Fault::NotAnObject { found }, root.offset)));
        };
        let fields = Fields::new(fields, root.offset, base);
        let name = fields
            .text("hook_event_name")?
            .ok_or_else(|| Unreadable::new(Fault::Missing, Place::Field("hook_event_name")))?;
        Self::from_fields(name.clone(), &fields, root.raw, format, entry_digest).map_err(|error| {
            Unreadable {
                event: Some(name),
                ..error
            }
        })
    }

    fn from_fields(
        name: String,
        fields: &Fields<'_, '_>,
        original: &str,
        format: Format,
        entry_digest: Option<[u8; 32]>,
    ) -> Result<Self, Unreadable> {
        let spec = EventSpec::find(&name);
        let tool = fields.text("tool_name")?;
        let role = match spec {
            Some(spec) => spec.call,
            None if tool.is_some() && fields.get("tool_input").is_some() => CallRole::Proposes,
            None => CallRole::Absent,
        };
        let proposed = match role {
            CallRole::Proposes if tool.is_none() => {
                return Err(Unreadable::new(Fault::Missing, Place::Field("tool_name")));
            }
            CallRole::Proposes => Some(fields.arguments()?),
            CallRole::Reports | CallRole::Absent => None,
        };
        Ok(Self {
            // The second reader of the same text: both must agree that it is JSON.
            original: RawValue::from_string(original.to_owned())
                .map_err(|_| Unreadable::new(Fault::Syntax { expected: "JSON" }, Place::Byte(0)))?,
            format,
            entry_digest,
            spec,
            name,
            session: fields.text("session_id")?,
            cwd: fields.text("cwd")?,
            tool,
            proposed,
            call_id: fields.text("tool_use_id")?,
            agent: fields.text("agent_id")?,
            entry: fields.text("uuid")?,
            occurred_at_us: fields.get("timestamp").and_then(moment),
            stop_hook_active: fields.get("stop_hook_active").is_some_and(Node::is_true),
            prompt: fields.get("prompt").map(|node| fields.span(node)),
            error: fields.get("error").map(|node| fields.span(node)),
            response: fields.get("tool_response").map(|node| fields.span(node)),
        })
    }

    /// The name of the event, for example `PreToolUse`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The catalogue's entry for the event, if it is a known one.
    pub fn spec(&self) -> Option<&'static EventSpec> {
        self.spec
    }

    /// When the event is sent. An unknown event that carries a call is taken for a proposal.
    pub fn phase(&self) -> Phase {
        match (self.spec, &self.proposed) {
            (Some(spec), _) => spec.phase,
            (None, Some(_)) => Phase::Before,
            (None, None) => Phase::Notice,
        }
    }

    /// Whether `harness` is known to honour a refusal of this event. For an event that it does not
    /// send, this is not known: `false`.
    pub fn can_block(&self, harness: Harness) -> bool {
        self.spec
            .and_then(|spec| spec.refusal(harness))
            .is_some_and(|refusal| refusal != Refusal::Impossible)
    }

    /// The format that the event came in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The session, unique among those of one harness; [`UNKNOWN_SESSION`] when none is named.
    pub fn session_id(&self) -> &str {
        self.session.as_deref().unwrap_or(UNKNOWN_SESSION)
    }

    /// The folder that the agent works in.
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref().map(Path::new)
    }

    /// The tool that a call is proposed for or reported of.
    pub fn tool_name(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The arguments of a proposed call: an object, a string or an array. `None` if the event
    /// proposes no call.
    pub fn tool_input(&self) -> Option<&Value> {
        self.proposed.as_ref()
    }

    /// What the tool answered, as JSON text.
    pub fn tool_response(&self) -> Option<&str> {
        self.response.clone().map(|span| &self.original.get()[span])
    }

    /// The harness's id of the call, unique within the session.
    pub fn tool_use_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The subagent that the event stems from, if it is not the main agent.
    pub fn agent_id(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// What the user asked for, if it is text.
    pub fn prompt(&self) -> Option<Cow<'_, str>> {
        self.decoded(self.prompt.as_ref())
    }

    /// Why a call failed, if it is text.
    pub fn error(&self) -> Option<Cow<'_, str>> {
        self.decoded(self.error.as_ref())
    }

    /// The id of the transcript entry that the event stands on, unique within the session.
    pub fn entry_uuid(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    /// When it happened, in microseconds since 1970 UTC, if the event says so.
    pub fn occurred_at_us(&self) -> Option<i64> {
        self.occurred_at_us
    }

    /// Whether the agent goes on only because a hook has refused to let it stop before. Refusing
    /// once more may never end.
    pub fn stop_hook_active(&self) -> bool {
        self.stop_hook_active
    }

    /// The event as it was written, a JSON object, byte for byte but for white space around it.
    pub fn original(&self) -> &RawValue {
        &self.original
    }

    /// Takes the original out, to store it without a copy.
    pub fn into_original(self) -> Box<RawValue> {
        self.original
    }

    /// The call that the event proposes, to be judged within `workspace`. `None` if it proposes
    /// none; an event that only reports a call is no proposal.
    pub fn tool_call(&self, workspace: Workspace) -> Option<ToolCall> {
        let arguments = self.proposed.clone()?;
        Some(ToolCall {
            session: self.session_id().to_owned(),
            agent: self.agent.clone(),
            tool: self.tool.clone().unwrap_or_default(),
            arguments,
            call_id: self.call_id.clone(),
            cwd: self.cwd.as_ref().map(PathBuf::from),
            workspace,
        })
    }

    /// The digest of the transcript entry that the event was built from.
    pub(crate) fn entry_digest(&self) -> Option<[u8; 32]> {
        self.entry_digest
    }

    fn decoded(&self, span: Option<&Range<usize>>) -> Option<Cow<'_, str>> {
        parse(&self.original.get()[span?.clone()], Keep::Fields)
            .ok()?
            .text()
    }
}

fn moment(node: &Node<'_>) -> Option<i64> {
    let moment: jiff::Timestamp = node.text()?.parse().ok()?;
    Some(moment.as_microsecond())
}
