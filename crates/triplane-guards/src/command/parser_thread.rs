//! The thread that parses: a large stack, a short time, and a bounded number of casualties.
//!
//! The parser recurses and backtracks, so it is kept off the caller's stack and off the caller's
//! clock, unless what it is given is small. One warm worker takes jobs from a desk in order; whoever
//! asked waits at most [`PATIENCE`] from when the job is taken up. A worker that misses its time is
//! abandoned: nobody waits for it any more, a new worker takes the jobs that are left, and the old one
//! ends when its job does. While [`STUCK_MAX`] abandoned workers are still running, no new one is
//! started, and jobs are refused.
//!
//! A machine that is too busy to take the job up at all within that time is given [`STARVED_ROUNDS`]
//! times the patience: an ordinary command is not refused because other programs run. So what waits
//! longer than the patience waits for a processor and not for the parser, and its bound is all rounds
//! and the patience together. Its answer is then [`NoAnswer::NotStarted`] and not [`NoAnswer::Late`], and no worker is
//! abandoned or counted for it.
//!
//! A panic inside a job ends that job only. A stack of [`STACK_BYTES`] costs address space; pages
//! that are not touched cost nothing.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// The longest that a job of the parser's thread may run.
pub const PATIENCE: Duration = Duration::from_millis(40);
/// How often [`PATIENCE`] is granted to a job that no worker has taken up.
pub const STARVED_ROUNDS: u32 = 4;
/// The stack of the parser's thread, in bytes.
pub const STACK_BYTES: usize = 256 * 1024 * 1024;
/// The number of abandoned threads still running at which no further job is taken.
pub const STUCK_MAX: usize = 4;

/// Stands for the worker of a job that nobody waits for any more.
const GIVEN_UP: u64 = u64::MAX;

/// Why a job has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// A worker had the job and did not finish it in time.
    #[error("the parser did not answer within {} ms", PATIENCE.as_millis())]
    Late,
    /// No worker took the job up within [`STARVED_ROUNDS`] times [`PATIENCE`]; nothing was parsed.
    #[error("no parser thread took the command up within {} ms", (PATIENCE * STARVED_ROUNDS).as_millis())]
    NotStarted,
    /// The job panicked.
    #[error("the parser failed on this command")]
    Failed,
    /// Too many earlier jobs are still running.
    #[error("{STUCK_MAX} earlier commands still hold the parser")]
    Exhausted,
    /// No thread could be started.
    #[error("no thread could be started for the parser")]
    NoThread,
}

/// A desk for jobs, with a worker that stays warm between them.
///
/// Dropping it ends the worker after its current job.
#[derive(Debug, Default)]
pub(crate) struct ParserThread {
    desk: Arc<Desk>,
}

#[derive(Debug, Default)]
struct Desk {
    state: Mutex<State>,
    ready: Condvar,
    missed: AtomicUsize,
    stuck: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    /// The number of the worker that takes jobs.
    worker: Option<u64>,
    workers: u64,
    closed: bool,
}

struct Job {
    run: Box<dyn FnOnce() + Send>,
    taken: Arc<Taken>,
}

/// Which worker has taken a job up, and since when.
#[derive(Debug, Default)]
struct Taken {
    by: AtomicU64,
    at: OnceLock<Instant>,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl ParserThread {
    /// How many times a worker has missed its time since the start.
    pub(crate) fn missed(&self) -> usize {
        self.desk.missed.load(Ordering::Relaxed)
    }

    /// Runs `job` on the thread and waits for its answer without blocking the caller's thread.
    ///
    /// # Errors
    ///
    /// Returns a [`NoAnswer`] when the job failed, was late or was not taken.
    ///
    /// # Cancel safety
    ///
    /// Dropping the wait leaves the job to finish unseen.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let (answer, mut answered) = oneshot::channel();
        let taken = self.desk.submit(Box::new(move || {
            let _ = answer.send(job());
        }))?;
        let mut wait = PATIENCE;
        let mut rounds = 1;
        loop {
            match tokio::time::timeout(wait, &mut answered).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(_)) => return Err(Desk::lost(&taken)),
                Err(_) => wait = self.desk.longer(&taken, rounds)?,
            }
            rounds += 1;
        }
    }

    /// Runs `job` on the thread and blocks the caller's thread until the answer is there.
    ///
    /// # Errors
    ///
    /// Returns a [`NoAnswer`] when the job failed, was late or was not taken.
    pub(crate) fn run_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let (answer, answered) = mpsc::sync_channel(1);
        let taken = self.desk.submit(Box::new(move || {
            let _ = answer.send(job());
        }))?;
        let mut wait = PATIENCE;
        let mut rounds = 1;
        loop {
            match answered.recv_timeout(wait) {
                Ok(value) => return Ok(value),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(Desk::lost(&taken)),
                Err(mpsc::RecvTimeoutError::Timeout) => wait = self.desk.longer(&taken, rounds)?,
            }
            rounds += 1;
        }
    }
}

