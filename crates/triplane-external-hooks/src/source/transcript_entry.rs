//! From one entry of a Claude Code transcript to the events it holds.
//!
//! An event is written as the JSON object that a hook would have been sent, from the very text of
//! the entry: numbers, escapes and lone surrogates stay as they were.

use std::borrow::Cow;

use crate::source::draft::Draft;
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
    Prompt(Words<'n, 'a>),
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
            return Err(Unreadable::new(
                Fault::Missing,
                Place::Field("message.content"),
            ));
        };
        let blocks = match &content.kind {
            Kind::String => &[],
            Kind::Array(blocks) => blocks.as_slice(),
            _ => {
                let wanted = "a string or an array";
                let found = content.found();
                return Err(Unreadable::new(
                    Fault::WrongType { wanted, found },
                    Place::Field("message.content"),
                ));
            }
        };
        if self.kind().is_none_or(|kind| kind != "user") {
            return Ok(of_kind(blocks, "tool_use").map(Block::Call).collect());
        }
        let results: Vec<_> = of_kind(blocks, "tool_result").map(Block::Result).collect();
        if !results.is_empty() {
            return Ok(results);
        }
        let holds_a_picture = of_kind(blocks, "image").next().is_some();
        let words = Words::of(content).or(holds_a_picture.then(Words::none));
        let prompt = words.filter(|words| self.was_typed(&words.text()));
        Ok(prompt.map(Block::Prompt).into_iter().collect())
    }

    fn was_typed(&self, text: &str) -> bool {
        let is = |mark| self.root.get(mark).is_some_and(Node::is_true);
        let text = text.trim_start();
        !is("isMeta")
            && !is("isCompactSummary")
            && !NOT_A_PROMPT.iter().any(|start| text.starts_with(start))
    }

    /// The event that the session began or ended with this entry.
    pub(crate) fn milestone(&self, name: &str) -> Draft {
        self.draft(name)
    }

    pub(crate) fn submitted(&self, prompt: &Words<'_, '_>) -> Result<HookEvent, Unreadable> {
        prompt
            .write(self.draft("UserPromptSubmit"), "prompt")
            .read()
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
        event = if failed {
            let words = content.and_then(Words::of).unwrap_or_else(Words::none);
            words.write(event, "error")
        } else {
            event.raw("tool_response", content)
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
        _ => Err(Unreadable::new(Fault::Missing, Place::Field(key))),
    }
}

/// The text of a message or a result, as it was written wherever it is one string.
pub(crate) enum Words<'n, 'a> {
    Written(&'n Node<'a>),
    Joined(String),
}

impl<'n, 'a> Words<'n, 'a> {
    fn none() -> Self {
        Self::Joined(String::new())
    }

    /// The text of `content`: itself, or its text blocks.
    fn of(content: &'n Node<'a>) -> Option<Self> {
        let blocks = match &content.kind {
            Kind::String => return Some(Self::Written(content)),
            Kind::Array(blocks) => blocks,
            _ => return None,
        };
        let texts: Vec<_> = of_kind(blocks, "text")
            .filter_map(|block| block.get("text"))
            .filter(|text| matches!(text.kind, Kind::String))
            .collect();
        match texts.as_slice() {
            [] => None,
            [text] => Some(Self::Written(text)),
            texts => {
                let texts: Vec<_> = texts.iter().filter_map(|text| text.text()).collect();
                Some(Self::Joined(texts.join("\n")))
            }
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Written(node) => node.text().unwrap_or_default(),
            Self::Joined(text) => Cow::Borrowed(text),
        }
    }

    fn write(&self, event: Draft, key: &str) -> Draft {
        match self {
            Self::Written(node) => event.raw(key, Some(node)),
            Self::Joined(text) => event.text(key, text),
        }
    }
}

fn of_kind<'n, 'a>(
    blocks: &'n [Node<'a>],
    wanted: &'static str,
) -> impl Iterator<Item = &'n Node<'a>> {
    blocks.iter().filter(move |block| {
        let kind = block.get("type").and_then(Node::text);
        kind.is_some_and(|kind| kind == wanted)
    })
}
