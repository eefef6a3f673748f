//! The signals SIGINT and SIGTERM as a request to stop, and as an order when they come again.

use anyhow::{Context as _, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::render::complain;

/// A signal that asks a process to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopSignal {
    Interrupt,
    Terminate,
}

impl StopSignal {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }

    /// The exit code of a process that the signal ended: 128 and its number.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Whether the process was asked to stop.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    asked: watch::Receiver<Option<StopSignal>>,
}

impl Stop {
    /// Begins to listen. From then on the first signal is a request; the second one ends the process
    /// at once, whatever it is doing.
    pub(crate) fn listen() -> Result<Self> {
        let cannot = "cannot listen for signals";
        let interrupt = signal(SignalKind::interrupt()).context(cannot)?;
        let terminate = signal(SignalKind::terminate()).context(cannot)?;
        let (ask, asked) = watch::channel(None);
        tokio::spawn(listen(interrupt, terminate, ask));
        Ok(Self { asked })
    }

    /// The first signal, if one has come.
    pub(crate) fn asked(&self) -> Option<StopSignal> {
        *self.asked.borrow()
    }

    /// Waits for the first signal.
    ///
    /// Cancel safe.
    pub(crate) async fn wait(&self) -> StopSignal {
        let mut asked = self.asked.clone();
        loop {
            if let Some(signal) = *asked.borrow_and_update() {
                return signal;
            }
            if asked.changed().await.is_err() {
                // Nobody listens any more: the runtime ends.
                std::future::pending::<()>().await;
            }
        }
    }
}

async fn listen(
    mut interrupt: Signal,
    mut terminate: Signal,
    ask: watch::Sender<Option<StopSignal>>,
) {
    loop {
        let came = tokio::select! {
            _ = interrupt.recv() => StopSignal::Interrupt,
            _ = terminate.recv() => StopSignal::Terminate,
        };
        if ask.borrow().is_some() {
            std::process::exit(i32::from(came.exit_code()));
        }
        complain(format_args!(
            "{}: stopping; a second one ends it at once",
            came.name()
        ));
        ask.send_replace(Some(came));
    }
}