impl Drop for ParserThread {
    fn drop(&mut self) {
        self.desk.lock().closed = true;
        self.desk.ready.notify_all();
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can panic halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a job on the desk; the answer will say who has taken it up.
    fn submit(self: &Arc<Self>, run: Box<dyn FnOnce() + Send>) -> Result<Arc<Taken>, NoAnswer> {
        let mut state = self.lock();
        if state.worker.is_none() {
            self.hire(&mut state)?;
        }
        let taken = Arc::new(Taken::default());
        state.jobs.push_back(Job {
            run,
            taken: Arc::clone(&taken),
        });
        drop(state);
        self.ready.notify_one();
        Ok(taken)
    }

    fn hire(self: &Arc<Self>, state: &mut State) -> Result<(), NoAnswer> {
        if self.stuck.load(Ordering::Acquire) >= STUCK_MAX {
            return Err(NoAnswer::Exhausted);
        }
        let number = state.workers + 1;
        let desk = Arc::clone(self);
        thread::Builder::new()
            .name("triplane-parser".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || desk.work(number))
            .map_err(|_| NoAnswer::NoThread)?;
        state.workers = number;
        state.worker = Some(number);
        Ok(())
    }

    fn work(&self, number: u64) {
        while let Some(job) = self.take(number) {
            // The job owns all it touches; its sender is dropped with it, which tells the asker
            // that it failed.
            let _ = catch_unwind(AssertUnwindSafe(job.run));
        }
    }

    /// The next job for this worker, or `None` when it is no longer the one that takes them.
    fn take(&self, number: u64) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if state.worker != Some(number) {
                self.stuck.fetch_sub(1, Ordering::AcqRel);
                return None;
            }
            if state.closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                if job.taken.by.load(Ordering::Acquire) == GIVEN_UP {
                    continue;
                }
                // Before the number, which says that the time is there.
                job.taken.at.get_or_init(Instant::now);
                job.taken.by.store(number, Ordering::Release);
                return Some(job);
            }
            state = self
                .ready
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Why a job ended without an answer: it failed, or nobody was left to take it.
    fn lost(taken: &Taken) -> NoAnswer {
        match taken.by.load(Ordering::Acquire) {
            0 => NoAnswer::Exhausted,
            _ => NoAnswer::Failed,
        }
    }

    /// How much longer whoever has waited `rounds` times waits for the job, or why no longer. What has
    /// been taken up at last has its whole time still.
    fn longer(self: &Arc<Self>, taken: &Taken, rounds: u32) -> Result<Duration, NoAnswer> {
        // Workers take jobs under the same lock.
        let mut state = self.lock();
        let number = taken.by.load(Ordering::Acquire);
        if number == 0 && rounds < STARVED_ROUNDS {
            return Ok(PATIENCE);
        }
        if number == 0 {
            taken.by.store(GIVEN_UP, Ordering::Release);
            return Err(NoAnswer::NotStarted);
        }
        let worked = taken.at.get().map_or(PATIENCE, Instant::elapsed);
        let left = PATIENCE.saturating_sub(worked);
        if !left.is_zero() {
            return Ok(left);
        }
        self.abandon(&mut state, number);
        Err(NoAnswer::Late)
    }

