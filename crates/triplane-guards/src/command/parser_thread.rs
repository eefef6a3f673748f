//! The thread that parses: a large stack, a short time, and a bounded number of casualties.
//!
//! The parser recurses and backtracks, so it is kept off the caller's stack and off the caller's
//! clock. One warm thread takes jobs in order; whoever asked waits at most [`PATIENCE`]. A thread
//! that misses its time is abandoned: nobody waits for it any more, the next job starts a new
//! thread, and the old one ends when its job does. While [`STUCK_MAX`] abandoned threads are still
//! running, no further job is taken.
//!
//! A panic inside a job ends that job only. A stack of [`STACK_BYTES`] costs address space; pages
//! that are not touched cost nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

/// The longest that anybody waits for a verdict of the parser's thread.
pub const PATIENCE: Duration = Duration::from_millis(40);
/// The stack of the parser's thread, in bytes.
pub const STACK_BYTES: usize = 256 * 1024 * 1024;
/// The number of abandoned threads still running at which no further job is taken.
pub const STUCK_MAX: usize = 4;

/// Why a job has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The job was not done within [`PATIENCE`].
    #[error("the parser did not answer within {} ms", PATIENCE.as_millis())]
    Late,
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

type Job = Box<dyn FnOnce() + Send>;

/// A place for jobs to run, with a thread that stays warm between them.
///
/// Dropping it ends the thread after its current job.
#[derive(Debug, Default)]
pub(crate) struct ParserThread {
    seat: Mutex<Option<Seat>>,
    started: AtomicUsize,
    missed: AtomicUsize,
    stuck: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Seat {
    jobs: mpsc::Sender<Job>,
    generation: usize,
    /// Set when the thread is abandoned, so that it takes itself off the count when it ends.
    abandoned: Arc<Mutex<bool>>,
}

impl ParserThread {
    /// How many times a thread has missed its time since the start.
    pub(crate) fn missed(&self) -> usize {
        self.missed.load(Ordering::Relaxed)
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
        let (answer, answered) = oneshot::channel();
        let generation = self.submit(Box::new(move || {
            let _ = answer.send(job());
        }))?;
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) => Err(NoAnswer::Failed),
            Err(_) => Err(self.abandon(generation)),
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
        let generation = self.submit(Box::new(move || {
            let _ = answer.send(job());
        }))?;
        match answered.recv_timeout(PATIENCE) {
            Ok(value) => Ok(value),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(NoAnswer::Failed),
            Err(mpsc::RecvTimeoutError::Timeout) => Err(self.abandon(generation)),
        }
    }

    /// Hands a job to the warm thread, or to a new one.
    fn submit(&self, job: Job) -> Result<usize, NoAnswer> {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match seat.as_ref() {
            Some(warm) => match warm.jobs.send(job) {
                Ok(()) => return Ok(warm.generation),
                Err(mpsc::SendError(job)) => job,
            },
            None => job,
        };
        if self.stuck.load(Ordering::Acquire) >= STUCK_MAX {
            return Err(NoAnswer::Exhausted);
        }
        let generation = self.started.fetch_add(1, Ordering::Relaxed);
        let fresh = Seat::start(generation, Arc::clone(&self.stuck))?;
        fresh.jobs.send(job).map_err(|_| NoAnswer::NoThread)?;
        *seat = Some(fresh);
        Ok(generation)
    }

    /// Leaves the thread of this generation to itself; of several who waited for it, one counts.
    fn abandon(&self, generation: usize) -> NoAnswer {
        let mut seat = self.seat.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(late) = seat.take_if(|seat| seat.generation == generation) {
            let mut abandoned = late.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
            *abandoned = true;
            self.stuck.fetch_add(1, Ordering::AcqRel);
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
        NoAnswer::Late
    }
}

impl Seat {
    fn start(generation: usize, stuck: Arc<AtomicUsize>) -> Result<Self, NoAnswer> {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let abandoned = Arc::new(Mutex::new(false));
        let flag = Arc::clone(&abandoned);
        thread::Builder::new()
            .name("triplane-parser".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                while let Ok(job) = inbox.recv() {
                    // The job owns all it touches; its sender is dropped with it, which tells the
                    // asker that it failed.
                    let _ = catch_unwind(AssertUnwindSafe(job));
                }
                if *flag.lock().unwrap_or_else(PoisonError::into_inner) {
                    stuck.fetch_sub(1, Ordering::AcqRel);
                }
            })
            .map_err(|_| NoAnswer::NoThread)?;
        Ok(Self {
            jobs,
            generation,
            abandoned,
        })
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
    fn after_four_stuck_threads_no_job_is_taken_until_one_ends() {
        let thread = ParserThread::default();
        let held: Vec<_> = (0..STUCK_MAX).map(|_| stuck(&thread).1).collect();
        assert_eq!(thread.run_blocking(|| 7), Err(NoAnswer::Exhausted));
        drop(held);
        while thread.stuck.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
        assert_eq!(thread.run_blocking(|| 7), Ok(7));
        assert_eq!(thread.missed(), STUCK_MAX);
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
        let (answer, ()) = tokio::join!(
            thread.run(move || held.recv().is_ok()),
            async move { release.send(()).unwrap() }
        );
        assert_eq!(answer, Ok(true));
    }
}
