//! Running a command: the one place that spawns a process.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::{Either, Fuse, FusedFuture as _, join3, select};
use rustix::process::Pid;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;
use triplane_kernel::{CancelCause, Scope};

use crate::argv::Argv;
use crate::capture::{Captured, drain};
use crate::group::{Group, wait_for_exit};
use crate::outcome::{Completed, Containment, Outcome};

/// A command about to be run: its arguments, its surroundings, its limits.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), triplane_process::ArgvRefused> {
/// use triplane_kernel::Scope;
/// use triplane_process::{Argv, Invocation, Limits};
///
/// let upper = Argv::new(["tr", "a-z", "A-Z"])?;
/// let completed = Invocation::new(upper, Limits::default())
///     .input("delivered")
///     .run(&Scope::new())
///     .await;
/// assert!(completed.is_success());
/// assert_eq!(completed.stdout.text(), "DELIVERED");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Invocation {
    argv: Argv,
    limits: Limits,
    environment: Environment,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    input: Vec<u8>,
}

/// What a command may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run; then its group is killed. 30 s by default.
    pub time: Duration,
    /// How many bytes are kept of each output stream; the rest is read and left out. 64 KiB by
    /// default.
    pub output_bytes_max: usize,
    /// How long output is still awaited when the command has exited, and again when its group was
    /// killed. It matters only when another process holds the streams. 500 ms by default.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(30),
            output_bytes_max: 64 * 1024,
            drain: Duration::from_millis(500),
        }
    }
}

/// Which variables a command finds beside those that are set for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Environment {
    /// Those of this process.
    #[default]
    Inherited,
    /// None, not even `PATH`.
    Cleared,
}

impl Invocation {
    /// A command with the environment and the folder of this process, and an empty input.
    pub fn new(argv: Argv, limits: Limits) -> Self {
        Self {
            argv,
            limits,
            environment: Environment::default(),
            variables: Vec::new(),
            folder: None,
            input: Vec::new(),
        }
    }

    /// Chooses what the command inherits of the environment.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets a variable, whatever is inherited. A NUL in it, or a `=` in the name, fails the spawn.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Runs the command in this folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Gives the command this as its standard input. It need not read it.
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs the command to its end, at most until its time runs out or `scope` is cancelled.
    ///
    /// Whatever became of it, no process of its group is left when the report is there. One
    /// blocking thread of the runtime waits for the exit.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime that has its input and output driver, and its time, enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future kills the whole group. What the command did until then stays done, and
    /// is not known.
    pub async fn run(self, scope: &Scope) -> Completed {
        let started = Instant::now();
        let mut stdout = Captured::with_limit(self.limits.output_bytes_max);
        let mut stderr = stdout.clone();
        let outcome = match self.spawn() {
            Err(_) if triplane_kernel::planted!("lost_when_spawn_fails") => Outcome::Exited(0),
            Err(error) => Outcome::SpawnFailed(error),
            Ok((child, leader)) => {
                self.follow(child, leader, scope, &mut stdout, &mut stderr)
                    .await
            }
        };
        Completed {
            outcome,
            stdout,
            stderr,
            took: started.elapsed(),
            containment: Containment::NotContained,
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that spawns a command"
    )]
    fn spawn(&self) -> io::Result<(Child, Pid)> {
        let mut command = Command::new(self.argv.program());
        command.args(self.argv.arguments()).process_group(0);
        if self.environment == Environment::Cleared {
            command.env_clear();
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let has_input = !self.input.is_empty();
        command.stdin(if has_input {
            Stdio::piped()
        } else {
            Stdio::null()
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        triplane_kernel::failpoint!("spawn.before");
        let child = command.spawn()?;
        triplane_kernel::failpoint!("spawn.after");
        let id = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let leader = id.ok_or_else(|| io::Error::other("the child has no process id"))?;
        Ok((child, leader))
    }

    async fn follow(
        self,
        mut child: Child,
        leader: Pid,
        scope: &Scope,
        stdout: &mut Captured,
        stderr: &mut Captured,
    ) -> Outcome {
        // Declared after the child, so that on a drop the group is killed while its id is held.
        let mut group = Group::led_by(leader);
        let (input, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let streams = join3(
            feed(input, self.input),
            drain(out, stdout),
            drain(err, stderr),
        );
        let mut streams = pin!(streams.fuse());
        let end = pin!(end_of(leader, self.limits.time, scope));
        let end = match select(end, streams.as_mut()).await {
            Either::Left((end, _)) => end,
            Either::Right((_, end)) => end.await,
        };
        if end == End::Exited {
            // A process of the group may still be writing what the leader began.
            finish(streams.as_mut(), self.limits.drain).await;
        }
        triplane_kernel::failpoint!("spawn.exited");
        group.kill();
        finish(streams.as_mut(), self.limits.drain).await;
        let status = timeout(self.limits.drain, child.wait()).await;
        triplane_kernel::failpoint!("spawn.reaped");
        match (end, status) {
            (End::TimedOut, _) => Outcome::TimedOut,
            (End::Cancelled(cause), _) => Outcome::Cancelled(cause),
            (End::Exited, Ok(Ok(status))) => of_status(status),
            (End::Exited, Ok(Err(error))) => Outcome::Lost(error),
            (End::Exited, Err(_)) => Outcome::Lost(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Why a command is no longer awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Exited,
    TimedOut,
    Cancelled(CancelCause),
}

async fn end_of(leader: Pid, time: Duration, scope: &Scope) -> End {
    // A runtime that shuts down drops the wait; the reaping that follows is bounded in time.
    let exit = tokio::task::spawn_blocking(move || wait_for_exit(leader));
    match select(pin!(timeout(time, exit)), pin!(scope.cancelled())).await {
        Either::Left((Ok(_), _)) => End::Exited,
        Either::Left((Err(_), _)) => End::TimedOut,
        Either::Right((cause, _)) => End::Cancelled(cause),
    }
}

/// Writes `input` and closes the stream. A command that stops reading is no fault.
async fn feed(stream: Option<ChildStdin>, input: Vec<u8>) {
    if let Some(mut stream) = stream {
        let _ = stream.write_all(&input).await;
    }
}

/// Waits for the streams to end, but no longer than `limit`.
async fn finish<F: Future>(streams: Pin<&mut Fuse<F>>, limit: Duration) {
    if !streams.is_terminated() {
        let _ = timeout(limit, streams).await;
    }
}

fn of_status(status: ExitStatus) -> Outcome {
    match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, Some(signal)) => Outcome::Signalled(signal),
        (None, None) => Outcome::Lost(io::Error::other(format!("the child ended with {status}"))),
    }
}

#[cfg(test)]
mod tests;
