//! Interceptors and handlers that write down when they are asked.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use triplane_kernel::{Called, Decision, Handler, HandlerFailure, Interceptor, Scope, Step};

/// A shared list of what happened, in order. Clones write to one list.
///
/// ```
/// use triplane_kernel::{Decision, Interceptor, Scope};
/// use triplane_testkit::recorder::Log;
///
/// let log = Log::default();
/// let asked = log.interceptor("guard", |text: &String| Ok(Decision::deny(text.as_str())));
/// drop(asked.intercept(&"no".to_owned(), &Scope::new()));
/// assert_eq!(log.take(), ["guard"]);
/// ```
#[derive(Clone, Default)]
pub struct Log {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    /// Writes one line.
    pub fn write(&self, line: impl Into<String>) {
        self.lock().push(line.into());
    }

    /// What has been written so far; the list is empty afterwards.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lock())
    }

    /// An interceptor that writes its name and then answers with `judge`.
    pub fn interceptor<C, F>(&self, name: &str, judge: F) -> impl Interceptor<C> + use<C, F>
    where
        F: Fn(&C) -> Result<Decision<C>, HandlerFailure> + Send + Sync,
    {
        Recording {
            log: self.clone(),
            name: name.to_owned(),
            takes: None,
            inner: judge,
        }
    }

    /// The same, which waits `takes` on the tokio clock before it answers. Asked, answered and
    /// dropped unfinished are three lines: `name`, `name answers`, `name dropped`.
    pub fn slow_interceptor<C, F>(
        &self,
        name: &str,
        takes: Duration,
        judge: F,
    ) -> impl Interceptor<C> + use<C, F>
    where
        C: Sync,
        F: Fn(&C) -> Result<Decision<C>, HandlerFailure> + Send + Sync,
    {
        Slow(Recording {
            log: self.clone(),
            name: name.to_owned(),
            takes: Some(takes),
            inner: judge,
        })
    }

    /// A handler that writes its name and then answers with `answer`.
    pub fn handler<S, T, F>(&self, name: &str, answer: F) -> impl Handler<S, T> + use<S, T, F>
    where
        F: Fn(&S) -> Result<T, HandlerFailure> + Send + Sync,
    {
        Recording {
            log: self.clone(),
            name: name.to_owned(),
            takes: None,
            inner: answer,
        }
    }

    /// The same, which waits `takes` on the tokio clock before it answers, with the lines of
    /// [`slow_interceptor`](Self::slow_interceptor).
    pub fn slow_handler<S, T, F>(
        &self,
        name: &str,
        takes: Duration,
        answer: F,
    ) -> impl Handler<S, T> + use<S, T, F>
    where
        S: Sync,
        F: Fn(&S) -> Result<T, HandlerFailure> + Send + Sync,
    {
        Slow(Recording {
            log: self.clone(),
            name: name.to_owned(),
            takes: Some(takes),
            inner: answer,
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lock().iter()).finish()
    }
}

struct Recording<F> {
    log: Log,
    name: String,
    takes: Option<Duration>,
    inner: F,
}

struct Slow<F>(Recording<F>);

impl<F> Recording<F> {
    fn asked(&self) -> &F {
        self.log.write(&*self.name);
        &self.inner
    }

    /// Waits, and writes how the wait ended.
    async fn wait(&self) -> &F {
        let mut end = WrittenOnDrop {
            log: &self.log,
            line: format!("{} dropped", self.name),
        };
        tokio::time::sleep(self.takes.unwrap_or_default()).await;
        end.line = format!("{} answers", self.name);
        &self.inner
    }
}

struct WrittenOnDrop<'a> {
    log: &'a Log,
    line: String,
}

impl Drop for WrittenOnDrop<'_> {
    fn drop(&mut self) {
        self.log.write(std::mem::take(&mut self.line));
    }
}

impl<C, F> Interceptor<C> for Recording<F>
where
    F: Fn(&C) -> Result<Decision<C>, HandlerFailure> + Send + Sync,
{
    fn intercept<'a>(
        &'a self,
        cx: &'a C,
        _: &'a Scope,
    ) -> Step<'a, Result<Decision<C>, HandlerFailure>> {
        Step::Ready(self.asked()(cx))
    }
}

impl<C, F> Interceptor<C> for Slow<F>
where
    C: Sync,
    F: Fn(&C) -> Result<Decision<C>, HandlerFailure> + Send + Sync,
{
    fn intercept<'a>(
        &'a self,
        cx: &'a C,
        _: &'a Scope,
    ) -> Step<'a, Result<Decision<C>, HandlerFailure>> {
        self.0.asked();
        Step::later(async move { self.0.wait().await(cx) })
    }
}

impl<S, T, F> Handler<S, T> for Recording<F>
where
    F: Fn(&S) -> Result<T, HandlerFailure> + Send + Sync,
{
    fn call<'a>(&'a self, signal: &'a S, _: &'a Scope) -> Called<'a, Result<T, HandlerFailure>> {
        Called::Now(self.asked()(signal))
    }
}

impl<S, T, F> Handler<S, T> for Slow<F>
where
    S: Sync,
    F: Fn(&S) -> Result<T, HandlerFailure> + Send + Sync,
{
    fn call<'a>(&'a self, signal: &'a S, _: &'a Scope) -> Called<'a, Result<T, HandlerFailure>> {
        self.0.asked();
        Called::later(async move { self.0.wait().await(signal) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_handler_writes_how_its_wait_ended() {
        let log = Log::default();
        let slow = log.slow_handler("slow", Duration::from_secs(1), |n: &u32| Ok(*n));
        let scope = Scope::new();
        let Called::Later { future, .. } = slow.call(&7, &scope) else {
            panic!("a slow handler answers later")
        };
        assert_eq!(future.await.ok(), Some(7));
        assert_eq!(log.take(), ["slow", "slow answers"]);
        let Called::Later { future, .. } = slow.call(&7, &scope) else {
            panic!("a slow handler answers later")
        };
        let cut = tokio::time::timeout(Duration::from_millis(1), future).await;
        assert!(cut.is_err());
        assert_eq!(log.take(), ["slow", "slow dropped"]);
    }
}
