//! A JSON string token: what it says, and where in the token that is written.

use std::ops::Range;

use memchr::memchr;

/// A part of a string token: a run of plain bytes, or one escape.
struct Part {
    raw: Range<usize>,
    /// How many bytes the part says: as many as it is written in, unless it is an escape.
    said: usize,
}

/// Where the token that begins after the quote at `start - 1` ends: the place of its closing quote,
/// and whether it has escapes. A token that does not end ends with the text.
pub(crate) fn end_of_string(text: &[u8], start: usize) -> (usize, bool) {
    let mut at = start;
    let mut escaped = false;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &text[at.min(text.len())..]) {
        at += found;
        if text[at] == b'"' {
            return (at, escaped);
        }
        escaped = true;
        at += 2;
    }
    (text.len(), escaped)
}

/// Writes into `said` what the token's `raw` content says. A surrogate without its other half
/// becomes the three bytes that it would have alone.
pub(crate) fn decode(raw: &[u8], said: &mut Vec<u8>) {
    said.clear();
    said.reserve(raw.len());
    let mut at = 0;
    while at < raw.len() {
        at = part(raw, at, Some(said)).raw.end;
    }
}

/// Calls `raw_range` with the place in `raw` of each of the `spans` of what it says. The spans are
/// in order and do not overlap; one that begins or ends inside an escape has all of the escape.
pub(crate) fn locate(
    raw: &[u8],
    spans: &[Range<usize>],
    mut raw_range: impl FnMut(usize, Range<usize>),
) {
    let (mut at, mut said) = (0, 0);
    let mut current = part(raw, at, None);
    // Moves on until the part that holds the said byte `wanted`.
    let mut place = |wanted: usize, end: bool| {
        while said + current.said <= wanted && current.raw.end < raw.len() {
            said += current.said;
            at = current.raw.end;
            current = part(raw, at, None);
        }
        let escape = raw.get(current.raw.start) == Some(&b'\\');
        match (escape, end) {
            (true, true) => current.raw.end,
            (true, false) => current.raw.start,
            (false, _) => current.raw.start + (wanted - said) + usize::from(end),
        }
    };
    for (n, span) in spans.iter().enumerate() {
        let start = place(span.start, false);
        let end = place(span.end - 1, true);
        raw_range(n, start..end);
    }
}

/// The part at `at`, and, if wanted, what it says.
fn part(raw: &[u8], at: usize, said: Option<&mut Vec<u8>>) -> Part {
    if raw.get(at) != Some(&b'\\') {
        let open = &raw[at..];
        let plain = memchr(b'\\', open).unwrap_or(open.len());
        if let Some(said) = said {
            said.extend_from_slice(&open[..plain]);
        }
        return Part {
            raw: at..at + plain,
            said: plain,
        };
    }
    let (end, code) = escape(raw, at);
    let mut bytes = [0; 4];
    let length = encode(code, &mut bytes);
    if let Some(said) = said {
        said.extend_from_slice(&bytes[..length]);
    }
    Part {
        raw: at..end,
        said: length,
    }
}

/// The end of the escape at `at`, and the code point that it stands for.
fn escape(raw: &[u8], at: usize) -> (usize, u32) {
    let short = (at + 2).min(raw.len());
    let code = match raw.get(at + 1) {
        Some(b'u') => {
            let Some(unit) = unit(raw, at) else {
                return (short, u32::from(b'u'));
            };
            if (0xD800..0xDC00).contains(&unit)
                && let Some(low) = unit_at(raw, at + 6)
                && (0xDC00..0xE000).contains(&low)
            {
                return (at + 12, 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            }
            return (at + 6, unit);
        }
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(&other) => other,
        None => b'\\',
    };
    (short, u32::from(code))
}

fn unit_at(raw: &[u8], at: usize) -> Option<u32> {
    (raw.get(at) == Some(&b'\\') && raw.get(at + 1) == Some(&b'u')).then(|| unit(raw, at))?
}

fn unit(raw: &[u8], at: usize) -> Option<u32> {
    let digits = std::str::from_utf8(raw.get(at + 2..at + 6)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

/// UTF-8, also for a surrogate.
fn encode(code: u32, bytes: &mut [u8; 4]) -> usize {
    if let Some(character) = char::from_u32(code) {
        return character.encode_utf8(bytes).len();
    }
    let continued = |shift: u32| u8::try_from(0x80 | (code >> shift & 0x3F)).unwrap_or(0x80);
    bytes[0] = u8::try_from(0xE0 | (code >> 12)).unwrap_or(0xED);
    bytes[1] = continued(6);
    bytes[2] = continued(0);
    3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, wanted: &[u8], span: Range<usize>, place: &str) {
        let mut said = Vec::new();
        decode(raw.as_bytes(), &mut said);
        assert_eq!(said, wanted, "{raw}");
        let mut places = Vec::new();
        locate(raw.as_bytes(), &[span], |_, range| places.push(&raw[range]));
        assert_eq!(places, [place], "{raw}");
    }

    #[test]
    fn what_is_said_is_found_where_it_is_written() {
        check("abc", b"abc", 1..2, "b");
        check(r"a\nb", b"a\nb", 1..2, r"\n");
        check(r"a\u002db", b"a-b", 0..3, r"a\u002db");
        check(r"a\u002db", b"a-b", 2..3, "b");
        check(r"\ud83d\ude00x", "😀x".as_bytes(), 0..1, r"\ud83d\ude00");
        check(r"\ud83dx", b"\xed\xa0\xbdx", 3..4, "x");
        check(r#"\"\\"#, b"\"\\", 1..2, r"\\");
    }
}
