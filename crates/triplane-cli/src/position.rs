//! Positions in the log on the command line.

use triplane::state::SignalCursor;

/// How far has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// A sequence of a session, of whatever copy of the store.
    Sequence(u64),
    /// A cursor, which says of which copy it is.
    Cursor(SignalCursor),
}

pub(crate) fn parse_after(text: &str) -> Result<After, String> {
    if let Ok(sequence) = text.parse::<i64>()
        && sequence >= 0
    {
        return Ok(After::Sequence(sequence.unsigned_abs()));
    }
    text.parse().map(After::Cursor).map_err(|_unreadable| {
        "a sequence or a cursor is wanted, such as 40, or EPOCH:40 as the last line printed it"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_a_number_or_a_cursor() {
        assert_eq!(parse_after("40"), Ok(After::Sequence(40)));
        let cursor = "0199a3c4-5a1b-7c3d-8e4f-001122334455:7";
        let read = parse_after(cursor).expect("a cursor");
        assert!(matches!(read, After::Cursor(read) if read.to_string() == cursor));
        for wrong in ["", "-1", "x", "1:2", "99999999999999999999"] {
            assert!(parse_after(wrong).is_err(), "{wrong}");
        }
    }
}
