//! The SQL splitter.

use std::time::Duration;

use crate::command::sql::{Dialect, SqlAct, acts};
use crate::command::word::Word;
use crate::fuzz::watch::timed;

/// Splits `input` into statements, as either kind of client would.
///
/// # Panics
///
/// Panics when the splitter does, when a comment or a string becomes a statement of its own, or when
/// a statement is lost behind what stands before it.
pub fn sql(input: &[u8]) -> Duration {
    let text = String::from_utf8_lossy(input);
    let read = |text: &str, dialect| acts(&Word::text(text, 0..0), dialect);
    let mut longest = Duration::ZERO;
    for dialect in [Dialect::Standard, Dialect::MySql] {
        let (_, took) = timed(|| read(&text, dialect));
        longest = longest.max(took);
    }
    let line: String = text
        .chars()
        .filter(|c| !matches!(c, '\n' | '\r' | '\\'))
        .collect();
    let comment = read(&format!("-- {line}"), Dialect::Standard);
    assert!(comment.is_empty(), "a comment is {comment:?}");
    let string = line.replace('\'', "''");
    let quoted = read(&format!("SELECT '{string}'"), Dialect::Standard);
    let one =
        matches!(quoted.as_slice(), [SqlAct::Statement { words, .. }] if words == &["select"]);
    assert!(one, "a string is {quoted:?}");
    let behind = read(&format!("SELECT '{string}'; TRUNCATE t"), Dialect::Standard);
    let found = behind.iter().any(|act| {
        matches!(act, SqlAct::Statement { words, .. } if words.first().is_some_and(|word| word == "truncate"))
    });
    assert!(found, "behind a string stands {behind:?}");
    longest
}
