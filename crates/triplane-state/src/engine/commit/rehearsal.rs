//! What planted bugs do before a commit, such as giving its receipt. Compiled for the crash campaign
//! alone.

use std::sync::{Arc, Mutex};

use triplane_kernel::planted;

use crate::engine::commit::apply::apply;
use crate::engine::commit::line::Line;
use crate::engine::commit::planted::read_ends;
use crate::engine::commit::telling::{Answers, Telling, refuse};
use crate::engine::commit::work::Work;
use crate::engine::store::{Connections, Undo};
use crate::error::StateError;

/// Whether a bug has something to do before each commit, which is then left to the task.
pub(crate) fn before_each_commit() -> bool {
    planted!("sequence_outside_lock") || planted!("receipt_before_commit")
}

/// What bugs do with the units whose turn it is.
pub(crate) async fn before_commit(line: &Line, telling: &Telling) {
    let Some(works) = line.first() else {
        return;
    };
    read_ends(telling.connections(), &works).await;
    if planted!("receipt_before_commit") {
        let answers = rehearse(telling.connections(), &works).await;
        line.answer_early(answers);
    }
}

/// What a commit of `works` would answer. Nothing is committed.
async fn rehearse(connections: &Connections, works: &Arc<[Work]>) -> Answers {
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
