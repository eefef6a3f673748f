//! Reading a file from its end: the last line, and the keys of the lines before it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt as _;

use serde::de::IgnoredAny;

use crate::record::{OPENING, key_of};

/// How much is read at a time.
const CHUNK_BYTES: u64 = 64 * 1024;

/// How much of the start of a line is kept to read its key from.
const HEAD_BYTES_MAX: usize = 4096;

/// What stands at the end of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing, or a newline: the next line can follow.
    Closed,
    /// A line that is whole, or not ours: a newline is missing.
    Open,
    /// A record of ours that is cut; it starts here.
    Torn(u64),
}

/// Looks at the end of `file`, which has `length` bytes.
pub(crate) fn end_of(file: &File, length: u64) -> io::Result<End> {
    let last = read(file, length.saturating_sub(1), length)?;
    if matches!(last[..], [] | [b'\n']) {
        return Ok(End::Closed);
    }
    let start = last_line_start(file, length)?;
    let mut head = Vec::with_capacity(OPENING.len());
    section(file, start, length)
        .take(OPENING.len() as u64)
        .read_to_end(&mut head)?;
    if !OPENING.starts_with(&head) {
        return Ok(End::Open);
    }
    let line = BufReader::new(section(file, start, length));
    match serde_json::from_reader::<_, IgnoredAny>(line) {
        Ok(_) => Ok(End::Open),
        Err(error) if error.is_io() => Err(error.into()),
        Err(_) => Ok(End::Torn(start)),
    }
}

/// Which of the keys in `wanted` stand in the last `window` bytes of `file`; those are taken out of
/// `wanted` and returned.
///
/// Read backwards, since what is looked for was written last; ends as soon as all are found.
pub(crate) fn take_found(
    file: &File,
    length: u64,
    window: u64,
    wanted: &mut HashSet<Box<[u8]>>,
) -> io::Result<HashSet<Box<[u8]>>> {
    let mut found = HashSet::new();
    let mut look_at = |line: &[u8], wanted: &mut HashSet<Box<[u8]>>| {
        if let Some(key) = key_of(line) {
            found.extend(wanted.take(key));
        }
    };
    // One byte more: the newline before a line that starts with the window.
    let floor = length.saturating_sub(window.saturating_add(1));
    let mut end = length;
    // The start of the line that runs over the end of the chunk to come.
    let mut carried = Vec::new();
    while end > floor && !wanted.is_empty() {
        let start = end.saturating_sub(CHUNK_BYTES).max(floor);
        let mut chunk = read(file, start, end)?;
        chunk.extend_from_slice(&carried);
        let mut lines = chunk.split(|&byte| byte == b'\n');
        let first = lines.next().unwrap_or_default();
        carried = first[..first.len().min(HEAD_BYTES_MAX)].to_vec();
        lines.for_each(|line| look_at(line, wanted));
        end = start;
    }
    if end == 0 {
        look_at(&carried, wanted);
    }
    Ok(found)
}

fn last_line_start(file: &File, length: u64) -> io::Result<u64> {
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(CHUNK_BYTES);
        let chunk = read(file, start, end)?;
        if let Some(at) = chunk.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

fn read(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    section(file, start, end).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes from `at` to `end`, read without moving the file's own position.
fn section(file: &File, at: u64, end: u64) -> Section<'_> {
    Section { file, at, end }
}

#[derive(Debug)]
struct Section<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for Section<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let bytes = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::record::tests::record;

    fn file(content: &[u8]) -> (File, u64) {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(content).expect("its content");
        (file, content.len() as u64)
    }

    #[test]
    fn the_end_of_a_file_is_told_apart() {
        let check = |content: &[u8], wanted: End| {
            let (file, length) = file(content);
            assert_eq!(end_of(&file, length).expect("readable"), wanted);
        };
        let whole = record("k", 1, r#"{"a":[1,"}\""]}"#).line;
        check(b"", End::Closed);
        check(&whole, End::Closed);
        check(&[&whole, &whole[..whole.len() - 1]].concat(), End::Open);
        for cut in 1..whole.len() - 1 {
            check(
                &[&whole, &whole[..cut]].concat(),
                End::Torn(whole.len() as u64),
            );
        }
        check(&whole[..20], End::Torn(0));
        check(b"hello", End::Open);
        check(b"{\"keys\":1", End::Open);
        check(b"hello\n", End::Closed);
    }

    #[test]
    fn a_torn_line_longer_than_a_chunk_is_found() {
        let payload = format!("\"{}\"", "x".repeat(200_000));
        let (first, second) = (record("a", 1, "1").line, record("b", 1, &payload).line);
        let (file, length) = file(&[&first, &second[..second.len() - 3]].concat());
        let end = end_of(&file, length).expect("readable");
        assert_eq!(end, End::Torn(first.len() as u64));
    }

    #[test]
    fn keys_are_found_within_the_window_only() {
        let payload = format!("\"{}\"", "x".repeat(50_000));
        let lines: Vec<_> = (0..10)
            .map(|n| record(&n.to_string(), 1, &payload))
            .collect();
        let content = lines
            .iter()
            .map(|record| record.line.clone())
            .collect::<Vec<_>>()
            .concat();
        let (file, length) = file(&content);
        let check = |window: u64, wanted: &[usize], found: &[usize]| {
            let mut keys = wanted.iter().map(|&n| lines[n].key.clone()).collect();
            let got = take_found(&file, length, window, &mut keys).expect("readable");
            let found: HashSet<_> = found.iter().map(|&n| lines[n].key.clone()).collect();
            assert_eq!(got, found);
            assert_eq!(keys.len(), wanted.len() - found.len());
        };
        let one = lines[0].line.len() as u64;
        check(length, &[0, 5, 9], &[0, 5, 9]);
        check(3 * one, &[0, 6, 7, 9], &[7, 9]);
        check(3 * one - 1, &[7, 8], &[8]);
        check(u64::MAX, &[0], &[0]);
        check(one - 1, &[9], &[]);
    }

    #[test]
    fn a_key_that_a_chunk_cuts_is_found() {
        let chunk = usize::try_from(CHUNK_BYTES).expect("it fits");
        let first = record("first", 1, "1");
        for shift in 0..first.line.len() {
            let filler = "y".repeat(chunk - shift);
            let content = [&first.line[..], filler.as_bytes()].concat();
            let (file, length) = file(&content);
            let mut wanted = HashSet::from([first.key.clone()]);
            let found = take_found(&file, length, u64::MAX, &mut wanted).expect("readable");
            assert_eq!(found.len(), 1, "{shift}");
        }
    }
}
