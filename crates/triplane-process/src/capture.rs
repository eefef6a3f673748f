//! Keeping a bounded part of a stream that may have no end.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// What was kept of an output stream: its beginning and its end.
///
/// A stream within the limit is kept whole. Of a longer one the middle is left out: the first half
/// of the limit says what the command was about, the last half how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes_total: u64,
    bytes_max: usize,
}

impl Captured {
    pub(crate) fn with_limit(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            ..Self::default()
        }
    }

    /// How many bytes the command wrote, kept or not.
    pub fn bytes_total(&self) -> u64 {
        self.bytes_total
    }

    /// How many bytes were left out between the beginning and the end.
    pub fn bytes_left_out(&self) -> u64 {
        self.bytes_total - (self.head.len() + self.tail.len()) as u64
    }

    /// The bytes, if all of them were kept.
    pub fn whole(&self) -> Option<Vec<u8>> {
        let kept = self.head.iter().chain(&self.tail).copied();
        (self.bytes_left_out() == 0).then(|| kept.collect())
    }

    /// What was kept as text, with a mark where bytes were left out and `�` for what is not UTF-8.
    pub fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        match self.bytes_left_out() {
            0 => String::from_utf8_lossy(&[&self.head, front, back].concat()).into_owned(),
            left_out => {
                let head = String::from_utf8_lossy(&self.head).into_owned();
                let tail = [front, back].concat();
                let tail = String::from_utf8_lossy(&tail).into_owned();
                format!("{head}[{left_out} bytes left out]{tail}")
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes_total += bytes.len() as u64;
        let head_max = self.bytes_max.div_ceil(2);
        let to_head = bytes.len().min(head_max - self.head.len());
        self.head.extend_from_slice(&bytes[..to_head]);
        let tail_max = self.bytes_max - head_max;
        let rest = &bytes[to_head..];
        let rest = &rest[rest.len().saturating_sub(tail_max)..];
        let overflow = (self.tail.len() + rest.len()).saturating_sub(tail_max);
        self.tail.drain(..overflow);
        self.tail.extend(rest);
    }
}

/// Reads `stream` to its end into `captured`, and goes on reading past the limit.
///
/// A command whose output nobody reads would stop, so all of it is read. A stream that fails has
/// ended.
///
/// # Cancel safety
///
/// Cancel safe: what was read before the future is dropped is in `captured`.
pub(crate) async fn drain(stream: Option<impl AsyncRead + Unpin>, captured: &mut Captured) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(bytes @ 1..) = stream.read(&mut buffer).await {
        captured.push(&buffer[..bytes]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes_max: usize, pieces: &[&str], text: &str) {
        let mut captured = Captured::with_limit(bytes_max);
        for piece in pieces {
            captured.push(piece.as_bytes());
        }
        assert_eq!(captured.text(), text);
        let whole = pieces.concat();
        assert_eq!(captured.bytes_total(), whole.len() as u64);
        let kept_all = captured.bytes_left_out() == 0;
        assert_eq!(captured.whole(), kept_all.then(|| whole.into_bytes()));
    }

    #[test]
    fn a_stream_within_the_limit_is_kept_whole() {
        check(6, &[], "");
        check(6, &["abcdef"], "abcdef");
        check(6, &["a", "bcde", "f"], "abcdef");
        check(3, &["ab", "c"], "abc");
    }

    #[test]
    fn the_middle_of_a_longer_stream_is_left_out() {
        check(6, &["abcdefg"], "abc[1 bytes left out]efg");
        check(
            6,
            &["ab", "cd", "ef", "gh", "ij"],
            "abc[4 bytes left out]hij",
        );
        check(4, &["abcdefghijklmnop"], "ab[12 bytes left out]op");
        check(0, &["abc"], "[3 bytes left out]");
    }

    #[test]
    fn a_character_that_the_limit_cuts_is_marked() {
        check(2, &["ä", "ö"], "\u{fffd}[2 bytes left out]\u{fffd}");
        check(4, &["ä", "ö"], "äö");
    }
}
