//! Other processes: this program again, in a role.

use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, bail};
use futures::future::join_all;
use serde_json::{Value, json};
use triplane_state::StateError;
use triplane_state::delivery::DeliveryIntent;

use crate::row::Durability;
use crate::subject::{SINK, Seen, Unit, no_op, open, runtime};

/// How many callers a writing process has.
const CALLERS: usize = 16;

/// A process in a role. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Child(std::process::Child);

impl Child {
    pub(crate) fn start(
        role: &str,
        store: &Path,
        durability: Durability,
        more: &[&str],
    ) -> anyhow::Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .args(["child", role, durability.name()])
            .arg(store)
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("this program cannot be started again")?;
        Ok(Self(child))
    }

    /// What it prints.
    pub(crate) fn output(&mut self) -> anyhow::Result<ChildStdout> {
        self.0.stdout.take().context("its output is taken once")
    }

    /// How long it has had a processor.
    pub(crate) fn processor_time(&self) -> anyhow::Result<Duration> {
        let mut spent = Duration::ZERO;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            let told = std::fs::read_to_string(thread?.path().join("schedstat"))?;
            let nanoseconds = told.split(' ').next().unwrap_or_default().parse()?;
            spent += Duration::from_nanos(nanoseconds);
        }
        Ok(spent)
    }

    /// Tells it to end by closing its input, and waits.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        drop(self.0.stdin.take());
        if !self.0.wait()?.success() {
            bail!("a process failed");
        }
        Ok(())
    }

    /// Waits for its end and for the one line that it answers.
    pub(crate) fn answer(mut self) -> anyhow::Result<Value> {
        let output = self.output()?;
        let told: Value = serde_json::from_str(&std::io::read_to_string(output)?)?;
        self.stop()?;
        Ok(told)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It has ended already, unless something failed here.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The time that all processes of a machine agree on.
pub(crate) fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    })
}

/// Plays the role that the arguments name.
#[expect(clippy::print_stdout, reason = "the starting process reads it")]
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let [role, durability, path, more @ ..] = arguments else {
        bail!("a role, a class, a store");
    };
    let durability = match durability.as_str() {
        "FULL" => Durability::Full,
        _ => Durability::Normal,
    };
    let path = Path::new(path);
    match (role.as_str(), more) {
        ("watch", []) => watch(path, durability),
        ("enqueue", [seconds]) => {
            println!("{}", enqueue(path, durability, seconds.parse()?)?);
            Ok(())
        }
        ("deliver", [seconds]) => {
            println!("{}", deliver(path, durability, seconds.parse()?)?);
            Ok(())
        }
        _ => bail!("unknown role {role}"),
    }
}

/// Prints a line when it watches, and the time of each delivery.
#[expect(clippy::print_stdout, reason = "the starting process reads it")]
fn watch(path: &Path, durability: Durability) -> anyhow::Result<()> {
    runtime()?.block_on(async {
        let store = open(path, durability).await?;
        let sink = Seen(|_intent: &DeliveryIntent| println!("{}", now_us()));
        let worker = store.delivery().sink(SINK, Arc::new(sink));
        worker.deliver_due().await?;
        println!("{}", now_us());
        let stop = tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin()));
        worker.watch(async { drop(stop.await) }, |_told| {}).await;
        Ok(store.close().await?)
    })
}

#[derive(Debug, Default)]
struct Failures {
    busy: AtomicU64,
    failed: AtomicU64,
}

impl Failures {
    fn count(&self, error: &StateError) {
        let counter = match error {
            StateError::Busy { .. } => &self.busy,
            _ => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn answer(&self, done: u64) -> Value {
        json!({
            "done": done,
            "busy": self.busy.load(Ordering::Relaxed),
            "failed": self.failed.load(Ordering::Relaxed),
        })
    }
}

fn enqueue(path: &Path, durability: Durability, seconds: u64) -> anyhow::Result<Value> {
    runtime()?.block_on(async {
        let store = open(path, durability).await?;
        let until = Instant::now() + Duration::from_secs(seconds);
        let failures = Failures::default();
        let callers = (0..CALLERS).map(|_caller| async {
            let mut done = 0_u64;
            while Instant::now() < until {
                let mut unit = store.begin(Unit::Enqueue.fact());
                let staged = unit.stage(&Unit::Enqueue);
                let committed = match staged {
                    Ok(_refs) => unit.commit().await,
                    Err(error) => Err(error),
                };
                match committed {
                    Ok(_receipt) => done += 1,
                    Err(error) => failures.count(&error),
                }
            }
            done
        });
        let done = join_all(callers).await.into_iter().sum();
        store.close().await?;
        Ok(failures.answer(done))
    })
}

fn deliver(path: &Path, durability: Durability, seconds: u64) -> anyhow::Result<Value> {
    runtime()?.block_on(async {
        let store = open(path, durability).await?;
        let worker = store.delivery().sink(SINK, no_op());
        let failures = Failures::default();
        let stop = tokio::time::sleep(Duration::from_secs(seconds));
        let total = worker
            .watch(stop, |told| {
                if let Err(error) = told {
                    failures.count(error);
                }
            })
            .await;
        store.close().await?;
        Ok(failures.answer(total.delivered))
    })
}
