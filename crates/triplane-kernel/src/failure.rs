//! How a handler can fail: the three classes that every policy tells apart.

use std::any::Any;
use std::error::Error;
use std::fmt;

use crate::cancel::CancelCause;

/// What a handler answers when it has no value (ADR-0120 D2).
///
/// The classes are never folded into each other: a cancellation is not an ordinary error, and a
/// fatal failure is neither.
#[derive(Debug, thiserror::Error)]
pub enum HandlerFailure {
    /// The handler failed, or panicked.
    #[error("{0}")]
    Failed(#[source] HandlerError),
    /// The handler was cancelled, by whom the cause says.
    #[error("cancelled by {}", cause_name(*.0))]
    Cancelled(CancelCause),
    /// The class beyond ordinary errors: what a Python `BaseException` is to an `Exception`.
    #[error("fatal: {0}")]
    Fatal(#[source] HandlerError),
}

impl HandlerFailure {
    /// An ordinary failure with this error.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(HandlerError::Error(error.into()))
    }

    /// A fatal failure with this error.
    pub fn fatal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Fatal(HandlerError::Error(error.into()))
    }

    /// The failure of a handler that panicked, from what `catch_unwind` returned.
    pub fn panicked(payload: &(dyn Any + Send)) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned());
        Self::Failed(HandlerError::Panic(message))
    }
}

impl HandlerFailure {
    /// The failure and all its sources, outermost first, as one line.
    ///
    /// ```
    /// use triplane_kernel::HandlerFailure;
    ///
    /// let inner = std::io::Error::other("disk full");
    /// let failure = HandlerFailure::failed(std::io::Error::other(inner));
    /// assert_eq!(failure.chain(), "disk full");
    /// ```
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        // The failure and the error that it wraps show the same text.
        let mut source = self.source().and_then(Error::source);
        while let Some(error) = source {
            text.push_str(": ");
            text.push_str(&error.to_string());
            source = error.source();
        }
        text
    }
}

/// The error inside a [`HandlerFailure`].
pub enum HandlerError {
    /// The error that the handler returned.
    Error(Box<dyn Error + Send + Sync>),
    /// The message of the panic that the dispatcher caught.
    Panic(String),
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => fmt::Display::fmt(error, f),
            Self::Panic(message) => write!(f, "panicked: {message}"),
        }
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => fmt::Debug::fmt(error, f),
            Self::Panic(message) => f.debug_tuple("Panic").field(message).finish(),
        }
    }
}

impl Error for HandlerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Error(error) => error.source(),
            Self::Panic(_) => None,
        }
    }
}

fn cause_name(cause: CancelCause) -> &'static str {
    match cause {
        CancelCause::Emitter => "the emitter",
        CancelCause::Handler => "the handler itself",
        CancelCause::Deadline => "a deadline",
    }
}