    /// Leaves a worker to itself.
    fn abandon(self: &Arc<Self>, state: &mut State, number: u64) {
        if state.worker == Some(number) {
            state.worker = None;
            self.stuck.fetch_add(1, Ordering::AcqRel);
            self.missed.fetch_add(1, Ordering::Relaxed);
            // Those who wait behind the late job are served by somebody else, or not at all.
            if !state.jobs.is_empty() && self.hire(state).is_err() {
                state.jobs.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that runs until the returned sender is dropped.
    fn stuck(thread: &ParserThread) -> (Result<(), NoAnswer>, mpsc::Sender<()>) {
        let (release, held) = mpsc::channel::<()>();
        let answer = thread.run_blocking(move || {
            let _ = held.recv();
        });
        (answer, release)
    }

    #[test]
    fn a_warm_thread_answers_again_and_again() {
        let thread = ParserThread::default();
        let first = thread.run_blocking(|| thread::current().id()).unwrap();
        let second = thread.run_blocking(|| thread::current().id()).unwrap();
        assert_eq!(first, second);
    }

    #[test]
    fn a_late_thread_is_abandoned_and_counted_and_the_next_job_runs() {
        let thread = ParserThread::default();
        let (answer, release) = stuck(&thread);
        assert_eq!(answer, Err(NoAnswer::Late));
        assert_eq!(thread.missed(), 1);
        assert_eq!(thread.run_blocking(|| 7), Ok(7));
        drop(release);
    }

    #[test]
    fn a_job_that_no_worker_takes_up_is_told_apart_and_counts_against_nobody() {
        let thread = ParserThread::default();
        // A worker that never comes to the desk, as on a machine that does not run it.
        thread.desk.lock().worker = Some(1);
        let answer = thread.run_blocking(|| 7);
        assert_eq!(answer, Err(NoAnswer::NotStarted));
        assert_eq!(thread.missed(), 0);
        assert_eq!(
            NoAnswer::NotStarted.to_string(),
            "no parser thread took the command up within 160 ms"
        );
    }

    #[test]
    fn a_job_that_is_taken_up_at_the_end_of_a_round_has_its_whole_time() {
        let thread = ParserThread::default();
        let taken = Taken::default();
        // No time has passed since then, however long this test is held up.
        taken
            .at
            .set(Instant::now() + Duration::from_mins(1))
            .unwrap();
        taken.by.store(1, Ordering::Release);
        for rounds in [1, STARVED_ROUNDS] {
            assert_eq!(thread.desk.longer(&taken, rounds), Ok(PATIENCE));
        }
        assert_eq!(thread.missed(), 0);
    }

    #[test]
    fn a_job_that_was_given_up_is_not_run_later() {
        let thread = ParserThread::default();
        thread.desk.lock().worker = Some(1);
        let (run, ran) = mpsc::channel::<()>();
        let answer = thread.run_blocking(move || run.send(()));
        assert_eq!(answer, Err(NoAnswer::NotStarted));
        // A worker comes to the desk after all.
        thread.desk.lock().worker = None;
        assert_eq!(thread.run_blocking(|| 7), Ok(7));
        assert!(ran.recv().is_err(), "the job was run");
    }

    #[test]
    fn whoever_waits_when_no_worker_is_left_is_told_so() {
        let thread = ParserThread::default();
        let held: Vec<_> = (1..STUCK_MAX).map(|_| stuck(&thread).1).collect();
        let (release, last) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let late = scope.spawn(|| thread.run_blocking(move || last.recv().is_ok()));
            let taken = || {
                let state = thread.desk.lock();
                state.worker == Some(STUCK_MAX as u64) && state.jobs.is_empty()
            };
            while !taken() {
                thread::yield_now();
            }
            let behind = thread.run_blocking(|| 7);
            assert_eq!(late.join().unwrap(), Err(NoAnswer::Late));
            assert_eq!(behind, Err(NoAnswer::Exhausted));
        });
        drop((held, release));
    }

    #[test]
    fn after_four_stuck_threads_no_job_is_taken_until_one_ends() {
        let thread = ParserThread::default();
        let held: Vec<_> = (0..STUCK_MAX).map(|_| stuck(&thread).1).collect();
        assert_eq!(thread.run_blocking(|| 7), Err(NoAnswer::Exhausted));
        drop(held);
        while thread.desk.stuck.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
        assert_eq!(thread.run_blocking(|| 7), Ok(7));
        assert_eq!(thread.missed(), STUCK_MAX);
    }

    #[test]
    fn whoever_waits_behind_a_late_job_is_served_by_a_new_worker() {
        let thread = ParserThread::default();
        let (release, held) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let late = scope.spawn(|| thread.run_blocking(move || held.recv().is_ok()));
            while thread.desk.lock().workers == 0 || !thread.desk.lock().jobs.is_empty() {
                thread::yield_now();
            }
            assert_eq!(thread.run_blocking(|| 7), Ok(7));
            assert_eq!(late.join().unwrap(), Err(NoAnswer::Late));
        });
        drop(release);
    }

    #[test]
    fn a_panic_ends_the_job_and_not_the_thread() {
        let thread = ParserThread::default();
        // Unwinds without the panic hook, whose report would take longer than the patience.
        let answer = thread.run_blocking(|| -> u8 { std::panic::resume_unwind(Box::new(())) });
        assert_eq!(answer, Err(NoAnswer::Failed));
        assert_eq!(thread.run_blocking(|| 7), Ok(7));
    }

    #[tokio::test]
    async fn a_current_thread_runtime_is_not_blocked_by_the_wait() {
        let thread = ParserThread::default();
        let (release, held) = mpsc::channel::<()>();
        let (answer, ()) = tokio::join!(thread.run(move || held.recv().is_ok()), async move {
            release.send(()).unwrap();
        });
        assert_eq!(answer, Ok(true));
    }
}
