//! One open store, as its users hold it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::commit::PendingFact;
use crate::engine::commit::{CommitQueue, UnitOfWork};
use crate::engine::inspect::{Scrutiny, StoreInspection, inspect};
use crate::engine::operations::{OperationPage, OperationRecord, named, page as operations};
use crate::engine::outbox::{
    Acknowledgement, DeliveryWorker, IntentSelection, OperatorReport, OutboxEntry, OutboxHistory,
    OutboxStatus, PURGEABLE, PurgedIntent, RETRYABLE, acknowledge, entries, history, preview,
    purge, retry, tombstone,
};
use crate::engine::signal_log::{
    SessionSummary, SignalRecord, end_of, page, page_direct, sessions, sessions_like,
};
use crate::engine::stats::{StoreStats, stats, unsettled};
use crate::engine::store::{Connections, StoreOptions};
use crate::error::StateError;

/// An open store. Clones share it.
///
/// [Close](Store::close) it on every path: the connection that closes last empties the write-ahead
/// log, and a log that was never emptied makes every later opening slower.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) connections: Arc<Connections>,
    pub(crate) queue: CommitQueue,
}

impl Store {
    /// Opens the store, and makes it first if it does not exist.
    ///
    /// A missing folder is made with mode 0700 and a `.gitignore` of its own; one that is there is
    /// left as it is. Store files have mode 0600 from their first instant. Any number of processes
    /// may make and open the same store at the same moment.
    ///
    /// # Errors
    ///
    /// [`StateError::NotAFile`], [`StateError::NotADatabase`], [`StateError::ForeignDatabase`] and
    /// [`StateError::NewerSchema`] for what stands at the path, [`StateError::SettingRefused`] and
    /// [`StateError::OldSqlite`] when the store could not keep its promises, [`StateError::File`],
    /// [`StateError::ReadOnly`] and [`StateError::DiskFull`] when files cannot be made or written,
    /// [`StateError::Busy`] when others keep the store locked, and [`StateError::Damaged`] and
    /// [`StateError::Database`] for everything else that the database says.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, or in one without timers.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe. A store that was being made is either complete or not there.
    pub async fn open(options: StoreOptions) -> Result<Self, StateError> {
        let connections = Arc::new(Connections::open(options).await?);
        let queue = CommitQueue::start(Arc::clone(&connections));
        Ok(Self { connections, queue })
    }

