//! Telling each unit of a group what became of it.
//!
//! It is done where the commit was made, on the connection's thread: whoever waits is woken at once and
//! not by way of the task that keeps the order.

use std::sync::{Arc, Mutex, PoisonError};

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
    fn tell(self, answer: Result<Committed, StateError>) {
        // Whoever submitted the unit may not wait for its receipt.
        self.answer.send(answer).ok();
    }
}

/// Who is told of one group.
#[derive(Debug)]
pub(crate) struct Telling {
    connections: Arc<Connections>,
    /// What is refused is noted here.
    capture: Arc<Capture>,
    /// In the order of the units; nobody once they were told.
    askers: Mutex<Vec<Asker>>,
}

/// What the queue has to know of a group whose units have been told.
#[derive(Debug)]
pub(crate) struct Told {
    /// Whether anything was committed.
    pub(crate) worked: bool,
    /// That the store was locked, if it was.
    pub(crate) busy: Option<StateError>,
}

impl Telling {
    pub(crate) fn new(
        connections: Arc<Connections>,
        capture: Arc<Capture>,
        askers: Vec<Asker>,
    ) -> Self {
        Self {
            connections,
            capture,
            askers: Mutex::new(askers),
        }
    }

    /// Tells each unit its answer, and those who deliver that there is something to deliver.
    pub(crate) fn tell(&self, answers: Answers) -> Told {
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
        self.answer(answers);
        told
    }

    /// Tells each unit its answer and nobody else.
    pub(crate) fn answer(&self, answers: Answers) {
        let mut askers = self.askers.lock().unwrap_or_else(PoisonError::into_inner);
        for (asker, answer) in askers.drain(..).zip(answers) {
            asker.tell(answer);
            triplane_kernel::failpoint!("commit.receipt_given");
        }
    }
}
