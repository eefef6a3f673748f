//! A strict JSON reader that keeps, for every value, the text it was written in.
//!
//! One pass, linear in the length of the text apart from the check for repeated keys
//! (`n log n` in the keys of one object); recursion is bounded by [`DEPTH_MAX`]. Strings are
//! checked here and decoded when somebody asks. A lone surrogate escape is valid by the grammar
//! of JSON; decoded, it becomes U+FFFD.

use std::borrow::Cow;

use crate::wire::node::{Found, Kind, Node, decode};
use crate::wire::unreadable::Fault;

/// The deepest nesting that is read. The outermost value has depth 1.
const DEPTH_MAX: usize = 128;

/// Which parts of a value become nodes of their own.
///
/// Everything is checked alike; what is not kept costs no memory. A node takes 48 bytes, so a long
/// line of `[1,1,…]` would take twenty times its length if every part were kept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    /// Every part.
    All,
    /// The fields of the outermost object.
    Fields,
    /// The fields of the outermost object and, six levels down, of what stands under `message` and
    /// `content`: a transcript's blocks and the blocks within those.
    Blocks,
}

impl Keep {
    fn levels(self) -> usize {
        match self {
            Self::All => DEPTH_MAX,
            Self::Fields => 1,
            Self::Blocks => 6,
        }
    }

    fn leads_into(self, key: &str) -> bool {
        match self {
            Self::All => true,
            Self::Fields => false,
            Self::Blocks => matches!(key, "message" | "content"),
        }
    }
}

/// Reads the one value that `text` holds, and keeps the parts that `keep` says.
pub(crate) fn parse(text: &str, keep: Keep) -> Result<Node<'_>, Found> {
    let mut parser = Parser { text, at: 0, keep };
    parser.skip_space();
    if parser.at == text.len() {
        return Err((Fault::Empty, 0));
    }
    let root = parser.value(1, keep.levels())?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err((Fault::Trailing, parser.at));
    }
    Ok(root)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    keep: Keep,
}

impl<'a> Parser<'a> {
    /// `kept` is the number of levels, this one included, whose parts are kept.
    fn value(&mut self, depth: usize, kept: usize) -> Result<Node<'a>, Found> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth, kept)?,
            Some(b'[') => self.array(depth, kept)?,
            Some(b'"') => {
                self.string()?;
                Kind::String
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Kind::Number
            }
            Some(b't') => self.word("true", Kind::Bool)?,
            Some(b'f') => self.word("false", Kind::Bool)?,
            Some(b'n') => self.word("null", Kind::Null)?,
            _ => return Err(self.expected("a value")),
        };
        Ok(Node {
            raw: &self.text[start..self.at],
            offset: start,
            kind,
        })
    }

    fn object(&mut self, depth: usize, kept: usize) -> Result<Kind<'a>, Found> {
        let start = self.open(depth)?;
        let mut keys: Vec<Cow<'a, str>> = Vec::new();
        let mut nodes = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(Vec::new()));
        }
        loop {
            self.skip_space();
            let key_at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in quotes"));
            }
            self.string()?;
            let key = decode(&self.text[key_at + 1..self.at - 1]);
            // Up to a handful of keys, comparing each with each is faster than sorting them.
            if keys.len() < FEW_KEYS && keys.contains(&key) {
                return Err((repeated(&key), key_at));
            }
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.expected("`:`"));
            }
            self.at += 1;
            self.skip_space();
            let kept_below = if self.keep.leads_into(&key) {
                kept.saturating_sub(1)
            } else {
                0
            };
            let node = self.value(depth + 1, kept_below)?;
            keys.push(key);
            if kept > 0 {
                nodes.push(node);
            }
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.expected("`,` or `}`")),
            }
        }
        self.at += 1;
        if keys.len() > FEW_KEYS {
            let mut keys: Vec<&str> = keys.iter().map(Cow::as_ref).collect();
            keys.sort_unstable();
            if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err((repeated(pair[0]), start));
            }
        }
        Ok(Kind::Object(keys.into_iter().zip(nodes).collect()))
    }

    fn array(&mut self, depth: usize, kept: usize) -> Result<Kind<'a>, Found> {
        self.open(depth)?;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            self.skip_space();
            let node = self.value(depth + 1, kept.saturating_sub(1))?;
            if kept > 0 {
                items.push(node);
            }
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.expected("`,` or `]`")),
            }
        }
        self.at += 1;
        Ok(Kind::Array(items))
    }

    /// Steps over an opening bracket, unless it opens one level too many.
    fn open(&mut self, depth: usize) -> Result<usize, Found> {
        if depth > DEPTH_MAX {
            return Err((Fault::TooDeep { max: DEPTH_MAX }, self.at));
        }
        self.at += 1;
        Ok(self.at - 1)
    }

    /// Steps over a string, opening quote to closing quote, and checks its escapes.
    fn string(&mut self) -> Result<(), Found> {
        self.at += 1;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            self.at += plain.unwrap_or(rest.len());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                            self.at += 1;
                        }
                        Some(b'u') => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                                    return Err(self.expected("four hexadecimal digits"));
                                }
                                self.at += 1;
                            }
                        }
                        _ => return Err(self.expected("an escape")),
                    }
                }
                Some(_) => return Err(self.expected("no control character in a string")),
                None => return Err((Fault::Cut, self.at)),
            }
        }
    }

    fn number(&mut self) -> Result<(), Found> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Found> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.expected("a digit"));
        }
        Ok(())
    }

    fn word(&mut self, word: &'static str, kind: Kind<'a>) -> Result<Kind<'a>, Found> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(kind);
        }
        if word.as_bytes().starts_with(rest) {
            return Err((Fault::Cut, self.text.len()));
        }
        Err(self.expected("a value"))
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The fault of this place: cut off at the end of the text, wrong anywhere else.
    fn expected(&self, expected: &'static str) -> Found {
        if self.at >= self.text.len() {
            (Fault::Cut, self.text.len())
        } else {
            (Fault::Syntax { expected }, self.at)
        }
    }
}

