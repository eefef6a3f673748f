//! Telling the format of a recorded session by looking at it.

use std::io::{self, BufRead};

use crate::format::Format;
use crate::source::line::{Line, Lines};
use crate::wire::{Keep, Kind, parse, text_of};

/// The format of the first line that tells one; `None` if no line does.
///
/// A hook event has a `hook_event_name`; a transcript entry has none, and a `type`. Lines that
/// cannot be read tell nothing. The reader is left behind the line that told.
///
/// # Errors
///
/// What the reader says.
pub fn guess(reader: impl BufRead, line_bytes_max: usize) -> io::Result<Option<Format>> {
    let mut lines = Lines::new(reader, line_bytes_max);
    while let Some((_, line)) = lines.next()? {
        if let Line::Whole(bytes) = line
            && let Some(format) = format_of(bytes)
        {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

fn format_of(line: &[u8]) -> Option<Format> {
    let (text, _) = text_of(line).ok()?;
    let root = parse(text, Keep::Fields).ok()?;
    let is_text = |key| matches!(root.get(key).map(|node| &node.kind), Some(Kind::String));
    if is_text("hook_event_name") {
        Some(Format::Hooks)
    } else if is_text("type") {
        Some(Format::ClaudeTranscript)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, wanted: Option<Format>) {
        assert_eq!(guess(file.as_bytes(), 100).unwrap(), wanted, "{file}");
    }

    #[test]
    fn the_first_line_that_tells_decides() {
        check(
            r#"{"hook_event_name":"Stop","type":"x"}"#,
            Some(Format::Hooks),
        );
        check(
            "\u{feff}{\"hook_event_name\":\"Stop\"}",
            Some(Format::Hooks),
        );
        check(
            r#"{"type":"summary","summary":"x"}"#,
            Some(Format::ClaudeTranscript),
        );
        let cut_first = "{\"type\":\"us\n[]\n\n{\"type\":\"user\"}\n{\"hook_event_name\":\"Stop\"}";
        check(cut_first, Some(Format::ClaudeTranscript));
        check("", None);
        check("not json\n{}\n{\"type\":7}\n", None);
        let long = format!(
            "{{\"type\":\"{}\"}}\n{{\"hook_event_name\":\"Stop\"}}",
            "x".repeat(200)
        );
        check(&long, Some(Format::Hooks));
    }
}
