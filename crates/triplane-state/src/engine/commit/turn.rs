//! Group commit: the units whose turn it is, in one transaction.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::commit::apply::apply;
use crate::engine::commit::direct::apply_direct;
use crate::engine::commit::line::Line;
use crate::engine::commit::receipt::Committed;
#[cfg(triplane_crash)]
use crate::engine::commit::rehearsal;
use crate::engine::commit::telling::{Answers, Telling, Told, refuse};
use crate::engine::commit::work::Work;
use crate::engine::store::{Connections, Lent};
use crate::error::StateError;

/// Commits the units whose turn it is in one transaction and has `telling` tell each its answer; goes
/// on with those that follow while they follow at once. When the rows of one unit are refused, the
/// units of its group are committed one by one, so that the others do not pay for it.
pub(crate) async fn commit_next(line: &Arc<Line>, telling: &Arc<Telling>) -> Told {
    let connections = telling.connections();
    #[cfg(triplane_crash)]
    rehearsal::before_commit(line, telling).await;
    let (here, teller) = (Arc::clone(line), Arc::clone(telling));
    let stayed = connections
        .writer
        .lend(move |lent| commit_here(lent, &here, &teller));
    let (mut told, refused) = match stayed.await {
        Ok(Some(Stayed::Told(told))) => return told,
        Ok(Some(Stayed::Stuck(told))) => (told, None),
        Ok(None) => (Told::default(), None),
        Err(error) => (Told::default(), Some(error)),
    };
    if let Some(works) = line.first() {
        let answers = match refused {
            Some(error) => refuse(&error, works.len()),
            None => commit_ordinarily(connections, &works).await,
        };
        told.and(telling.tell(line.leave(), answers));
    }
    told
}

/// How a stay on the connection's thread ended.
enum Stayed {
    Told(Told),
    /// The units whose turn it is cannot be committed there, and the ordinary connection says why.
    Stuck(Told),
}

/// Commits the units whose turn it is, and those that follow, until somebody else wants the writer, the
/// task that keeps the order has something to do, or nobody comes for a moment.
fn commit_here(lent: &Lent<'_>, line: &Line, telling: &Telling) -> Stayed {
    let mut told = Told::default();
    // Those who were answered together mostly come together again.
    let mut company = 1;
    let is_over = || lent.is_wanted() || telling.has_notes() || line.is_stopping();
    loop {
        let Some(works) = line.first() else {
            if line.wait_awake(company, is_over) {
                continue;
            }
            return Stayed::Told(told);
        };
        let now_us = telling.connections().now_us();
        let committed = lent.transaction(|connection| {
            let works: Vec<_> = works.iter().map(Work::lend).collect();
            apply_direct(connection, &works, now_us)
        });
        let answers = match committed {
            Ok(Some(committed)) => committed.into_iter().map(Ok).collect(),
            Ok(None) => return Stayed::Stuck(told),
            Err(error) => refuse(&error, works.len()),
        };
        company = works.len().div_ceil(2);
        told.and(telling.tell(line.leave(), answers));
        #[cfg(triplane_crash)]
        if rehearsal::before_each_commit() {
            return Stayed::Told(told);
        }
        if is_over() {
            return Stayed::Told(told);
        }
    }
}

async fn commit_ordinarily(connections: &Connections, works: &Arc<[Work]>) -> Answers {
    let all = 0..works.len();
    match commit(connections, works, all.clone()).await {
        Ok(committed) => committed.into_iter().map(Ok).collect(),
        Err(error) if all.len() > 1 && is_refusal_of_rows(&error) => {
            let mut answers = Vec::with_capacity(all.len());
            for index in all {
                let alone = commit(connections, works, index..index + 1).await;
                answers.push(alone.map(|mut committed| committed.remove(0)));
            }
            answers
        }
        Err(error) => refuse(&error, all.len()),
    }
}

async fn commit(
    connections: &Connections,
    works: &Arc<[Work]>,
    units: Range<usize>,
) -> Result<Vec<Committed>, StateError> {
    let (works, now_us) = (Arc::clone(works), connections.now_us());
    connections
        .writer
        .transaction(|connection| {
            Box::pin(async move {
                let works: Vec<_> = works[units].iter().map(Work::lend).collect();
                Ok(apply(connection, &works, now_us).await?)
            })
        })
        .await
}

fn is_refusal_of_rows(error: &StateError) -> bool {
    matches!(error, StateError::Database { source, .. } if source
        .as_database_error()
        .is_some_and(|error| error.is_unique_violation()
            || error.is_check_violation()
            || error.is_foreign_key_violation()))
}