const FEW_KEYS: usize = 16;

fn repeated(key: &str) -> Fault {
    const SHOWN_MAX: usize = 64;
    Fault::RepeatedKey {
        key: key.chars().take(SHOWN_MAX).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, fault: Fault, at: usize) {
        assert_eq!(
            parse(text, Keep::All).map(|_| ()),
            Err((fault, at)),
            "{text}"
        );
    }

    fn syntax(expected: &'static str) -> Fault {
        Fault::Syntax { expected }
    }

    #[test]
    fn a_fault_names_its_place() {
        check("", Fault::Empty, 0);
        check(" \n", Fault::Empty, 0);
        check("{", Fault::Cut, 1);
        check(r#"{"a""#, Fault::Cut, 4);
        check(r#"{"a":tr"#, Fault::Cut, 7);
        check(r#""abc"#, Fault::Cut, 4);
        check("{} {}", Fault::Trailing, 3);
        check("truex", Fault::Trailing, 4);
        check("01", Fault::Trailing, 1);
        check("-", Fault::Cut, 1);
        check("1.x", syntax("a digit"), 2);
        check("[1,]", syntax("a value"), 3);
        check(r#"{"a":1,}"#, syntax("a key in quotes"), 7);
        check("{a:1}", syntax("a key in quotes"), 1);
        check("\"\t\"", syntax("no control character in a string"), 1);
        check(r#""\x""#, syntax("an escape"), 2);
        check(r#""\u12g4""#, syntax("four hexadecimal digits"), 5);
    }

    #[test]
    fn a_repeated_key_is_found_at_any_level_and_in_any_spelling() {
        check(r#"{"a":1,"a":2}"#, repeated("a"), 7);
        check(r#"{"x":[{"a":1,"\u0061":2}]}"#, repeated("a"), 13);
        let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":0")).collect();
        check(
            &format!("{{{},\"k7\":1}}", many.join(",")),
            repeated("k7"),
            0,
        );
        assert!(parse(r#"{"a":{"a":1},"b":{"a":1}}"#, Keep::All).is_ok());
    }

    #[test]
    fn nesting_is_bounded_and_never_overflows_the_stack() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(&nested(DEPTH_MAX), Keep::All).is_ok());
        check(
            &nested(DEPTH_MAX + 1),
            Fault::TooDeep { max: DEPTH_MAX },
            DEPTH_MAX,
        );
        check(
            &"[".repeat(1_000_000),
            Fault::TooDeep { max: DEPTH_MAX },
            DEPTH_MAX,
        );
        check(
            &r#"{"a":"#.repeat(20_000),
            Fault::TooDeep { max: DEPTH_MAX },
            5 * DEPTH_MAX,
        );
    }

    fn json_like() -> impl Strategy<Value = String> {
        let token = prop_oneof![
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just(":"),
            Just("\"a\""),
            Just("\"b\\ud800\""),
            Just("\""),
            Just("\\"),
            Just("u00e9"),
            Just("true"),
            Just("null"),
            Just("-0"),
            Just("1.5"),
            Just("e9"),
            Just(" "),
            Just("é"),
        ];
        prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
    }

    proptest! {
        #[test]
        fn what_is_read_here_is_json_to_others_too(text in json_like()) {
            let ours = parse(&text, Keep::Fields).map(|_| ());
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text);
            match ours {
                Ok(()) => prop_assert!(theirs.is_ok(), "{text}"),
                Err((Fault::RepeatedKey { .. }, _)) => {}
                Err(_) => prop_assert!(theirs.is_err(), "{text}"),
            }
        }

        #[test]
        fn a_decoded_string_is_what_others_decode(text in any::<String>()) {
            let written = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(parse(&written, Keep::All).unwrap().text().unwrap(), text);
        }
    }
}
