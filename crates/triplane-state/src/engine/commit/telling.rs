//! Telling each unit what became of it.
//!
//! It is done where the commit was made, on the connection's thread: whoever waits is woken at once and
//! not by way of the task that keeps the order.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::engine::capture::Capture;
use crate::engine::commit::receipt::{Committed, has_intents};
use crate::engine::store::Connections;
use crate::error::StateError;

/// One answer for each unit of a group.
pub(crate) type Answers = Vec<Result<Committed, StateError>>;

/// Whoever submitted a unit: gets the answer, and then the unit's room in the queue is free.
#[derive(Debug)]
pub(crate) struct Asker {
    pub(crate) answer: oneshot::Sender<Result<Committed, StateError>>,
    pub(crate) _room: OwnedSemaphorePermit,
}

impl Asker {
    pub(crate) fn tell(self, answer: Result<Committed, StateError>) {
        // Whoever submitted the unit may not wait for its receipt.
        self.answer.send(answer).ok();
    }
}

/// Tells units what became of them.
#[derive(Debug)]
pub(crate) struct Telling {
    connections: Arc<Connections>,
    /// What is refused is noted here.
    capture: Arc<Capture>,
}

/// What the queue has to know of units that have been told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Whether anything was committed.
    pub(crate) worked: bool,
    /// That the store was locked, if it was.
    pub(crate) busy: Option<StateError>,
}

impl Told {
    /// Adds what was told after it.
    pub(crate) fn and(&mut self, then: Self) {
        self.worked |= then.worked;
        self.busy = self.busy.take().or(then.busy);
    }
}

impl Telling {
    pub(crate) fn new(connections: Arc<Connections>, capture: Arc<Capture>) -> Self {
        Self {
            connections,
            capture,
        }
    }

    pub(crate) fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    /// Whether there is anything to record now that a commit has worked.
    pub(crate) fn has_notes(&self) -> bool {
        self.capture.has_notes()
    }

    /// Tells each unit its answer, and those who deliver that there is something to deliver.
    pub(crate) fn tell(&self, askers: Vec<Asker>, answers: Answers) -> Told {
        triplane_kernel::failpoint!("commit.committed");
        if answers.iter().flatten().any(has_intents) {
            self.connections.enqueued.notify_one();
        }
        let refused = || answers.iter().filter_map(|answer| answer.as_ref().err());
        refused().for_each(|error| self.capture.note(1, error));
        let told = Told {
            worked: answers.iter().any(Result::is_ok),
            busy: refused()
                .find(|error| matches!(error, StateError::Busy { .. }))
                .cloned(),
        };
        triplane_kernel::failpoint!("commit.before_receipt");
        for (asker, answer) in askers.into_iter().zip(answers) {
            asker.tell(answer);
            triplane_kernel::failpoint!("commit.receipt_given");
        }
        told
    }
}

/// The same error for every unit.
pub(crate) fn refuse(error: &StateError, units: usize) -> Answers {
    vec![Err(error.clone()); units]
}
