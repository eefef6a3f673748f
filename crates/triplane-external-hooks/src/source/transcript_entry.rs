//! From one entry of a Claude Code transcript to the events it holds.
//!
//! | entry | block | event |
//! |---|---|---|
//! | `assistant` | `tool_use` | `PreToolUse` |
//! | `user` | `tool_result` | `PostToolUse`; `PostToolUseFailure` if `is_error` |
//! | `user` | text, where no `tool_result` stands beside it | `UserPromptSubmit` |
//!
//! Text beside a result is the harness's own remark (an interruption, a reminder), and so are
//! entries marked `isMeta`, summaries of what was compacted, and the echo of local commands: none
//! of them is a prompt.
//!
//! An event is written as the JSON object that a hook would have been sent, from the very text of
//! the entry: numbers, escapes and lone surrogates stay as they were.

use std::borrow::Cow;

use serde_json::Value;

use crate::wire::{Fault, HookEvent, Kind, Node, Place, Unreadable};

/// The beginnings of texts that stand in a user's entry but were not typed as a prompt.
const NOT_A_PROMPT: &[&str] = &[
    "<command-name>",
    "<command-message>",
    "<command-args>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "[Request interrupted by user",
];

/// One entry of a transcript.
pub(crate) struct TranscriptEntry<'n, 'a> {
    root: &'n Node<'a>,
    digest: [u8; 32],
}

/// What a block of an entry's message is to us.
pub(crate) enum Block<'n, 'a> {
    Call(&'n Node<'a>),
    Result(&'n Node<'a>),
    Prompt(Cow<'a, str>),
}

impl<'n, 'a> TranscriptEntry<'n, 'a> {
    pub(crate) fn new(root: &'n Node<'a>, digest: [u8; 32]) -> Self {
        Self { root, digest }
    }

    pub(crate) fn kind(&self) -> Option<Cow<'a, str>> {
        self.root.get("type")?.text()
    }

    pub(crate) fn session(&self) -> Option<Cow<'a, str>> {
        self.root.get("sessionId")?.text()
    }

    /// Whether the entry has what an event that stands on it needs: a session and an id.
    pub(crate) fn can_stand_for_its_session(&self) -> bool {
        self.session().is_some()
            && self
                .root
                .get("uuid")
                .is_some_and(|uuid| uuid.text().is_some())
    }

    /// The blocks of the entry's message that hold an event.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] when the entry has no message with content.
    pub(crate) fn blocks(&self) -> Result<Vec<Block<'n, 'a>>, Unreadable> {
        let content = self
            .root
            .get("message")
            .and_then(|message| message.get("content"));
        let Some(content) = content else {
            return Err(unreadable(Fault::Missing, "message.content"));
        };
        let from_user = self.kind().is_some_and(|kind| kind == "user");
        let blocks = match &content.kind {
            Kind::String => return Ok(self.prompt(content.text()).into_iter().collect()),
            Kind::Array(blocks) => blocks,
            _ => {
                let wanted = "a string or an array";
                let found = content.found();
                return Err(unreadable(
                    Fault::WrongType { wanted, found },
                    "message.content",
                ));
            }
        };
        let of_kind = |wanted: &'static str| {
            blocks
                .iter()
                .filter(move |block| kind_of(block).is_some_and(|kind| kind == wanted))
        };
        if !from_user {
            return Ok(of_kind("tool_use").map(Block::Call).collect());
        }
        let results: Vec<_> = of_kind("tool_result").map(Block::Result).collect();
        if !results.is_empty() {
            return Ok(results);
        }
        let texts: Vec<_> = of_kind("text")
            .filter_map(|b| b.get("text")?.text())
            .collect();
        let holds_a_picture = of_kind("image").chain(of_kind("document")).next().is_some();
        let text = match texts.as_slice() {
            [] if holds_a_picture => Some(Cow::Borrowed("")),
            [] => None,
            _ => Some(Cow::Owned(texts.join("\n"))),
        };
        Ok(self.prompt(text).into_iter().collect())
    }

    fn prompt(&self, text: Option<Cow<'a, str>>) -> Option<Block<'n, 'a>> {
        let is = |mark| self.root.get(mark).is_some_and(Node::is_true);
        let text = text?;
        let typed = !is("isMeta")
            && !is("isCompactSummary")
            && self.kind().is_some_and(|kind| kind == "user")
            && !NOT_A_PROMPT
                .iter()
                .any(|start| text.trim_start().starts_with(start));
        typed.then_some(Block::Prompt(text))
    }

    /// The event that the session began or ended with this entry.
    pub(crate) fn milestone(&self, name: &str) -> Draft {
        self.draft(name)
    }

    pub(crate) fn submitted(&self, prompt: &str) -> Result<HookEvent, Unreadable> {
        self.draft("UserPromptSubmit").text("prompt", prompt).read()
    }

    pub(crate) fn proposed(&self, call: &Node<'_>) -> Result<HookEvent, Unreadable> {
        self.draft("PreToolUse")
            .raw("tool_name", call.get("name"))
            .raw("tool_input", call.get("input"))
            .raw("tool_use_id", Some(id_of(call, "id")?))
            .read()
    }

    /// `tool` is the name of the tool, if the call has been seen.
    pub(crate) fn answered(
        &self,
        result: &Node<'_>,
        tool: Option<&str>,
    ) -> Result<HookEvent, Unreadable> {
        let call = id_of(result, "tool_use_id")?;
        let failed = result.get("is_error").is_some_and(Node::is_true);
        let name = if failed {
            "PostToolUseFailure"
        } else {
            "PostToolUse"
        };
        let mut event = self.draft(name).raw("tool_use_id", Some(call));
        if let Some(tool) = tool {
            event = event.text("tool_name", tool);
        }
        let content = result.get("content");
        event = match (failed, content) {
            (true, content) => event.text("error", &plain_text(content)),
            (false, content) => event.raw("tool_response", content),
        };
        event.read()
    }

    /// Begins an event with what every event of this entry carries.
    fn draft(&self, name: &str) -> Draft {
        let field = |key| self.root.get(key);
        let mut event = Draft::new(self.digest)
            .text("hook_event_name", name)
            .raw("session_id", field("sessionId"))
            .raw("cwd", field("cwd"))
            .raw("uuid", field("uuid"))
            .raw("timestamp", field("timestamp"));
        if field("isSidechain").is_some_and(Node::is_true) {
            event = match field("agentId") {
                Some(agent) => event.raw("agent_id", Some(agent)),
                // Older builds mark a subagent's entries without naming it.
                None => event.text("agent_id", "sidechain"),
            };
            event = event.raw("isSidechain", field("isSidechain"));
        }
        event
    }
}

