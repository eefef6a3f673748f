//! One outcome and everything that is committed with it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use sqlx::sqlite::SqliteRow;
use sqlx::{Execute, Sqlite};

use crate::commit::{CommitParticipant, CommitRefs, PendingFact, Staged};
use crate::engine::commit::held::{HeldWriter, Statement};
use crate::engine::commit::pending::Pending;
use crate::engine::commit::queue::CommitQueue;
use crate::engine::commit::receipt::Committed;
use crate::engine::commit::work::{Work, check};
use crate::engine::store::Connections;
use crate::error::StateError;

/// One outcome and everything that is committed with it (ADR-0120 D5).
///
/// A unit takes no lock until it is committed, unless its owner [executes](Self::execute)
/// statements of its own: from the first of them on it holds the writer, for a declared time at
/// most. Dropping a unit undoes it.
#[derive(Debug)]
#[must_use = "a unit that is not committed is undone"]
pub struct UnitOfWork {
    fact: PendingFact,
    staged: Staged,
    connections: Arc<Connections>,
    queue: CommitQueue,
    held: Option<HeldWriter>,
    /// Why the unit cannot be committed any more.
    refused: Option<StateError>,
}

impl UnitOfWork {
    pub(crate) fn new(
        fact: PendingFact,
        connections: Arc<Connections>,
        queue: CommitQueue,
    ) -> Self {
        Self {
            fact,
            staged: Staged::new(),
            connections,
            queue,
            held: None,
            refused: None,
        }
    }

    /// The outcome that will be committed.
    pub fn fact(&self) -> &PendingFact {
        &self.fact
    }

    /// Lets a participant add its rows.
    ///
    /// # Errors
    ///
    /// [`StateError::Stage`] when the participant refuses; [`StateError::SignalNotStaged`],
    /// [`StateError::TooManyRows`], [`StateError::IntentRefused`] and
    /// [`StateError::PayloadTooLarge`] for rows that cannot be committed. The unit is refused from
    /// then on: its commit answers the same error.
    pub fn stage(&mut self, participant: &dyn CommitParticipant) -> Result<CommitRefs, StateError> {
        self.ready()?;
        let bytes_max = self.connections.options.payload_bytes_max;
        let staged = participant
            .stage(&self.fact, &mut self.staged)
            .map_err(StateError::from)
            .and_then(|refs| check(&self.staged, bytes_max).map(|()| refs));
        #[cfg(triplane_crash)]
        crate::engine::commit::planted::remember(&self.staged);
        triplane_kernel::failpoint!("unit.staged");
        staged.inspect_err(|error| {
            self.queue.capture().note(1, error);
            self.refused = Some(error.clone());
        })
    }

    /// Runs a statement of the owner in the unit's transaction; answers the number of rows changed.
    ///
    /// The first statement takes the writer. A statement that fails ends the unit.
    ///
    /// # Errors
    ///
    /// [`StateError::Busy`] when the writer cannot be had in time, [`StateError::UnitExpired`] when
    /// it was held for too long, [`StateError::Database`] for what the database said. The unit is
    /// rolled back then, and answers the same error to every later call.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the statement may still run. It is undone with the unit.
    pub async fn execute<'q>(
        &mut self,
        query: impl Execute<'q, Sqlite>,
    ) -> Result<u64, StateError> {
        let statement = self.statement(query)?;
        Ok(self.run(statement).await?.rows_affected)
    }

    /// Runs a query of the owner in the unit's transaction; answers its rows.
    ///
    /// # Errors
    ///
    /// As [`UnitOfWork::execute`].
    ///
    /// # Cancel safety
    ///
    /// As [`UnitOfWork::execute`].
    pub async fn fetch_all<'q>(
        &mut self,
        query: impl Execute<'q, Sqlite>,
    ) -> Result<Vec<SqliteRow>, StateError> {
        let statement = self.statement(query)?;
        Ok(self.run(statement).await?.rows)
    }

    /// Commits the outcome with everything staged, and waits for it.
    ///
    /// # Errors
    ///
    /// Why nothing was committed: [`StateError::Busy`], [`StateError::Closed`], the error that
    /// refused the unit, or what the database said.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the unit may still be committed, whole; no transaction stays
    /// open. Telling the same fact again shows whether it was.
    pub async fn commit(self) -> Result<Committed, StateError> {
        self.submit().await?.await
    }

    /// Hands the unit over for commit and returns as soon as it has its place in the order.
    ///
    /// Units that are submitted one after the other are committed in that order, many in one
    /// transaction. A unit that holds the writer is committed right here.
    ///
    /// # Errors
    ///
    /// [`StateError::Closed`] after the store was closed, or the error that refused the unit.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped before it is ready, the unit is either undone or, if it holds the
    /// writer, may still be committed.
    pub async fn submit(mut self) -> Result<Submitted, StateError> {
        self.ready()?;
        triplane_kernel::failpoint!("unit.submitted");
        let work = Work::new(self.fact, self.staged);
        let pending = match self.held.take() {
            None => self.queue.push(work).await?,
            Some(held) => {
                let committed = held.commit(work).await;
                let noted = committed.inspect_err(|error| self.queue.capture().note(1, error));
                Pending::answered(Ok(noted?))
            }
        };
        Ok(Submitted(pending))
    }

    fn ready(&self) -> Result<(), StateError> {
        self.refused.clone().map_or(Ok(()), Err)
    }

    fn statement<'q>(&self, query: impl Execute<'q, Sqlite>) -> Result<Statement, StateError> {
        self.ready()?;
        Statement::new(query).map_err(|error| self.connections.failure(error))
    }

    async fn run(
        &mut self,
        statement: Statement,
    ) -> Result<crate::engine::commit::held::Answer, StateError> {
        let held = self
            .held
            .get_or_insert_with(|| HeldWriter::take(&self.connections));
        let ran = held.run(statement).await;
        if let Err(error) = &ran {
            self.refused = Some(error.clone());
            self.held = None;
        }
        ran
    }
}

/// A unit that has its place in the order of commits: a future of its receipt.
///
/// Dropping it does not take the unit back.
#[derive(Debug)]
#[must_use = "the receipt tells whether the unit was committed"]
pub struct Submitted(Pending);

impl Submitted {
    /// Waits for the commit.
    ///
    /// # Errors
    ///
    /// Why nothing was committed, as [`UnitOfWork::commit`].
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the unit is committed all the same.
    pub async fn receipt(self) -> Result<Committed, StateError> {
        self.await
    }
}

impl Future for Submitted {
    type Output = Result<Committed, StateError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}
