//! Looking after a store: cursors into its log, what it missed, whether it agrees with itself, a copy.

use std::path::Path;

use uuid::Uuid;

use crate::engine::backup::{StoreBackup, backup};
use crate::engine::capture::{CaptureReport, report};
use crate::engine::check::{CHECKS, StoreFinding, check};
use crate::engine::handle::Store;
use crate::engine::signal_log::{SignalCursor, SignalPage, SignalRecord, end_of, signal};
use crate::error::StateError;

impl Store {
    /// A cursor that stands after the number `after` in this epoch of this store; 0 is the
    /// beginning.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn cursor(&self, after: u64) -> Result<SignalCursor, StateError> {
        Ok(SignalCursor::new(self.epoch().await?, after))
    }

    /// A page of the log of `session`, or of the whole log, from `cursor` on and up to the number
    /// `cutoff`: without one, up to where the log ends now. The page says where that was.
    ///
    /// # Errors
    ///
    /// [`StateError::CursorOfAnotherEpoch`] for a cursor of another copy of the store,
    /// [`StateError::CursorBeyondEnd`] for one that stands behind the end of the log; else as
    /// [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn page(
        &self,
        session: Option<&str>,
        cursor: &SignalCursor,
        cutoff: Option<u64>,
        limit: u32,
    ) -> Result<SignalPage, StateError> {
        let epoch = self.epoch().await?;
        cursor.check_epoch(epoch)?;
        let end = {
            let mut reader = self.connections.readers.lend().await?;
            let end = end_of(&mut reader, session).await;
            end.map_err(|error| self.connections.failure(error))?
        };
        if cursor.after() > end {
            return Err(StateError::CursorBeyondEnd {
                after: cursor.after(),
                end,
            });
        }
        let after = i64::try_from(cursor.after()).unwrap_or(i64::MAX);
        let mut signals = self.read_page(session, after, limit).await?;
        let number = |signal: &SignalRecord| match session {
            Some(_) => signal.sequence,
            None => signal.position.unsigned_abs(),
        };
        let cutoff = cutoff.unwrap_or(end);
        signals.retain(|signal| number(signal) <= cutoff);
        let after = signals.last().map_or(cursor.after(), number);
        Ok(SignalPage {
            signals,
            next: SignalCursor::new(epoch, after),
            end,
        })
    }

    /// One signal, by its id.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn signal(&self, id: &str) -> Result<Option<SignalRecord>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = signal(&mut reader, id).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// What is known of what the store did not capture. Notes that wait beside the store are
    /// recorded first.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn capture(&self) -> Result<CaptureReport, StateError> {
        self.queue.capture().take_spool().await;
        let now_us = self.connections.now_us();
        let mut reader = self.connections.readers.lend().await?;
        let read = report(&mut reader, now_us).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// Looks the store through, in one snapshot of it: its pages, its keys, and what its rows say of
    /// each other. Takes as long as reading everything; others may go on meanwhile.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`]. What is found is no error.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn check(&self) -> Result<Vec<StoreFinding>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let found = check(&mut reader).await;
        found.map_err(|error| self.connections.failure(error))
    }

    /// What [`Store::check`] looks at, in this order.
    pub fn checks() -> &'static [&'static str] {
        CHECKS
    }

    /// Copies the store to `to`, also while it is in use, and checks the copy before it is put into
    /// place. The copy keeps the store's id, and with it the keys of its deliveries, and gets an
    /// epoch of its own. Nothing is ever overwritten.
    ///
    /// # Errors
    ///
    /// [`StateError::BackupExists`] when something stands at `to`, [`StateError::BackupUnsound`] when
    /// the copy contradicts itself, [`StateError::File`] and [`StateError::DiskFull`] when it cannot
    /// be written; else as [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the backup is either complete or not there.
    pub async fn backup(&self, to: impl AsRef<Path>) -> Result<StoreBackup, StateError> {
        backup(&self.connections, to.as_ref()).await
    }

    async fn epoch(&self) -> Result<Uuid, StateError> {
        self.connections.epoch().await
    }
}
