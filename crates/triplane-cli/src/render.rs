//! What people see: columns, cut and cleaned text, and output that survives a closed pipe.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes lines to standard output.
///
/// A reader that has closed the pipe is no error: the work goes on, unheard.
#[derive(Debug, Default)]
pub(crate) struct Output {
    closed: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn line(&mut self, line: impl Display) {
        if self.closed {
            return;
        }
        // Each line goes out whole and at once: whoever follows the output sees what is committed.
        if let Err(error) = writeln!(io::stdout(), "{line}") {
            self.closed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                complain(format_args!("cannot write to standard output: {error}"));
            }
        }
    }

    /// Whether the reader has gone; what is written from then on is not seen by anybody.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn json(&mut self, value: &impl serde::Serialize) {
        let text = serde_json::to_string(value).expect("rows of strings and numbers are JSON");
        self.line(text);
    }
}

/// Writes a line to standard error, if there is one to write to.
pub(crate) fn complain(line: impl Display) {
    let _unheard = writeln!(io::stderr(), "triplane: {line}");
}

/// An error and its causes, in one line. A cause that the text before it quotes is left out.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.contains(&cause) {
            said.push_str(": ");
            said.push_str(&cause);
        }
    }
    said
}

/// `text` in a column of `width` characters: control characters and line breaks as blanks, longer
/// text cut with an ellipsis.
pub(crate) fn column(text: &str, width: usize) -> String {
    let mut shown = String::with_capacity(width);
    let mut count = 0;
    for character in text.chars() {
        if count + 1 == width && text.chars().count() > width {
            shown.push('…');
            return shown;
        }
        let blank = character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
        shown.push(if blank { ' ' } else { character });
        count += 1;
    }
    shown.extend(std::iter::repeat_n(' ', width.saturating_sub(count)));
    shown
}

/// Microseconds since 1970 UTC as a date and time.
pub(crate) fn moment(us: i64) -> String {
    jiff::Timestamp::from_microsecond(us)
        .map_or_else(|_| us.to_string(), |moment| format!("{moment:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_wide_as_it_says() {
        assert_eq!(column("ab", 4), "ab  ");
        assert_eq!(column("abcd", 4), "abcd");
        assert_eq!(column("abcde", 4), "abc…");
        assert_eq!(
            column("a\nb\u{1b}[0m", 6),
            "a b [0m".chars().take(5).collect::<String>() + "…"
        );
        assert_eq!(column("東京", 3), "東京 ");
    }

    #[test]
    fn a_cause_is_said_once() {
        let error = anyhow::anyhow!("code 14").context("failed: code 14");
        assert_eq!(chain(&error), "failed: code 14");
        let error = anyhow::anyhow!("code 14").context("failed");
        assert_eq!(chain(&error), "failed: code 14");
    }

    #[test]
    fn a_moment_is_utc() {
        assert_eq!(moment(1_761_000_000_123_456), "2025-10-20T22:40:00.123Z");
    }
}
