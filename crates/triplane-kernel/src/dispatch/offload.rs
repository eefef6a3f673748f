//! The port through which a handler that blocks leaves the thread of the emission.

use std::fmt;

/// Runs blocking work somewhere else.
///
/// The dispatcher hands in closures that never panic and that report by themselves whether they
/// began and what they came to. An implementation may drop a closure unrun, for example when it
/// shuts down: the handler has then failed.
pub trait Offload: Send + Sync + fmt::Debug {
    /// Takes the work; returns at once.
    fn submit(&self, work: Box<dyn FnOnce() + Send>);
}

/// Offloads to the blocking threads of the tokio runtime that the emission runs on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpawnBlocking;

impl Offload for SpawnBlocking {
    /// # Panics
    ///
    /// Outside a tokio runtime.
    fn submit(&self, work: Box<dyn FnOnce() + Send>) {
        // The handle is dropped on purpose: the work reports by itself, and a blocking task cannot
        // be aborted once it runs.
        drop(tokio::task::spawn_blocking(work));
    }
}
