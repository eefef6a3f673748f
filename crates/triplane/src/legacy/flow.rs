//! What an old observer has seen: signals in order, and named streams of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::legacy::value::Signal;

/// Signals in memory, in the order in which they were emitted.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    items: Vec<Arc<Signal>>,
    /// In the order in which they were first written to.
    streams: Vec<(String, Vec<Arc<Signal>>)>,
}

impl Flow {
    pub(crate) fn add(&self, signal: Arc<Signal>) {
        self.lock().items.push(signal);
    }

    pub(crate) fn append(&self, stream: &str, signal: Arc<Signal>) {
        let mut held = self.lock();
        match held.streams.iter_mut().find(|(name, _)| name == stream) {
            Some((_, items)) => items.push(signal),
            None => held.streams.push((stream.to_owned(), vec![signal])),
        }
    }

    pub(crate) fn items(&self) -> Vec<Arc<Signal>> {
        self.lock().items.clone()
    }

    /// Empty when nothing was ever written to the stream.
    pub(crate) fn stream(&self, stream: &str) -> Vec<Arc<Signal>> {
        let held = self.lock();
        let found = held.streams.iter().find(|(name, _)| name == stream);
        found.map(|(_, items)| items.clone()).unwrap_or_default()
    }

    /// The lists are changed by whole operations of `Vec`, so that a panic leaves them whole.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
