//! A receipt before its commit: a bug that the crash campaign plants. Compiled for nothing else.

use std::sync::{Arc, Mutex};

use crate::engine::commit::apply::apply;
use crate::engine::commit::group::refuse;
use crate::engine::commit::telling::Answers;
use crate::engine::commit::work::Work;
use crate::engine::store::{Connections, Undo};
use crate::error::StateError;

/// What a commit of `works` would answer. Nothing is committed.
pub(crate) async fn rehearse(connections: &Connections, works: &Arc<[Work]>) -> Answers {
    let now_us = connections.now_us();
    let units = works.len();
    let works = Arc::clone(works);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let undone: Result<(), StateError> = connections
        .writer
        .transaction(|connection| {
            Box::pin(async move {
                let works: Vec<_> = works.iter().map(Work::lend).collect();
                let answers = apply(connection, &works, now_us).await?;
                if let Ok(mut told) = told.lock() {
                    *told = answers;
                }
                Err(Undo::Because(StateError::Closed))
            })
        })
        .await;
    let answers = heard.lock().map(|mut heard| std::mem::take(&mut *heard));
    match answers {
        Ok(answers) if answers.len() == units => answers.into_iter().map(Ok).collect(),
        _ => refuse(&undone.err().unwrap_or(StateError::Closed), units),
    }
}
