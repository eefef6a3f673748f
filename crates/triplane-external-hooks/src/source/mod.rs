//! Recorded sessions, read entry by entry, whatever their size.
//!
//! A [`Source`] is an iterator over the [`Item`]s of a file: events, entries without an event, and
//! what had to be skipped, each with the number of its line. A line that cannot be read never
//! ends the reading: it is an item like any other, and whoever reads decides whether to go on.
//!
//! Memory is bounded by the longest line that is accepted (three to four times that, while one is
//! read) and, for transcripts, by fixed numbers of calls and sessions that are remembered.
//!
//! What the counts of a run are made of: every [`Entry::Event`] is one event; [`Entry::Skipped`]
//! is a line that could not be read or an entry of an unknown type; [`Entry::WithoutEvent`] is a
//! known entry that holds no event. One transcript entry may yield several events. Blank lines
//! yield nothing.

mod item;
mod line;
mod recent;
mod hooks_jsonl;
mod draft;
mod transcript_entry;
mod claude_transcript;
mod guess;

use std::io::{self, BufRead};

pub use claude_transcript::ClaudeTranscript;
pub use guess::guess;
pub use hooks_jsonl::HooksJsonl;
pub use item::{Entry, Item, Skip};

use crate::format::Format;

/// The longest line that is read unless told otherwise: 16 MiB.
pub const LINE_BYTES_MAX: usize = 16 << 20;

/// A recorded session of either format.
///
/// ```
/// use triplane_external_hooks::{Entry, Format, Source, source};
///
/// let file: &[u8] = b"{\"hook_event_name\":\"Stop\",\"session_id\":\"s1\"}\n{\"hook_ev";
/// let format = source::guess(file, source::LINE_BYTES_MAX)?.unwrap_or(Format::Hooks);
/// for item in Source::new(file, format, source::LINE_BYTES_MAX) {
///     let item = item?;
///     match item.what {
///         Entry::Event(event) => println!("line {}: {}", item.line, event.name()),
///         Entry::Skipped(skip) => println!("line {}: {skip}", item.line),
///         Entry::WithoutEvent => {}
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub enum Source<R> {
    /// Hook events, one a line.
    Hooks(HooksJsonl<R>),
    /// A transcript of Claude Code.
    ClaudeTranscript(ClaudeTranscript<R>),
}

impl<R: BufRead> Source<R> {
    /// Reads `reader` as `format`; lines longer than `line_bytes_max` are skipped.
    pub fn new(reader: R, format: Format, line_bytes_max: usize) -> Self {
        match format {
            Format::Hooks => Self::Hooks(HooksJsonl::new(reader, line_bytes_max)),
            Format::ClaudeTranscript => {
                Self::ClaudeTranscript(ClaudeTranscript::new(reader, line_bytes_max))
            }
        }
    }
}

impl<R: BufRead> Iterator for Source<R> {
    type Item = io::Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Hooks(source) => source.next(),
            Self::ClaudeTranscript(source) => source.next(),
        }
    }
}
