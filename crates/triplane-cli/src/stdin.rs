//! Reading the one question that a hook is asked.
//!
//! A host sends one JSON object and should close the pipe. Some never do, so a complete object is
//! enough: after it the host has a short grace for whatever else it has to say (which makes the
//! question unreadable), and then it counts as over. A host that sends nothing is waited for until
//! the hook's own time runs out.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use triplane_external_hooks::ObjectEnd;

/// The largest question that is read, in bytes.
pub(crate) const QUESTION_BYTES_MAX: usize = 32 << 20;

/// How long a host that does not close the pipe may take to go on after a complete object.
const GRACE: Duration = Duration::from_millis(50);

const CHUNK_BYTES: usize = 64 << 10;

/// Why there is no question.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoQuestion {
    #[error("the question is longer than {QUESTION_BYTES_MAX} bytes")]
    TooLong,
    #[error("the question did not come to its end in time")]
    TooLate,
    #[error("the question cannot be read: {0}")]
    Broken(std::io::Error),
}

/// Reads the question from `source`, until it ends or `deadline` has come.
///
/// The source is read on a thread of its own, which a host that never closes the pipe keeps until
/// the process exits.
pub(crate) fn read_question(
    source: impl Read + Send + 'static,
    deadline: Instant,
) -> Result<Vec<u8>, NoQuestion> {
    let (sender, chunks) = sync_channel(4);
    std::thread::spawn(move || pump(source, &sender));
    collect(&chunks, deadline)
}

type Chunk = Result<Vec<u8>, std::io::Error>;

fn pump(mut source: impl Read, chunks: &SyncSender<Chunk>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let chunk = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => Ok(buffer[..read].to_vec()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = chunk.is_err();
        // After the question is answered nobody listens, but the pipe is drained all the same: a
        // host must not meet a broken one.
        let _unheard = chunks.send(chunk);
        if failed {
            return;
        }
    }
}

fn collect(chunks: &Receiver<Chunk>, deadline: Instant) -> Result<Vec<u8>, NoQuestion> {
    let mut question = Vec::new();
    let mut end = ObjectEnd::default();
    let mut complete = false;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = if complete { left.min(GRACE) } else { left };
        match chunks.recv_timeout(wait) {
            Ok(Ok(chunk)) => {
                complete = complete || end.feed(&chunk).is_some();
                question.extend_from_slice(&chunk);
                if question.len() > QUESTION_BYTES_MAX {
                    return Err(NoQuestion::TooLong);
                }
            }
            Ok(Err(error)) => return Err(NoQuestion::Broken(error)),
            Err(RecvTimeoutError::Disconnected) => return Ok(question),
            Err(RecvTimeoutError::Timeout) if complete => return Ok(question),
            Err(RecvTimeoutError::Timeout) => return Err(NoQuestion::TooLate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that ends, and one that never does.
    struct Open<'a> {
        parts: std::slice::Iter<'a, &'static str>,
        closes: bool,
        held: Receiver<()>,
    }

    impl Read for Open<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.parts.next() {
                Some(part) => {
                    buffer[..part.len()].copy_from_slice(part.as_bytes());
                    Ok(part.len())
                }
                None if self.closes => Ok(0),
                None => {
                    let _ended = self.held.recv();
                    Ok(0)
                }
            }
        }
    }

    fn check(parts: &'static [&'static str], closes: bool, wanted: Result<&str, &str>) {
        let (_hold, held) = sync_channel(0);
        let source = Open {
            parts: parts.iter(),
            closes,
            held,
        };
        let deadline = Instant::now() + Duration::from_millis(200);
        let got = read_question(source, deadline).map_err(|error| error.to_string());
        let got = got.map(|bytes| String::from_utf8(bytes).expect("text"));
        assert_eq!(got.as_deref().map_err(String::as_str), wanted, "{parts:?}");
    }

    #[test]
    fn a_question_ends_with_the_pipe_or_with_its_object() {
        let late = Err("the question did not come to its end in time");
        check(&["{\"a\":1}"], true, Ok("{\"a\":1}"));
        check(&["{\"a\"", ":1}"], false, Ok("{\"a\":1}"));
        check(&["{\"a\":\"}\\\"", "}\"}"], false, Ok("{\"a\":\"}\\\"}\"}"));
        check(&["{} trailing"], false, Ok("{} trailing"));
        check(&["{\"a\":"], true, Ok("{\"a\":"));
        check(&["{\"a\":"], false, late);
        check(&[], true, Ok(""));
        check(&[], false, late);
    }
}