    /// Looks at the store at `path` without opening it for work: a missing one is not made, an
    /// older one not upgraded, and the write-ahead log stays as it is.
    ///
    /// # Errors
    ///
    /// What stands at the path instead of a store that this program knows, as [`Store::open`] says
    /// it, or what the database says. A missing file is [`StateError::Database`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn inspect(
        path: impl AsRef<Path>,
        busy_timeout: Duration,
        scrutiny: Scrutiny,
    ) -> Result<StoreInspection, StateError> {
        inspect(path.as_ref(), busy_timeout, scrutiny).await
    }

    /// The path of the store file.
    pub fn path(&self) -> &Path {
        self.connections.options.path()
    }

    /// Begins a unit of work around `fact`. Takes no lock.
    pub fn begin(&self, fact: PendingFact) -> UnitOfWork {
        UnitOfWork::new(fact, Arc::clone(&self.connections), self.queue.clone())
    }

    /// A worker that delivers what this store holds. It needs its sinks yet.
    pub fn delivery(&self) -> DeliveryWorker {
        DeliveryWorker::new(Arc::clone(&self.connections))
    }

    /// Waits until a commit of this process has enqueued an intent; answers at once if one has
    /// since the last time it answered. For one waiting worker.
    ///
    /// What other processes enqueue is not noticed: a worker that serves them looks by itself now
    /// and then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn enqueued(&self) {
        self.connections.enqueued.notified().await;
    }

    /// A page of the signal log: the rows after `after`, `limit` at most.
    ///
    /// With a session, `after` is a sequence and rows come in the order of their sequence; an
    /// unknown session has no rows. Without one, `after` is a [position](SignalRecord::position)
    /// and rows come in the order of their commits. 0 starts at the beginning.
    ///
    /// The number alone does not say of which copy of the store it is; [`Store::page`] takes a
    /// cursor that does.
    ///
    /// # Errors
    ///
    /// [`StateError::CursorBeyondEnd`] when the log ends before `after`, [`StateError::Closed`] after the store was closed, or what the database says.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn signals(
        &self,
        session: Option<&str>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<SignalRecord>, StateError> {
        let read = self.read_page(session, after, limit).await?;
        // Only an empty page can stand behind the end.
        if read.is_empty() && after > 0 {
            let mut reader = self.connections.readers.lend().await?;
            let end = end_of(&mut reader, session).await;
            let end = end.map_err(|error| self.connections.failure(error))?;
            let after = after.unsigned_abs();
            if after > end {
                return Err(StateError::CursorBeyondEnd { after, end });
            }
        }
        Ok(read)
    }

    /// The rows after `after`, whether or not the log goes so far.
    pub(crate) async fn read_page(
        &self,
        session: Option<&str>,
        after: i64,
        limit: u32,
    ) -> Result<Vec<SignalRecord>, StateError> {
        let readers = &self.connections.readers;
        let name = session.map(str::to_owned);
        let read = readers
            .direct(move |connection| page_direct(connection, name.as_deref(), after, limit));
        if let Some(read) = read.await {
            return Ok(read);
        }
        let mut reader = readers.lend().await?;
        let read = page(&mut reader, session, after, limit).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// The sessions that began last, with the length of their logs.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn sessions(&self, limit: u32) -> Result<Vec<SessionSummary>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = sessions(&mut reader, limit).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// The sessions whose names begin with `beginning`, in the order of their names.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn sessions_like(
        &self,
        beginning: &str,
        limit: u32,
    ) -> Result<Vec<SessionSummary>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = sessions_like(&mut reader, beginning, limit).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// A page of a session's operations with their evidence and deliveries, in the order of its
    /// log: those that begin among the `signals_max` signals after the sequence `after`. The page is
    /// shorter when its payloads are long. An unknown session has no operations.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn operations(
        &self,
        session: &str,
        after: u64,
        signals_max: u32,
    ) -> Result<OperationPage, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = operations(&mut reader, session, after, signals_max).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// The operations among `identities` that are on record, in no particular order. A payload of
    /// more than 64 KiB is left out.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn operations_named(
        &self,
        identities: &[String],
    ) -> Result<Vec<OperationRecord>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = named(&mut reader, identities).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// The newest intents first, `limit` at most: all of them or those in one state.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn outbox(
        &self,
        status: Option<OutboxStatus>,
        limit: u32,
    ) -> Result<Vec<OutboxEntry>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = entries(&mut reader, status, limit).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// One intent with its history, by its public id.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn outbox_entry(&self, id: &str) -> Result<Option<OutboxHistory>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = history(&mut reader, id).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// Acknowledges the intent with the public id `id`, on behalf of its consumer, with a token that
    /// was sent with one of its attempts (ADR-0059 D5).
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`] when others keep the store locked, [`StateError::Closed`] after the store
    /// was closed, or what the database says. A token that does not fit is no error.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the acknowledgement may be on record; say it again.
    pub async fn acknowledge(&self, id: &str, token: &str) -> Result<Acknowledgement, StateError> {
        let now_us = self.connections.now_us();
        let (id, token) = (id.to_owned(), token.to_owned());
        self.connections
            .writer
            .transaction(|connection| {
                Box::pin(async move { Ok(acknowledge(connection, &id, &token, now_us).await?) })
            })
            .await
    }

    /// What [`Store::retry`] of `selection` would do now.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn preview_retry(
        &self,
        selection: &IntentSelection,
    ) -> Result<OperatorReport, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let looked = preview(&mut reader, selection, RETRYABLE).await;
        looked.map_err(|error| self.connections.failure(error))
    }

    /// What [`Store::purge`] of `selection` would do now.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn preview_purge(
        &self,
        selection: &IntentSelection,
    ) -> Result<OperatorReport, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let looked = preview(&mut reader, selection, PURGEABLE).await;
        looked.map_err(|error| self.connections.failure(error))
    }

    /// Makes intents due again that were given up (`dead_letter`, `expired`), with a fresh bound of
    /// attempts and without an expiry that is over. The number of the attempt goes on, since it
    /// fences what late workers say. `remark` stands in the history.
    ///
    /// # Errors
    ///
    /// As [`Store::acknowledge`]. Nothing was changed then.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, all of it is done or nothing.
    pub async fn retry(
        &self,
        selection: IntentSelection,
        remark: Option<&str>,
    ) -> Result<OperatorReport, StateError> {
        let now_us = self.connections.now_us();
        let remark = remark.map(str::to_owned);
        let report = self
            .connections
            .writer
            .transaction(|connection| {
                Box::pin(async move {
                    Ok(retry(connection, &selection, remark.as_deref(), now_us).await?)
                })
            })
            .await?;
        if !report.intents.is_empty() {
            self.connections.enqueued.notify_one();
        }
        Ok(report)
    }

    /// Takes settled intents away (`delivered`, `acked`, `dead_letter`, `expired`). One row tells of
    /// the purge, their history stays, and their dedup keys stay taken. `remark` stands in that row.
    ///
    /// # Errors
    ///
    /// As [`Store::acknowledge`]. Nothing was changed then.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, all of it is done or nothing.
    pub async fn purge(
        &self,
        selection: IntentSelection,
        remark: Option<&str>,
    ) -> Result<OperatorReport, StateError> {
        let now_us = self.connections.now_us();
        let remark = remark.map(str::to_owned);
        self.connections
            .writer
            .transaction(|connection| {
                Box::pin(async move {
                    Ok(purge(connection, &selection, remark.as_deref(), now_us).await?)
                })
            })
            .await
    }

    /// What a purge left of the intent `id`, if it was purged.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn purged(&self, id: &str) -> Result<Option<PurgedIntent>, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = tombstone(&mut reader, id).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// Counts everything that the store holds. Takes longer the more that is.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn stats(&self) -> Result<StoreStats, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = stats(&mut reader).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// Counts the intents that still wait for their delivery, under way or not.
    ///
    /// # Errors
    ///
    /// As [`Store::signals`].
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn unsettled(&self) -> Result<u64, StateError> {
        let mut reader = self.connections.readers.lend().await?;
        let read = unsettled(&mut reader).await;
        read.map_err(|error| self.connections.failure(error))
    }

    /// Commits the units that wait, refuses later ones, and closes every connection.
    ///
    /// Other clones of the store answer [`StateError::Closed`] from then on. Closing twice is
    /// harmless. It takes as long as the units that wait. When other processes keep the store locked,
    /// they are given up after the busy time-out and answer [`StateError::Busy`].
    ///
    /// # Errors
    ///
    /// What the database says when it is closed. Every committed unit stays committed.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the waiting units are still committed; call it again to wait for
    /// them and to close the connections.
    pub async fn close(&self) -> Result<(), StateError> {
        self.queue.drain().await;
        self.queue.capture().close().await;
        self.connections.close().await
    }
}
