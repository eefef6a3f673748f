//! Hook events, one JSON object a line.

use std::io::{self, BufRead};

use crate::source::item::{Entry, Item, Skip};
use crate::source::line::{Line, Lines};
use crate::wire::HookEvent;

/// Reads hook events from JSON lines.
#[derive(Debug)]
pub struct HooksJsonl<R> {
    lines: Lines<R>,
}

impl<R: BufRead> HooksJsonl<R> {
    /// Reads `reader`; lines longer than `line_bytes_max` are skipped.
    pub fn new(reader: R, line_bytes_max: usize) -> Self {
        Self {
            lines: Lines::new(reader, line_bytes_max),
        }
    }
}

impl<R: BufRead> Iterator for HooksJsonl<R> {
    type Item = io::Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        let max = self.lines.bytes_max();
        let (line, found) = match self.lines.next() {
            Ok(next) => next?,
            Err(error) => return Some(Err(error)),
        };
        let what = match found {
            Line::TooLong => Entry::Skipped(Skip::TooLong { max }),
            Line::Whole(bytes) => match HookEvent::read(bytes) {
                Ok(event) => Entry::Event(Box::new(event)),
                Err(unreadable) => Entry::Skipped(unreadable.into()),
            },
        };
        Some(Ok(Item { line, what }))
    }
}
