//! Brace forms of a raw word, expanded in time linear in the word and its results.

use std::collections::HashMap;

/// The most words that one raw word may become.
pub(crate) const WORDS_MAX: usize = 512;
/// The most bytes that these may have together.
const BYTES_MAX: usize = 64 * 1024;
/// The longest number or letter sequence that is written out; of a longer one, the ends are.
const SEQUENCE_MAX: i64 = 64;

/// More words than [`WORDS_MAX`], or longer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyWords;

/// The raw words that the brace forms of `raw` stand for; quotes and expansions are kept as they
/// are.
pub(crate) fn braces(raw: &str) -> Result<Vec<String>, TooManyWords> {
    let groups = groups(raw);
    if groups.is_empty() {
        return Ok(vec![raw.to_owned()]);
    }
    Braces { raw, groups }.range(0, raw.len())
}

/// A pair of braces that belong together.
#[derive(Debug, Default)]
struct Group {
    end: usize,
    commas: Vec<usize>,
}

/// Every closed pair of unquoted braces, by where it starts.
fn groups(raw: &str) -> HashMap<usize, Group> {
    let bytes = raw.as_bytes();
    let mut groups = HashMap::new();
    let mut open: Vec<(usize, Group)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\'' => at = skip(bytes, at + 1, b'\'', at > 0 && bytes[at - 1] == b'$'),
            b'"' => at = skip(bytes, at + 1, b'"', true),
            b'`' => at = skip(bytes, at + 1, b'`', true),
            b'$' if matches!(bytes.get(at + 1), Some(b'{' | b'(')) => {
                at = nested(bytes, at + 1);
            }
            b'{' => open.push((at, Group::default())),
            b',' => {
                if let Some((_, group)) = open.last_mut() {
                    group.commas.push(at);
                }
            }
            b'}' => {
                if let Some((start, mut group)) = open.pop() {
                    group.end = at;
                    groups.insert(start, group);
                }
            }
            _ => {}
        }
        at += 1;
    }
    groups.retain(|&start, group| {
        !group.commas.is_empty() || sequence(&raw[start + 1..group.end]).is_some()
    });
    groups
}

/// The position of the closing quote, or of the end.
fn skip(bytes: &[u8], start: usize, quote: u8, escapes: bool) -> usize {
    let mut at = start;
    while at < bytes.len() && bytes[at] != quote {
        at += if escapes && bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// The position of the closer of the `(` or `{` at `start`, or of the end.
fn nested(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\'' => at = skip(bytes, at + 1, b'\'', false),
            b'"' => at = skip(bytes, at + 1, b'"', true),
            b'(' | b'{' => depth += 1,
            b')' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}

struct Braces<'r> {
    raw: &'r str,
    groups: HashMap<usize, Group>,
}

impl Braces<'_> {
    fn range(&self, start: usize, end: usize) -> Result<Vec<String>, TooManyWords> {
        let mut words = vec![String::new()];
        let mut literal = start;
        let mut at = start;
        while at < end {
            let Some(group) = self.groups.get(&at) else {
                at += 1;
                continue;
            };
            let members = self.members(at, group)?;
            let before = &self.raw[literal..at];
            let bytes = |words: &[String]| words.iter().map(String::len).sum::<usize>();
            let count = words.len() * members.len();
            let together = bytes(&words) * members.len()
                + bytes(&members) * words.len()
                + before.len() * count;
            if count > WORDS_MAX || together > BYTES_MAX {
                return Err(TooManyWords);
            }
            words = words
                .iter()
                .flat_map(|word| {
                    members
                        .iter()
                        .map(move |member| format!("{word}{before}{member}"))
                })
                .collect();
            at = group.end + 1;
            literal = at;
        }
        let rest = &self.raw[literal.min(end)..end];
        if words.len() > 1 && words.len() * rest.len() > BYTES_MAX {
            return Err(TooManyWords);
        }
        for word in &mut words {
            word.push_str(rest);
        }
        Ok(words)
    }

    fn members(&self, start: usize, group: &Group) -> Result<Vec<String>, TooManyWords> {
        if group.commas.is_empty() {
            return Ok(sequence(&self.raw[start + 1..group.end]).unwrap_or_default());
        }
        let mut members = Vec::new();
        let mut from = start + 1;
        for &to in group.commas.iter().chain([&group.end]) {
            members.extend(self.range(from, to)?);
            if members.len() > WORDS_MAX {
                return Err(TooManyWords);
            }
            from = to + 1;
        }
        Ok(members)
    }
}

/// The members of `1..9`, `a..e` or `1..9..2`.
fn sequence(inner: &str) -> Option<Vec<String>> {
    let mut parts = inner.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    if let Some(step) = parts.next() {
        step.parse::<i64>().ok()?;
    }
    if parts.next().is_some() {
        return None;
    }
    if let (Ok(low), Ok(high)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let (low, high) = (low.min(high), low.max(high));
        let short = high
            .checked_sub(low)
            .is_some_and(|length| length < SEQUENCE_MAX);
        return Some(if short {
            (low..=high).map(|n| n.to_string()).collect()
        } else {
            vec![from.to_owned(), to.to_owned()]
        });
    }
    let letter = |text: &str| {
        let mut chars = text.chars();
        let first = chars.next().filter(char::is_ascii_alphabetic)?;
        chars.next().is_none().then_some(first)
    };
    let (low, high) = (letter(from)?, letter(to)?);
    Some((low.min(high)..=low.max(high)).map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brace_forms_are_expanded_as_the_shell_has_it() {
        let check = |raw: &str, wanted: &[&str]| assert_eq!(braces(raw).unwrap(), wanted, "{raw}");
        check("a{b,c}d", &["abd", "acd"]);
        check("{rm,-rf,/data}", &["rm", "-rf", "/data"]);
        check("{a,b{1,2}}", &["a", "b1", "b2"]);
        check("{1..3}", &["1", "2", "3"]);
        check("{c..a}", &["a", "b", "c"]);
        check("{1..100000}", &["1", "100000"]);
        check("{a}", &["{a}"]);
        check("{}", &["{}"]);
        check("{a,", &["{a,"]);
        check("{a,{b,c}", &["{a,b", "{a,c"]);
        check("'{a,b}'", &["'{a,b}'"]);
        check("\"{a,b}\"", &["\"{a,b}\""]);
        check("\\{a,b}", &["\\{a,b}"]);
        check("${a:-{b,c}}", &["${a:-{b,c}}"]);
        check("$(echo {a,b})", &["$(echo {a,b})"]);
        check("{$(a b),c}", &["$(a b)", "c"]);
        check("{,x}", &["", "x"]);
    }

    #[test]
    fn unclosed_and_multiplying_braces_are_bounded() {
        let open = "{".repeat(60_000);
        assert_eq!(braces(&open).unwrap(), [open]);
        assert_eq!(braces(&"{1..9}".repeat(5)), Err(TooManyWords));
        assert_eq!(
            braces(&"{99999999999999999999..1}".repeat(2))
                .unwrap()
                .len(),
            1
        );
    }
}
