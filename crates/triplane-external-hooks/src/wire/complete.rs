//! Where the question ends, for a host that never closes the pipe.

/// Finds the end of the first JSON object in a stream of bytes, chunk by chunk.
///
/// Some harness builds write the event and keep the pipe open; a hook that reads to the end then
/// hangs until it is killed, and a killed hook lets the tool run. When [`ObjectEnd::feed`] has
/// seen the closing bracket, the reader may stop after a short grace for what would be trailing
/// text. Only brackets and quotes are looked at: whether the text is an event is
/// [`crate::HookEvent::read`]'s to say. Work is linear, memory constant.
///
/// ```
/// use triplane_external_hooks::ObjectEnd;
///
/// let mut end = ObjectEnd::default();
/// assert_eq!(end.feed(br#"{"tool_input": {"command": "echo }"#), None);
/// assert_eq!(end.feed(b"\"}}\n"), Some(3));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ObjectEnd {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl ObjectEnd {
    /// Looks at the next chunk. Answers how many of its bytes belong to the object once the
    /// bracket that closes it is among them, and `None` as long as it is not.
    pub fn feed(&mut self, chunk: &[u8]) -> Option<usize> {
        for (at, byte) in chunk.iter().enumerate() {
            if self.in_string {
                match (self.escaped, byte) {
                    (true, _) => self.escaped = false,
                    (false, b'\\') => self.escaped = true,
                    (false, b'"') => self.in_string = false,
                    (false, _) => {}
                }
                continue;
            }
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'"' if self.depth > 0 => self.in_string = true,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: Option<usize>) {
        assert_eq!(ObjectEnd::default().feed(text.as_bytes()), wanted, "{text}");
        let mut by_byte = ObjectEnd::default();
        let end = text
            .bytes()
            .position(|byte| by_byte.feed(&[byte]).is_some());
        assert_eq!(end.map(|at| at + 1), wanted, "{text}, byte by byte");
    }

    #[test]
    fn the_end_is_the_bracket_that_closes_the_first_object() {
        check("{}", Some(2));
        check("\u{feff} {\"a\":[1,{}]} {", Some(16));
        check(r#"{"a":"}\"]"}x"#, Some(12));
        check(r#"{"a":"\\"}"#, Some(10));
        check(r#"{"a":{}"#, None);
        check("null", None);
        check("", None);
        check("}{}", Some(3));
    }
}
