//! What the test does: it runs itself as a child, and says which input was that child's last.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::fuzz::campaign::trial::{Body, SUM, try_inputs};

/// Set for the child: the file for the input that it tries.
const LAST: &str = "TRIPLANE_FUZZ_LAST";

/// How long the parent waits for one input. A slow one is told by its time on the processor; this is
/// for what does not end, on a machine on which others work too.
const PATIENCE: Duration = Duration::from_mins(1);

/// The most that is shown of an input.
const SHOWN_BYTES_MAX: usize = 2_000;

/// A test that tries inputs.
pub(super) struct Campaign {
    /// Its name below this folder's module.
    pub(super) test: &'static str,
    pub(super) fragments: &'static [&'static str],
    pub(super) body: Body,
}

impl Campaign {
    /// Tries inputs made of `seeds`, in a child.
    ///
    /// # Panics
    ///
    /// Panics with the input when the child did not survive it, and when an input was slow.
    pub(super) fn run(&self, seeds: impl Fn() -> Vec<String>) {
        if let Err(wrong) = self.outcome(seeds, PATIENCE) {
            panic!("{}: {wrong}", self.test);
        }
    }

    fn outcome(&self, seeds: impl Fn() -> Vec<String>, patience: Duration) -> Result<(), String> {
        if let Some(last) = std::env::var_os(LAST) {
            try_inputs(
                self.test,
                seeds(),
                self.fragments,
                self.body,
                Path::new(&last),
            );
            return Ok(());
        }
        let last = self.last();
        // What the child builds goes with it, however it ends.
        let temporary = tempfile::tempdir().expect("a temporary folder");
        let mut child = self.child(&last, temporary.path());
        let ended = listen(&mut child, patience);
        if ended.is_err() {
            child.kill().expect("a child");
        }
        let status = child.wait().expect("a child");
        let sum = match ended {
            Ok(Some(sum)) => sum,
            Ok(None) => return Err(format!("{status}; the last input is {}", told(&last))),
            Err(Stuck) => return Err(format!("no end after {patience:?}: {}", told(&last))),
        };
        #[expect(
            clippy::print_stdout,
            reason = "a campaign of minutes says what it has tried"
        )]
        {
            println!("{sum}");
        }
        fs::remove_file(&last).map_err(|error| format!("{}: {error}", last.display()))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("{status}; what was slow is told above"))
        }
    }

    /// The file that keeps the input under way. It stays when the input is a finding.
    fn last(&self) -> PathBuf {
        let name = self.test.replace("::", "-");
        let process = std::process::id();
        std::env::temp_dir().join(format!("triplane-fuzz-{name}-{process}.input"))
    }

    /// This program, running this test alone.
    #[expect(
        clippy::disallowed_methods,
        reason = "the crate of guards spawns nothing; its test runs itself, which no other crate can"
    )]
    fn child(&self, last: &Path, temporary: &Path) -> Child {
        let program = std::env::current_exe().expect("this program");
        Command::new(program)
            .args([
                "--exact",
                &format!("fuzz::campaign::{}", self.test),
                "--nocapture",
            ])
            .env(LAST, last)
            .env("TMPDIR", temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs")
    }
}

/// The child has told nothing for too long.
struct Stuck;

/// Hears the child until it closes its output: the sum, if it came to one.
fn listen(child: &mut Child, patience: Duration) -> Result<Option<String>, Stuck> {
    let output = child.stdout.take().expect("a pipe");
    let (tell, told) = mpsc::channel();
    // It ends with the child, which closes the pipe.
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                break;
            }
        }
    });
    let mut sum = None;
    loop {
        match told.recv_timeout(patience) {
            Ok(line) => {
                if let Some((_, text)) = line.split_once(SUM) {
                    sum = Some(text.to_owned());
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => return Err(Stuck),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(sum),
        }
    }
}

/// The input in the file, and where it is.
fn told(last: &Path) -> String {
    let mut input = Vec::new();
    let read = fs::File::open(last)
        .and_then(|file| file.take(SHOWN_BYTES_MAX as u64).read_to_end(&mut input));
    match read {
        Ok(_) => format!("{} ({:?})", last.display(), String::from_utf8_lossy(&input)),
        Err(error) => format!("{}: {error}", last.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the campaign says of a body that does not survive the word `end`.
    fn found(test: &'static str, body: Body, patience: Duration) -> String {
        let campaign = Campaign {
            test,
            fragments: &[" "],
            body,
        };
        match campaign.outcome(|| vec!["the end".to_owned()], patience) {
            Ok(()) => {
                assert!(
                    std::env::var_os(LAST).is_some(),
                    "{test}: nothing was found"
                );
                String::new()
            }
            Err(wrong) => {
                let last = campaign.last();
                assert!(wrong.contains(&last.display().to_string()), "{wrong}");
                fs::remove_file(last).unwrap();
                wrong
            }
        }
    }

    /// As [`found`], in the parent; the child is done when its body is.
    fn check(test: &'static str, body: Body, patience: Duration, wanted: &str) {
        let wrong = found(test, body, patience);
        assert!(
            std::env::var_os(LAST).is_some() || wrong.contains(wanted),
            "{test}: {wrong}"
        );
    }

    #[test]
    fn an_input_that_fails_is_told() {
        let body: Body = |input| panic!("{} bytes", input.len());
        check(
            "child::tests::an_input_that_fails_is_told",
            body,
            PATIENCE,
            "exit status: 101; ",
        );
    }

    #[test]
    fn an_input_that_does_not_end_is_told() {
        let body: Body = |_| {
            loop {
                thread::park();
            }
        };
        let patience = Duration::from_secs(2);
        check(
            "child::tests::an_input_that_does_not_end_is_told",
            body,
            patience,
            "no end after 2s: ",
        );
    }

    #[test]
    fn an_input_that_takes_all_memory_is_told() {
        let body: Body = |_| {
            let mut taken = Vec::new();
            loop {
                taken.push(vec![1_u8; 1 << 20]);
            }
        };
        check(
            "child::tests::an_input_that_takes_all_memory_is_told",
            body,
            PATIENCE,
            "signal: 6",
        );
    }

    #[test]
    fn an_input_that_overflows_the_stack_is_told() {
        #[expect(unconditional_recursion, reason = "it is what is told")]
        fn deeper(input: &[u8]) -> Duration {
            let mut longer = input.to_vec();
            longer.push(0);
            deeper(&longer) + Duration::from_nanos(1)
        }
        check(
            "child::tests::an_input_that_overflows_the_stack_is_told",
            deeper,
            PATIENCE,
            "signal: 6",
        );
    }
}
