//! Lines of bounded length, with their numbers.

use std::io::{self, BufRead, Read};

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Its bytes, without the line break.
    Whole(&'a [u8]),
    /// Longer than is read; it has been read past.
    TooLong,
}

/// Reads line by line into one buffer. Blank lines are counted and left out.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    bytes_max: usize,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R, bytes_max: usize) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            bytes_max,
            number: 0,
        }
    }

    /// The longest line that is read, in bytes, its line break not counted.
    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The next line that is not blank, with its number from 1; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        loop {
            self.buffer.clear();
            // One byte more for the line break; that byte also tells a line that fits from one
            // that does not.
            let room = (self.bytes_max as u64).saturating_add(1);
            let read = (&mut self.reader)
                .take(room)
                .read_until(b'\n', &mut self.buffer)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.buffer.pop_if(|last| *last == b'\n').is_none()
                && self.buffer.len() > self.bytes_max
            {
                self.reader.skip_until(b'\n')?;
                return Ok(Some((self.number, Line::TooLong)));
            }
            if !is_blank(&self.buffer) {
                break;
            }
        }
        Ok(Some((self.number, Line::Whole(&self.buffer))))
    }
}

fn is_blank(line: &[u8]) -> bool {
    const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
    line.strip_prefix(BYTE_ORDER_MARK)
        .unwrap_or(line)
        .iter()
        .all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn check(text: &str, bytes_max: usize, wanted: &[(u64, Option<&str>)]) {
        // A reader whose buffer is smaller than a line must not change the outcome.
        for capacity in [1, 3, 64] {
            let reader = BufReader::with_capacity(capacity, text.as_bytes());
            let mut lines = Lines::new(reader, bytes_max);
            let mut got = Vec::new();
            while let Some((number, line)) = lines.next().unwrap() {
                got.push(match line {
                    Line::Whole(bytes) => (number, Some(String::from_utf8(bytes.into()).unwrap())),
                    Line::TooLong => (number, None),
                });
            }
            let wanted: Vec<_> = wanted
                .iter()
                .map(|(number, line)| (*number, line.map(str::to_owned)))
                .collect();
            assert_eq!(got, wanted, "{text:?} in steps of {capacity}");
        }
    }

    #[test]
    fn lines_are_numbered_and_blank_ones_left_out() {
        check(
            "a\n\nb\r\n \t\nc",
            9,
            &[(1, Some("a")), (3, Some("b\r")), (5, Some("c"))],
        );
        check("", 9, &[]);
        check("\n\n", 9, &[]);
        check("\u{feff}\na", 9, &[(2, Some("a"))]);
    }

    #[test]
    fn a_line_that_is_too_long_is_read_past() {
        check(
            "1234\n12345\n1\n",
            4,
            &[(1, Some("1234")), (2, None), (3, Some("1"))],
        );
        check("12345678", 4, &[(1, None)]);
        check("1234", 4, &[(1, Some("1234"))]);
    }

    #[test]
    fn a_line_without_end_takes_no_more_room_than_the_bound() {
        let endless = BufReader::new(io::repeat(b'x').take(64 << 20));
        let mut lines = Lines::new(endless, 1_000);
        assert_eq!(lines.next().unwrap(), Some((1, Line::TooLong)));
        assert!(lines.buffer.capacity() < 64 << 10);
        assert_eq!(lines.next().unwrap(), None);
    }
}
