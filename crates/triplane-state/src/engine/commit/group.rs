//! Group commit: units that share one transaction.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::commit::apply::apply;
use crate::engine::commit::direct::apply_direct;
#[cfg(triplane_crash)]
use crate::engine::commit::planted;
use crate::engine::commit::receipt::Committed;
use crate::engine::commit::telling::{Answers, Telling, Told};
use crate::engine::commit::work::{ROWS_MAX, Work};
use crate::engine::store::Connections;
use crate::error::StateError;

/// How many units share one transaction at most.
pub(crate) const GROUP_MAX: usize = 64;

/// Cuts `works` into groups that one statement per table can hold.
pub(crate) fn groups(works: &[Work]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut rows = 0;
    for (index, work) in works.iter().enumerate() {
        rows += work.rows();
        match groups.last_mut() {
            Some(group) if rows <= ROWS_MAX => group.end = index + 1,
            _ => {
                groups.push(index..index + 1);
                rows = work.rows();
            }
        }
    }
    groups
}

/// Commits a group in one transaction and has `telling` tell each unit its answer. When the rows of one
/// unit are refused, the units are committed one by one, so that the others do not pay for it.
pub(crate) async fn commit_group(
    connections: &Connections,
    works: &Arc<[Work]>,
    group: Range<usize>,
    telling: &Arc<Telling>,
) -> Told {
    #[cfg(triplane_crash)]
    planted::read_ends(connections, &works[group.clone()]).await;
    let now_us = connections.now_us();
    let (here, units) = (Arc::clone(works), group.clone());
    let (there, size) = (Arc::clone(telling), group.len());
    let told = connections.writer.direct_and(
        move |connection| {
            let works: Vec<_> = here[units].iter().map(Work::lend).collect();
            apply_direct(connection, &works, now_us)
        },
        move |committed| {
            there.tell(match committed {
                Ok(committed) => committed.into_iter().map(Ok).collect(),
                Err(error) => refuse(&error, size),
            })
        },
    );
    match told.await {
        Ok(Some(told)) => told,
        Ok(None) => telling.tell(commit_ordinarily(connections, works, group, now_us).await),
        Err(error) => telling.tell(refuse(&error, size)),
    }
}

/// The same error for every unit.
pub(crate) fn refuse(error: &StateError, units: usize) -> Answers {
    vec![Err(error.clone()); units]
}

async fn commit_ordinarily(
    connections: &Connections,
    works: &Arc<[Work]>,
    group: Range<usize>,
    now_us: i64,
) -> Answers {
    match commit(connections, works, group.clone(), now_us).await {
        Ok(committed) => committed.into_iter().map(Ok).collect(),
        Err(error) if group.len() > 1 && is_refusal_of_rows(&error) => {
            let mut answers = Vec::with_capacity(group.len());
            for index in group {
                let alone = commit(connections, works, index..index + 1, now_us).await;
                answers.push(alone.map(|mut committed| committed.remove(0)));
            }
            answers
        }
        Err(error) => refuse(&error, group.len()),
    }
}

async fn commit(
    connections: &Connections,
    works: &Arc<[Work]>,
    group: Range<usize>,
    now_us: i64,
) -> Result<Vec<Committed>, StateError> {
    let works = Arc::clone(works);
    connections
        .writer
        .transaction(|connection| {
            Box::pin(async move {
                let works: Vec<_> = works[group].iter().map(Work::lend).collect();
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
