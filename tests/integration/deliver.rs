//! `triplane deliver --watch`: woken by others, stopped by a signal.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failures::session;
use crate::program::{Place, shell_question, text};

struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let arguments = [&["deliver", "--watch", "--json"], arguments].concat();
        let mut child = place
            .command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, lines }
    }

    /// Waits for the next line.
    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends the signal; answers the exit code, the last line and what was complained.
    fn stop(mut self, signal: &str) -> (Option<i32>, Value, String) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(sent.success());
        let last = self.line();
        let output = self.child.wait_with_output().expect("ends");
        (output.status.code(), last, text(&output.stderr))
    }
}

/// Asks the hook, which commits one intent; answers how long ago it was done.
fn commit(place: &Place, n: u32) -> Instant {
    let question = shell_question(&format!("echo {n}"));
    let answered = place.ask(&[], question.as_bytes());
    let answered = answered.wait_with_output().expect("an answer");
    assert!(answered.status.success());
    Instant::now()
}

#[test]
fn what_others_commit_is_conveyed_soon_and_a_signal_ends_it() {
    for signal in ["-INT", "-TERM"] {
        let place = Place::new();
        place.summary(&["replay", &session(&place), "--json"]);
        let mut watching = Watching::start(&place, &[]);
        let mut delivered = 0;
        let mut soonest = Duration::MAX;
        for n in 0..10 {
            let committed = commit(&place, n);
            delivered += watching.line()["delivered"].as_u64().expect("a number");
            soonest = soonest.min(committed.elapsed());
        }
        assert!(soonest < Duration::from_millis(120), "{soonest:?}");
        let (code, last, said) = watching.stop(signal);
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(last["stopped"], format!("SIG{}", &signal[1..]));
        assert_eq!(
            (&last["delivered"], &last["pending"]),
            (&delivered.into(), &0.into())
        );
        assert_eq!(last["cut_off"], false);
    }
}

#[test]
fn attempts_that_outlast_the_grace_are_cut_off_and_made_again() {
    let place = Place::new();
    place.summary(&["replay", &session(&place), "--json"]);
    commit(&place, 1);
    let started = place.path("started");
    let made = Command::new("mkfifo").arg(&started).status().expect("runs");
    assert!(made.success());
    let script = format!(
        "exec 3<&0; echo up > '{}'; exec sleep 600",
        started.display()
    );
    let sink = format!("argv:{}", serde_json::json!(["sh", "-c", script]));
    let watching = Watching::start(&place, &["--grace", "50ms", "--sink", &sink]);
    let up = std::fs::read_to_string(&started).expect("the command says so");
    assert_eq!(up, "up\n");
    let (code, last, said) = watching.stop("-TERM");
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(
        (&last["cut_off"], &last["pending"]),
        (&true.into(), &1.into())
    );
    let again = place.summary(&["deliver", "--once", "--json"]);
    assert_eq!(
        again["delivered"], 1,
        "the lease of a process that is gone is void"
    );
}

#[test]
fn one_way_of_delivering_is_chosen() {
    let place = Place::new();
    for wrong in [
        &["deliver"][..],
        &["deliver", "--once", "--watch"],
        &["deliver", "--once", "--grace", "1s"],
        &["deliver", "--watch"],
    ] {
        let output = place.run(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}
