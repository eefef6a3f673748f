//! A delivery as one line of JSON, and how it is told from other lines.

use serde::Serialize;
use serde_json::value::RawValue;
use triplane_state::delivery::DeliveryIntent;

/// How every line starts, so that a torn one is still known as ours.
pub(crate) const OPENING: &[u8] = b"{\"key\":";

/// The fields of a line, in the order in which they are written.
#[derive(Debug, Serialize)]
pub(crate) struct Fields<'i> {
    pub(crate) key: &'i str,
    pub(crate) identity: &'i str,
    pub(crate) intent: &'i str,
    pub(crate) attempt: u32,
    pub(crate) session: &'i str,
    pub(crate) sequence: u64,
    pub(crate) kind: &'i str,
    pub(crate) occurred_at_us: i64,
    /// Where it is to go from here, if it was enqueued with a destination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deliver_to: Option<&'i str>,
    /// With what the reader acknowledges it, if it is to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ack_token: Option<&'i str>,
    pub(crate) payload_type: &'i str,
    pub(crate) payload_version: u32,
    pub(crate) payload: &'i RawValue,
}

impl<'i> From<&'i DeliveryIntent> for Fields<'i> {
    fn from(intent: &'i DeliveryIntent) -> Self {
        let (payload_type, payload_version) = intent.payload_type();
        Self {
            key: intent.key(),
            identity: intent.identity(),
            intent: intent.id(),
            attempt: intent.attempt(),
            session: intent.session(),
            sequence: intent.sequence(),
            kind: intent.kind(),
            occurred_at_us: intent.occurred_at_us(),
            deliver_to: intent.deliver_to(),
            ack_token: intent.ack_token(),
            payload_type,
            payload_version,
            payload: intent.payload(),
        }
    }
}

/// A line ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// The key as it stands in the line, a JSON string with its quotes.
    pub(crate) key: Box<[u8]>,
    /// Whether an earlier attempt may have written it already.
    pub(crate) repeated: bool,
    /// The line with its newline.
    pub(crate) line: Vec<u8>,
}

impl Record {
    /// The line of these fields.
    ///
    /// # Errors
    ///
    /// When a field cannot be written as JSON.
    pub(crate) fn of(fields: &Fields<'_>) -> serde_json::Result<Self> {
        let mut line = serde_json::to_vec(fields)?;
        // A payload is kept as it came, and white space between its tokens may be a line break.
        // Inside a JSON string none can stand.
        for byte in &mut line {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        line.push(b'\n');
        Ok(Self {
            key: serde_json::to_vec(fields.key)?.into_boxed_slice(),
            repeated: fields.attempt > 1,
            line,
        })
    }
}

/// The key at the start of a line, as a JSON string with its quotes; `None` if it is not ours or is
/// cut within the key.
pub(crate) fn key_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(OPENING)?;
    let mut escaped = false;
    let end = rest.iter().skip(1).position(|&byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })?;
    rest.starts_with(b"\"").then(|| &rest[..end + 2])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A record with this key, attempt and payload.
    pub(crate) fn record(key: &str, attempt: u32, payload: &str) -> Record {
        let payload = RawValue::from_string(payload.to_owned()).expect("one JSON value");
        let fields = Fields {
            key,
            identity: "s1/PreToolUse/t1",
            intent: "0190",
            attempt,
            session: "s1",
            sequence: 7,
            kind: "operation.decided",
            occurred_at_us: -1,
            deliver_to: None,
            ack_token: None,
            payload_type: "tool_call",
            payload_version: 1,
            payload: &payload,
        };
        Record::of(&fields).expect("a line")
    }

    #[test]
    fn a_line_has_its_fields_in_the_declared_order() {
        let line = String::from_utf8(record("k", 2, r#"{"a":1}"#).line).expect("text");
        let wanted = concat!(
            r#"{"key":"k","identity":"s1/PreToolUse/t1","intent":"0190","attempt":2,"#,
            r#""session":"s1","sequence":7,"kind":"operation.decided","occurred_at_us":-1,"#,
            r#""payload_type":"tool_call","payload_version":1,"payload":{"a":1}}"#,
            "\n"
        );
        assert_eq!(line, wanted);
    }

    #[test]
    fn a_payload_stays_as_it_came_but_on_one_line() {
        let check = |payload: &str, wanted: &str| {
            let line = String::from_utf8(record("k", 1, payload).line).expect("text");
            let written = line.split_once(r#""payload":"#).expect("a payload").1;
            assert_eq!(written, format!("{wanted}}}\n"));
        };
        check("9007199254740993", "9007199254740993");
        check("-0.0", "-0.0");
        check("1e400", "1e400");
        check("{\n \"a\\n\" :\r\n1}", "{  \"a\\n\" :  1}");
    }

    #[test]
    fn a_key_is_read_back_as_it_was_written() {
        for key in ["k", "", "a\"b", "a\\", "a\\\"", "ä\n", "{\"key\":"] {
            let record = record(key, 1, "null");
            assert_eq!(key_of(&record.line), Some(&*record.key), "{key}");
        }
    }

    #[test]
    fn a_line_that_is_not_ours_has_no_key() {
        let check = |line: &str| assert_eq!(key_of(line.as_bytes()), None, "{line}");
        check("");
        check("{\"ke");
        check("{\"key\":");
        check("{\"key\":\"abc");
        check("{\"key\":7,\"x\":\"\"}");
        check("hello");
    }
}