/// The id that a call and its result share.
pub(crate) fn id_of<'n, 'a>(
    block: &'n Node<'a>,
    key: &'static str,
) -> Result<&'n Node<'a>, Unreadable> {
    match block.get(key) {
        Some(id) if id.text().is_some_and(|id| !id.is_empty()) => Ok(id),
        _ => Err(unreadable(Fault::Missing, key)),
    }
}

fn kind_of<'a>(block: &Node<'a>) -> Option<Cow<'a, str>> {
    block.get("type")?.text()
}

/// The text of a result's content: itself, or its text blocks.
fn plain_text(content: Option<&Node<'_>>) -> String {
    let Some(content) = content else {
        return String::new();
    };
    match &content.kind {
        Kind::String => content.text().unwrap_or_default().into_owned(),
        Kind::Array(blocks) => {
            let texts: Vec<_> = blocks
                .iter()
                .filter_map(|b| b.get("text")?.text())
                .collect();
            texts.join("\n")
        }
        _ => content.raw.to_owned(),
    }
}

fn unreadable(fault: Fault, field: &'static str) -> Unreadable {
    Unreadable {
        fault,
        place: Place::Field(field),
        event: None,
    }
}

/// An event in the making: a JSON object that is not closed yet.
#[derive(Debug)]
pub(crate) struct Draft {
    text: String,
    digest: [u8; 32],
}

impl Draft {
    fn new(digest: [u8; 32]) -> Self {
        let text = String::new();
        Self { text, digest }
    }

    /// Adds a field whose value stands in the entry; an absent one is left out.
    fn raw(mut self, key: &str, node: Option<&Node<'_>>) -> Self {
        if let Some(node) = node {
            self.key(key);
            self.text.push_str(node.raw);
        }
        self
    }

    fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.text.push_str(&Value::from(value).to_string());
        self
    }

    fn key(&mut self, key: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push('"');
        self.text.push_str(key);
        self.text.push_str("\":");
    }

    /// Closes the object and reads it like any other event.
    pub(crate) fn read(mut self) -> Result<HookEvent, Unreadable> {
        self.text.push('}');
        HookEvent::from_entry(&self.text, self.digest)
    }
}
