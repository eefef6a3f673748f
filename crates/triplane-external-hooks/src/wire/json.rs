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

/// Reads the one value that `text` holds.
pub(crate) fn parse(text: &str) -> Result<Node<'_>, Found> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_space();
    if parser.at == text.len() {
        return Err((Fault::Empty, 0));
    }
    let root = parser.value(1)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err((Fault::Trailing, parser.at));
    }
    Ok(root)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: usize) -> Result<Node<'a>, Found> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
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

    fn object(&mut self, depth: usize) -> Result<Kind<'a>, Found> {
        let start = self.open(depth)?;
        let mut fields: Vec<(Cow<'a, str>, Node<'a>)> = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(fields));
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
            if fields.len() < FEW_KEYS && fields.iter().any(|(other, _)| *other == key) {
                return Err((repeated(&key), key_at));
            }
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.expected("`:`"));
            }
            self.at += 1;
            self.skip_space();
            let node = self.value(depth + 1)?;
            fields.push((key, node));
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.expected("`,` or `}`")),
            }
        }
        self.at += 1;
        if fields.len() > FEW_KEYS {
            let mut keys: Vec<&str> = fields.iter().map(|(key, _)| key.as_ref()).collect();
            keys.sort_unstable();
            if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err((repeated(pair[0]), start));
            }
        }
        Ok(Kind::Object(fields))
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'a>, Found> {
        self.open(depth)?;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
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
                Some(0..0x20) => return Err(self.expected("no control character in a string")),
                Some(_) => self.at += 1,
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

    fn check(text: &str, wanted: Result<&str, Found>) {
        let got = parse(text).and_then(|node| node.to_value());
        assert_eq!(
            got.map(|value| value.to_string()),
            wanted.map(str::to_owned),
            "{text}"
        );
    }

    fn syntax(expected: &'static str, at: usize) -> Result<&'static str, Found> {
        Err((Fault::Syntax { expected }, at))
    }

    fn repeated(key: &str, at: usize) -> Result<&'static str, Found> {
        Err((super::repeated(key), at))
    }

    #[test]
    fn a_value_is_read_with_its_numbers_and_escapes() {
        check(
            r#" {"b": [1, -0.5e3, true] , "a": null} "#,
            Ok(r#"{"a":null,"b":[1,-500.0,true]}"#),
        );
        check(r#""\u00e9\ud83d\ude80\n\/""#, Ok(r#""é🚀\n/""#));
        check("9007199254740993", Ok("9007199254740993"));
        check("18446744073709551615", Ok("18446744073709551615"));
        check("{}", Ok("{}"));
        check("[]", Ok("[]"));
    }

    #[test]
    fn a_lone_surrogate_is_replaced_and_its_text_is_kept() {
        check(r#""\ud800""#, Ok("\"\u{fffd}\""));
        check(r#""\udc00x""#, Ok("\"\u{fffd}x\""));
        check(r#""\ud800\ud83d\ude80""#, Ok("\"\u{fffd}🚀\""));
        check(r#""\ud800\u0041""#, Ok("\"\u{fffd}A\""));
        check(r#""\ud800\n""#, Ok("\"\u{fffd}\\n\""));
        assert_eq!(
            parse(r#" "\ud800" "#).map(|node| node.raw).ok(),
            Some(r#""\ud800""#)
        );
    }

    #[test]
    fn a_fault_names_its_place() {
        check("", Err((Fault::Empty, 0)));
        check(" \n", Err((Fault::Empty, 0)));
        check("{", Err((Fault::Cut, 1)));
        check(r#"{"a""#, Err((Fault::Cut, 4)));
        check(r#"{"a":tr"#, Err((Fault::Cut, 7)));
        check(r#""abc"#, Err((Fault::Cut, 4)));
        check("{} {}", Err((Fault::Trailing, 3)));
        check("truex", Err((Fault::Trailing, 4)));
        check("01", Err((Fault::Trailing, 1)));
        check("-", Err((Fault::Cut, 1)));
        check("1.x", syntax("a digit", 2));
        check("[1,]", syntax("a value", 3));
        check(r#"{"a":1,}"#, syntax("a key in quotes", 7));
        check("{a:1}", syntax("a key in quotes", 1));
        check("\"\t\"", syntax("no control character in a string", 1));
        check(r#""\x""#, syntax("an escape", 2));
        check(r#""\u12g4""#, syntax("four hexadecimal digits", 5));
        check("1e999", Err((Fault::NumberOutOfRange, 0)));
    }

    #[test]
    fn a_repeated_key_is_found_at_any_level_and_in_any_spelling() {
        check(r#"{"a":1,"a":2}"#, repeated("a", 7));
        check(r#"{"x":[{"a":1,"\u0061":2}]}"#, repeated("a", 13));
        let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":0")).collect();
        check(
            &format!("{{{},\"k7\":1}}", many.join(",")),
            repeated("k7", 0),
        );
        check(
            r#"{"a":{"a":1},"b":{"a":1}}"#,
            Ok(r#"{"a":{"a":1},"b":{"a":1}}"#),
        );
    }

    #[test]
    fn nesting_is_bounded_and_never_overflows_the_stack() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(&nested(DEPTH_MAX)).is_ok());
        check(
            &nested(DEPTH_MAX + 1),
            Err((Fault::TooDeep { max: DEPTH_MAX }, DEPTH_MAX)),
        );
        check(
            &"[".repeat(1_000_000),
            Err((Fault::TooDeep { max: DEPTH_MAX }, DEPTH_MAX)),
        );
        check(
            &r#"{"a":"#.repeat(20_000),
            Err((Fault::TooDeep { max: DEPTH_MAX }, 5 * DEPTH_MAX)),
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
            let ours = parse(&text).map(|_| ());
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
            prop_assert_eq!(parse(&written).unwrap().text().unwrap(), text);
        }
    }
}
