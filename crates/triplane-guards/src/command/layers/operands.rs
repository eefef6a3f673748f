//! The arguments of programs that run others: their options, and where the command starts.

use crate::command::layers::layer::{Layer, script};
use crate::command::word::{Part, Word};

/// The index of the first operand.
pub(crate) fn operand(args: &[Word], values: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.prefix();
        if text == "--" {
            return at + 1;
        }
        if !text.starts_with('-') || text == "-" {
            return at;
        }
        at += 1;
        let bundled_value = !text.starts_with("--")
            && text.len() > 2
            && values.iter().any(|value| {
                value.len() == 2
                    && text.ends_with(&value[1..])
                    && !values
                        .iter()
                        .any(|value| value.len() == 2 && text.starts_with(value))
            });
        if values.contains(&text) || bundled_value {
            at += 1;
        }
    }
    args.len()
}

pub(crate) fn values_of<'a>(
    args: &'a [Word],
    names: &'a [&'a str],
) -> impl Iterator<Item = Word> + 'a {
    args.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.prefix();
        if names.contains(&text) {
            return args.get(at + 1).cloned();
        }
        names.iter().find_map(|name| {
            let glued = text.strip_prefix(name)?;
            if name.starts_with("--") {
                glued
                    .starts_with('=')
                    .then(|| word.without_prefix(name.len() + 1))
            } else {
                (!glued.is_empty() && !text.starts_with("--"))
                    .then(|| word.without_prefix(name.len()))
            }
        })
    })
}

pub(crate) fn by_option(args: &[Word], names: &[&str]) -> Vec<Layer> {
    values_of(args, names).map(script).collect()
}

/// The text behind a cluster of short options that ends in one of `options`, such as `-Atc`.
pub(crate) fn clustered_text<'a>(
    args: &'a [Word],
    options: &'a [&'a str],
) -> impl Iterator<Item = Word> + 'a {
    args.iter().enumerate().filter_map(move |(at, word)| {
        let text = word.literal()?;
        let clustered = text.len() > 2
            && text.starts_with('-')
            && !text.starts_with("--")
            && text[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
            && options
                .iter()
                .any(|option| option.len() == 2 && text.ends_with(&option[1..]))
            && !options.iter().any(|option| text.starts_with(option));
        clustered.then(|| args.get(at + 1).cloned())?
    })
}

/// Words as one text, joined by blanks, as `eval` and `ssh` join theirs.
pub(crate) fn join(words: &[Word]) -> Option<Word> {
    let (first, rest) = words.split_first()?;
    let mut joined = first.clone();
    for word in rest {
        joined.push_str(" ");
        for part in &word.parts {
            joined.push(part.clone());
        }
    }
    if let Some(last) = rest.last() {
        joined.span.end = joined.span.end.max(last.span.end);
    }
    Some(joined)
}

/// `word` with each `hole` in its text replaced by `value`.
pub(crate) fn replaced(word: &Word, hole: &str, value: &Word) -> Word {
    let mut filled = Word {
        parts: Vec::new(),
        span: word.span.clone(),
    };
    for part in &word.parts {
        match part {
            Part::Text(text) => {
                for (nth, piece) in text.split(hole).enumerate() {
                    if nth > 0 {
                        for part in &value.parts {
                            filled.push(part.clone());
                        }
                    }
                    if !piece.is_empty() {
                        filled.push_str(piece);
                    }
                }
            }
            other => filled.push(other.clone()),
        }
    }
    filled
}

/// Whether the word names a file with this extension.
pub(crate) fn is_file(word: &Word, extension: &str) -> bool {
    word.literal()
        .and_then(|text| text.rsplit_once('.'))
        .is_some_and(|(_, last)| last == extension)
}

pub(crate) fn is_assignment(word: &Word) -> bool {
    word.prefix().split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
