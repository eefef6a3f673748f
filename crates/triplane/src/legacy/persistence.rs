//! Storing every signal of an old observer, and counting what was not confirmed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use tokio::time::Instant;
use triplane_kernel::HandlerFailure;

use crate::legacy::error::StateCompatibilityRefused;
use crate::legacy::value::Signal;

/// How long nothing is written after the store was found locked.
pub const SKIP_WINDOW: Duration = Duration::from_secs(30);

/// The largest payload of a row, in bytes of JSON.
pub const PAYLOAD_BYTES_MAX: usize = 16 * 1024;

/// Where the signals of an old observer are stored; implemented by the owner of a store.
///
/// Writes come one at a time. The future is dropped when the emission is cancelled; whether the row
/// was written is not known then, and counted as not confirmed.
pub trait SignalSink: Send + Sync {
    /// Writes one row.
    fn write<'a>(&'a self, row: &'a SignalRow) -> BoxFuture<'a, Result<(), SinkFailure>>;
}

/// One signal as the old store kept it.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalRow {
    /// The session that the observer was bound for.
    pub session: String,
    /// The class, as stored rows name it.
    pub class: &'static str,
    /// The node, or empty.
    pub op_id: String,
    /// The signal's own fields and data. What is larger than [`PAYLOAD_BYTES_MAX`] is an object with
    /// `truncated`, `original_bytes` and the beginning of the text in `data`.
    pub payload: Json,
}

/// Why a row was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SinkFailure {
    /// The write failed.
    #[error(transparent)]
    Failed(Box<dyn std::error::Error + Send + Sync>),
    /// Another writer holds the store. Nothing is written for [`SKIP_WINDOW`]; then one write is tried.
    #[error("another writer holds the store")]
    Locked,
    /// The store refused the row for good.
    #[error(transparent)]
    Refused(#[from] StateCompatibilityRefused),
}

/// One binding of an observer to a sink, with its own counts.
pub(crate) struct Binding {
    session: String,
    sink: Arc<dyn SignalSink>,
    on_window_opened: Option<Arc<dyn Fn() + Send + Sync>>,
    book: Mutex<Book>,
    /// One write at a time, so that a write behind one that found the store locked skips, too.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Book {
    dropped: u64,
    in_flight: u64,
    refusal: Option<StateCompatibilityRefused>,
    skip_until: Option<Instant>,
    trying: bool,
    window_reported: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Admission {
    Write,
    /// The one write at the end of a window.
    Try,
    Skip,
}

impl Book {
    fn admit(&mut self) -> Admission {
        match self.skip_until {
            None => Admission::Write,
            Some(end) if self.trying || Instant::now() < end => Admission::Skip,
            Some(_) => {
                self.trying = true;
                Admission::Try
            }
        }
    }
}

impl Binding {
    pub(crate) fn new(
        session: String,
        sink: Arc<dyn SignalSink>,
        on_window_opened: Option<Arc<dyn Fn() + Send + Sync>>,
    ) -> Self {
        Self {
            session,
            sink,
            on_window_opened,
            book: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// What is not known to be written: what was dropped and what is being written.
    pub(crate) fn unconfirmed(&self) -> u64 {
        let book = self.book();
        book.dropped + book.in_flight
    }

    pub(crate) fn refusal(&self) -> Option<StateCompatibilityRefused> {
        self.book().refusal.clone()
    }

    pub(crate) fn session(&self) -> &str {
        &self.session
    }

    /// Takes a signal. It counts as being written from now on, also when the future never runs.
    pub(crate) fn take(
        self: &Arc<Self>,
        signal: &Arc<Signal>,
    ) -> BoxFuture<'static, Result<(), HandlerFailure>> {
        self.book().in_flight += 1;
        let mut flight = InFlight {
            binding: Arc::clone(self),
            trying: false,
            confirmed: false,
        };
        let row = self.row(signal);
        Box::pin(async move {
            flight.write(&row).await;
            Ok(())
        })
    }

    fn row(&self, signal: &Signal) -> SignalRow {
        SignalRow {
            session: self.session.clone(),
            class: signal.class.stored_name(),
            op_id: signal.text("op_id").to_owned(),
            payload: bounded(signal.to_json()),
        }
    }

    fn failed(&self, failure: SinkFailure) -> bool {
        let mut book = self.book();
        match failure {
            SinkFailure::Refused(refusal) => {
                if book.refusal.is_some() {
                    tracing::error!(session = %self.session, failure = %refusal,
                        "another signal was refused");
                } else {
                    book.refusal = Some(refusal);
                }
                // The owner is told by `persist_refusal`; it is no drop.
                return true;
            }
            SinkFailure::Locked => {
                let opens = book.skip_until.is_none();
                book.skip_until = Some(Instant::now() + SKIP_WINDOW);
                if opens {
                    let report = !std::mem::replace(&mut book.window_reported, true);
                    drop(book);
                    if let (true, Some(opened)) = (report, &self.on_window_opened) {
                        opened();
                    }
                    tracing::warn!(session = %self.session, failure = %SinkFailure::Locked,
                        "signals are not stored for a while");
                }
            }
            SinkFailure::Failed(_) => {}
        }
        false
    }

    /// The counts are changed one at a time, so that a panic leaves them whole.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A signal that was taken. Unless it is confirmed, it counts as dropped when it ends.
struct InFlight {
    binding: Arc<Binding>,
    trying: bool,
    confirmed: bool,
}

impl InFlight {
    async fn write(&mut self, row: &SignalRow) {
        let binding = Arc::clone(&self.binding);
        if !self.admitted() {
            return;
        }
        let _turn = binding.turn.lock().await;
        // A write before this one may have found the store locked.
        if !self.trying && !self.admitted() {
            return;
        }
        match binding.sink.write(row).await {
            Ok(()) => {
                binding.book().skip_until = None;
                self.confirmed = true;
            }
            Err(failure) => self.confirmed = binding.failed(failure),
        }
    }

    fn admitted(&mut self) -> bool {
        let admission = self.binding.book().admit();
        self.trying |= admission == Admission::Try;
        admission != Admission::Skip
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut book = self.binding.book();
        book.in_flight -= 1;
        if !self.confirmed {
            book.dropped += 1;
        }
        if self.trying {
            book.trying = false;
        }
    }
}

/// The payload, or its beginning when it is too large.
fn bounded(payload: Json) -> Json {
    let text = payload.to_string();
    if text.len() <= PAYLOAD_BYTES_MAX {
        return payload;
    }
    let cut = |bytes: usize| {
        let end = text.floor_char_boundary(bytes);
        json!({"truncated": true, "original_bytes": text.len(), "data": &text[..end]})
    };
    // What is escaped takes more room than it had, so that the most that fits is searched for.
    let (mut fits, mut too_large) = (0, PAYLOAD_BYTES_MAX);
    while fits + 1 < too_large {
        let half = fits.midpoint(too_large);
        if cut(half).to_string().len() <= PAYLOAD_BYTES_MAX {
            fits = half;
        } else {
            too_large = half;
        }
    }
    cut(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_that_is_too_large_is_cut_to_fit_and_says_so() {
        let small = json!({"data": "x"});
        assert_eq!(bounded(small.clone()), small);
        for letter in ["x", "\"", "ü"] {
            let cut = bounded(json!({"data": letter.repeat(20_000)}));
            assert!(cut.to_string().len() <= PAYLOAD_BYTES_MAX);
            assert!(cut.to_string().len() > PAYLOAD_BYTES_MAX - 8);
            assert_eq!(cut["truncated"], true);
        }
    }
}
