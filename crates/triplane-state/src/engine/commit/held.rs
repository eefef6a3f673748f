//! A unit that holds the writer, because its owner writes rows of its own in the same transaction.
//!
//! The transaction lives in a task of its own and takes orders. So it ends by itself when the unit
//! is dropped (rolled back), when it is committed, when one of its statements fails (rolled back:
//! SQLite may have undone the earlier ones already) or when it was held for too long (rolled back).
//! No unit can keep the writer by being forgotten.

use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Execute, SqlStr, Sqlite, SqliteConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::engine::commit::apply::apply;
use crate::engine::commit::receipt::{Committed, has_intents};
use crate::engine::commit::work::Work;
use crate::engine::store::{Connections, Undo};
use crate::error::StateError;

/// A transaction that waits for the orders of its unit.
#[derive(Debug)]
pub(crate) struct HeldWriter {
    orders: mpsc::Sender<Order>,
    transaction: JoinHandle<Result<Committed, StateError>>,
}

#[derive(Debug)]
enum Order {
    Run(Statement, oneshot::Sender<Answer>),
    Commit(Box<Work>),
}

/// A statement of the owner.
#[derive(Debug)]
pub(crate) struct Statement {
    sql: SqlStr,
    arguments: SqliteArguments,
}

/// What a statement of the owner answered.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<SqliteRow>,
    pub(crate) rows_affected: u64,
}

impl Statement {
    pub(crate) fn new<'q>(mut query: impl Execute<'q, Sqlite>) -> Result<Self, sqlx::Error> {
        let arguments = query.take_arguments().map_err(sqlx::Error::Encode)?;
        Ok(Self {
            arguments: arguments.unwrap_or_default(),
            sql: query.sql(),
        })
    }
}

impl HeldWriter {
    pub(crate) fn take(connections: &Arc<Connections>) -> Self {
        let (orders, receiver) = mpsc::channel(1);
        let connections = Arc::clone(connections);
        Self {
            orders,
            transaction: tokio::spawn(async move {
                let now_us = connections.now_us();
                let held_max = connections.options.unit_held_max;
                let committed = connections
                    .writer
                    .transaction(|connection| {
                        Box::pin(obey(connection, receiver, held_max, now_us))
                    })
                    .await?;
                triplane_kernel::failpoint!("held.committed");
                if has_intents(&committed) {
                    connections.enqueued.notify_one();
                }
                Ok(committed)
            }),
        }
    }

    /// Runs one statement of the owner.
    ///
    /// # Errors
    ///
    /// Why the unit is over, with the writer free again.
    pub(crate) async fn run(&mut self, statement: Statement) -> Result<Answer, StateError> {
        let (sender, answer) = oneshot::channel();
        // Whether the order was taken shows in its answer.
        self.orders.send(Order::Run(statement, sender)).await.ok();
        match answer.await {
            Ok(answer) => Ok(answer),
            Err(_over) => Err(self.end().await.err().unwrap_or(StateError::Closed)),
        }
    }

    pub(crate) async fn commit(mut self, work: Work) -> Result<Committed, StateError> {
        self.orders.send(Order::Commit(Box::new(work))).await.ok();
        self.end().await
    }

    async fn end(&mut self) -> Result<Committed, StateError> {
        (&mut self.transaction)
            .await
            .unwrap_or(Err(StateError::Closed))
    }
}

/// The transaction: takes orders until one of them, or the lack of them, ends it.
async fn obey(
    connection: &mut SqliteConnection,
    mut orders: mpsc::Receiver<Order>,
    held_max: Duration,
    now_us: i64,
) -> Result<Committed, Undo> {
    let deadline = Instant::now() + held_max;
    loop {
        match timeout_at(deadline, orders.recv()).await {
            Err(_elapsed) => return Err(Undo::Because(StateError::UnitExpired { held_max })),
            Ok(None) => return Err(Undo::Because(StateError::Closed)),
            Ok(Some(Order::Run(statement, answer))) => {
                let ran = run(connection, statement).await?;
                triplane_kernel::failpoint!("held.owner_written");
                // An owner that no longer waits drops its unit next.
                answer.send(ran).ok();
            }
            Ok(Some(Order::Commit(work))) => {
                let mut answers = apply(connection, &[work.lend()], now_us).await?;
                triplane_kernel::failpoint!("held.staged");
                return Ok(answers.remove(0));
            }
        }
    }
}

async fn run(
    connection: &mut SqliteConnection,
    statement: Statement,
) -> Result<Answer, sqlx::Error> {
    use futures::TryStreamExt as _;
    use sqlx::{Either, Executor as _};

    let Statement { sql, arguments } = statement;
    let mut answers = connection.fetch_many(sqlx::query_with(sql, arguments));
    let mut answer = Answer::default();
    while let Some(next) = answers.try_next().await? {
        match next {
            Either::Left(done) => answer.rows_affected += done.rows_affected(),
            Either::Right(row) => answer.rows.push(row),
        }
    }
    drop(answers);
    Ok(answer)
}
