//! A recorder that lives as long as it is asked: a process that answers a line with a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use triplane::legacy::Value;

use crate::python::Python;
use crate::written;

/// One process of the recorder. It ends when this is dropped.
pub(crate) struct Recorder {
    child: Child,
    /// Closed first, so that the process ends by itself.
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// A random scenario, and what was recorded of it.
pub(crate) struct Drawn {
    pub(crate) scenario: Value,
    pub(crate) recorded: Json,
}

#[derive(Deserialize)]
struct Answer {
    scenario: Option<Value>,
    trace: Option<Json>,
    error: Option<String>,
}

impl Recorder {
    pub(crate) fn start(python: &Python) -> anyhow::Result<Self> {
        let mut command = python.recorder(["serve".as_ref()]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the recorder")?;
        let (asks, answers) = (child.stdin.take(), child.stdout.take());
        Ok(Self {
            asks,
            answers: BufReader::new(answers.context("the recorder has an output")?),
            child,
        })
    }

    /// The random scenario of this number, recorded.
    ///
    /// # Errors
    ///
    /// When the recorder fails or has gone.
    pub(crate) fn draw(&mut self, profile: &str, seed: u64, index: u64) -> anyhow::Result<Drawn> {
        let request = json!({"profile": profile, "seed": seed, "index": index});
        let answer = self.ask(&request.to_string());
        let answer =
            answer.with_context(|| format!("random scenario {index} of {profile}, seed {seed}"))?;
        match (answer.scenario, answer.trace) {
            (Some(scenario), Some(recorded)) => Ok(Drawn { scenario, recorded }),
            _ => bail!("the recorder drew no scenario"),
        }
    }

    /// What is recorded of a scenario.
    ///
    /// # Errors
    ///
    /// When the scenario is none, or the recorder has gone.
    pub(crate) fn trace(&mut self, scenario: &Value) -> anyhow::Result<Json> {
        let request = format!("{{\"scenario\": {}}}", written::line(scenario));
        self.ask(&request)?
            .trace
            .context("the recorder recorded nothing")
    }

    fn ask(&mut self, request: &str) -> anyhow::Result<Answer> {
        let asks = self.asks.as_mut().context("the recorder listens")?;
        writeln!(asks, "{request}").context("the recorder has gone")?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("the recorder has gone");
        }
        let answer: Answer = serde_json::from_str(&line)?;
        match answer.error {
            Some(error) => bail!("the recorder failed:\n{error}"),
            None => Ok(answer),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        drop(self.asks.take());
        // It has nothing left to do, or has ended already.
        let _ = self.child.wait();
    }
}
