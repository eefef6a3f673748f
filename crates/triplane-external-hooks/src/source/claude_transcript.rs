//! The session transcript that Claude Code writes, as a stream of hook events.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use sha2::{Digest, Sha256};

use crate::source::draft::Draft;
use crate::source::item::{Entry, Item, Skip};
use crate::source::line::{Line, Lines};
use crate::source::recent::Recent;
use crate::source::transcript_entry::{Block, TranscriptEntry, id_of};
use crate::wire::{Fault, HookEvent, Keep, Place, Unreadable, parse, text_of};

/// Entries that are known to hold no event.
const WITHOUT_EVENT: &[&str] = &["system", "summary", "attachment", "queue-operation"];

/// So many calls are remembered until their results come; a result does not name its tool.
const PENDING_CALLS_MAX: usize = 1 << 16;

/// A call whose id and tool are longer than this together is not remembered: a count alone would
/// not bound the memory.
const PENDING_CALL_BYTES_MAX: usize = 256;

/// So many sessions of one file are followed at a time.
const SESSIONS_MAX: usize = 1 << 12;

/// An entry whose session, folder and ids are longer than this together stands for no session.
const LAST_ENTRY_BYTES_MAX: usize = 8 << 10;

/// Reads the events of a transcript.
///
/// | entry | block | event |
/// |---|---|---|
/// | `assistant` | `tool_use` | `PreToolUse` |
/// | `user` | `tool_result` | `PostToolUse`; `PostToolUseFailure` if `is_error` |
/// | `user` | text, where no `tool_result` stands beside it | `UserPromptSubmit` |
///
/// Text beside a result is the harness's own remark (an interruption, a reminder), and so are
/// entries marked `isMeta`, summaries of what was compacted, and the echo of local commands: none
/// of them is a prompt.
///
/// The first entry of a session that carries a session and a `uuid` yields `SessionStart`, ahead of
/// what the entry itself holds, and the last one `SessionEnd`, when the file ends; both carry that
/// entry's `uuid`, so a file that has grown records one further `SessionEnd` and nothing twice.
/// They come on top of the entry: a first `system` entry is still an entry without an event.
///
/// A call whose result does not come within the next 65,536 open calls is forgotten, and its
/// result then names no tool. Of more than 4,096 sessions that alternate in one file, those that
/// have been silent for longest are ended early.
#[derive(Debug)]
pub struct ClaudeTranscript<R> {
    lines: Lines<R>,
    ready: VecDeque<Item>,
    pending: Recent<String>,
    sessions: Recent<LastEntry>,
    ended: bool,
}

impl<R: BufRead> ClaudeTranscript<R> {
    /// Reads `reader`; lines longer than `line_bytes_max` are skipped.
    pub fn new(reader: R, line_bytes_max: usize) -> Self {
        Self {
            lines: Lines::new(reader, line_bytes_max),
            ready: VecDeque::new(),
            pending: Recent::new(PENDING_CALLS_MAX),
            sessions: Recent::new(SESSIONS_MAX),
            ended: false,
        }
    }

    /// Reads the next line into `ready`; at the end, what the last entries stand for.
    fn read_on(&mut self) -> io::Result<()> {
        let max = self.lines.bytes_max();
        match self.lines.next()? {
            None => {
                self.ended = true;
                self.ready
                    .extend(self.sessions.drain().into_iter().map(LastEntry::end));
            }
            Some((line, Line::TooLong)) => self.ready.push_back(Item {
                line,
                what: Entry::Skipped(Skip::TooLong { max }),
            }),
            Some((line, Line::Whole(bytes))) => {
                let mut found = Found {
                    line,
                    ready: &mut self.ready,
                    pending: &mut self.pending,
                    sessions: &mut self.sessions,
                };
                if let Err(skip) = found.entry(bytes) {
                    found.push(Entry::Skipped(skip));
                }
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for ClaudeTranscript<R> {
    type Item = io::Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.ended {
            if let Err(error) = self.read_on() {
                return Some(Err(error));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

/// Where the finds of one line go.
struct Found<'s> {
    line: u64,
    ready: &'s mut VecDeque<Item>,
    pending: &'s mut Recent<String>,
    sessions: &'s mut Recent<LastEntry>,
}

impl Found<'_> {
    fn entry(&mut self, bytes: &[u8]) -> Result<(), Skip> {
        let (text, base) = text_of(bytes)?;
        let root = parse(text, Keep::Blocks)
            .map_err(|(fault, byte)| Unreadable::new(fault, Place::Byte(base + byte)))?;
        let entry = TranscriptEntry::new(&root, Sha256::digest(root.raw).into());
        let kind = entry
            .kind()
            .ok_or_else(|| Unreadable::new(Fault::Missing, Place::Field("type")))?;
        let blocks = match kind.as_ref() {
            "user" | "assistant" => entry.blocks()?,
            known if WITHOUT_EVENT.contains(&known) => Vec::new(),
            unknown => return Err(Skip::UnknownType(unknown.chars().take(64).collect())),
        };
        if entry.can_stand_for_its_session() {
            self.stand_for_session(&entry);
        }
        if blocks.is_empty() {
            self.push(Entry::WithoutEvent);
        }
        for block in blocks {
            let what = match self.block(&entry, block) {
                Ok(event) => Entry::Event(Box::new(event)),
                Err(unreadable) => Entry::Skipped(unreadable.into()),
            };
            self.push(what);
        }
        Ok(())
    }

    fn block(
        &mut self,
        entry: &TranscriptEntry<'_, '_>,
        block: Block<'_, '_>,
    ) -> Result<HookEvent, Unreadable> {
        match block {
            Block::Prompt(text) => entry.submitted(&text),
            Block::Call(call) => {
                let event = entry.proposed(call)?;
                if let (Some(call), Some(tool)) = (event.tool_use_id(), event.tool_name())
                    && call.len() + tool.len() <= PENDING_CALL_BYTES_MAX
                {
                    self.pending.insert(call.to_owned(), tool.to_owned());
                }
                Ok(event)
            }
            Block::Result(result) => {
                let call = id_of(result, "tool_use_id")?.text().unwrap_or_default();
                let tool = self.pending.remove(&call);
                entry.answered(result, tool.as_deref())
            }
        }
    }

    /// Notes that the session of `entry` began no later and ended no earlier than with it.
    fn stand_for_session(&mut self, entry: &TranscriptEntry<'_, '_>) {
        let last = LastEntry {
            line: self.line,
            end: entry.milestone("SessionEnd"),
        };
        if last.end.bytes() > LAST_ENTRY_BYTES_MAX {
            return;
        }
        let session = entry.session().unwrap_or_default();
        if let Some(known) = self.sessions.touch(&session) {
            *known = last;
            return;
        }
        let silent = self.sessions.insert(session.into_owned(), last);
        self.ready.extend(silent.into_iter().map(LastEntry::end));
        let start = read(entry.milestone("SessionStart"));
        self.push(start);
    }

    fn push(&mut self, what: Entry) {
        let line = self.line;
        self.ready.push_back(Item { line, what });
    }
}

/// The entry that a session would end with if nothing more came.
#[derive(Debug)]
struct LastEntry {
    line: u64,
    end: Draft,
}

impl LastEntry {
    fn end(self) -> Item {
        Item {
            line: self.line,
            what: read(self.end),
        }
    }
}

fn read(draft: Draft) -> Entry {
    match draft.read() {
        Ok(event) => Entry::Event(Box::new(event)),
        Err(unreadable) => Entry::Skipped(unreadable.into()),
    }
}
