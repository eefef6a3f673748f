//! The queue of units that wait for their commit.
//!
//! One task owns the order. It has what waits committed at once, up to [`GROUP_MAX`] units together,
//! and each of them answered; a unit that comes alone is committed alone, without a delay that waits
//! for company. While units follow each other closely, the connection's thread takes them from the
//! line itself, and the task sleeps.
//! The queue is bounded in units and in bytes, so a fast producer is slowed down and not buffered.

use std::sync::Arc;

use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::engine::capture::Capture;
use crate::engine::commit::group::GROUP_MAX;
use crate::engine::commit::line::{Line, Message};
use crate::engine::commit::pending::Pending;
use crate::engine::commit::telling::{Asker, Telling, refuse};
use crate::engine::commit::turn::commit_next;
use crate::engine::commit::work::Work;
use crate::engine::store::Connections;
use crate::error::StateError;

/// How many units wait at most: enough for the next groups while one is being written.
const WAITING_MAX: usize = 4 * GROUP_MAX;
/// How much memory waiting units take at most, in KiB. One unit alone may be larger.
const WAITING_KIB_MAX: u32 = 16 << 10;

/// The road to the writer for units without statements of their own.
#[derive(Debug, Clone)]
pub(crate) struct CommitQueue {
    sender: mpsc::Sender<Message>,
    room: Arc<Semaphore>,
    line: Arc<Line>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
    /// What is refused is noted here.
    capture: Arc<Capture>,
}

impl CommitQueue {
    /// Starts the task that commits.
    pub(crate) fn start(connections: Arc<Connections>) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let line = Arc::new(Line::new(receiver));
        let capture = Arc::new(Capture::new(Arc::clone(&connections)));
        let telling = Arc::new(Telling::new(connections, Arc::clone(&capture)));
        let task = tokio::spawn(run(Arc::clone(&line), telling, Arc::clone(&capture)));
        Self {
            sender,
            room: Arc::new(Semaphore::new(WAITING_KIB_MAX as usize)),
            line,
            task: Arc::new(Mutex::new(Some(task))),
            capture,
        }
    }

    /// The notes of what this handle could not commit.
    pub(crate) fn capture(&self) -> &Capture {
        &self.capture
    }

    /// Puts a unit in the queue, once there is room.
    pub(crate) async fn push(&self, work: Work) -> Result<Pending, StateError> {
        let kib = u32::try_from(work.bytes() >> 10).unwrap_or(u32::MAX);
        let kib = kib.clamp(1, WAITING_KIB_MAX);
        let room = Arc::clone(&self.room)
            .acquire_many_owned(kib)
            .await
            .map_err(|_closed| StateError::Closed)?;
        let (answer, receiver) = oneshot::channel();
        let asker = Asker {
            answer,
            _room: room,
        };
        self.sender
            .send(Message::Unit(Box::new(work), asker))
            .await
            .map_err(|_closed| StateError::Closed)?;
        let free_alone = (WAITING_KIB_MAX - kib) as usize;
        Ok(Pending::new(receiver, Arc::clone(&self.room), free_alone))
    }

    /// Refuses further units, commits those that wait, and ends the task.
    pub(crate) async fn drain(&self) {
        self.line.stop();
        self.sender.send(Message::Stop).await.ok();
        let mut task = self.task.lock().await;
        if let Some(running) = task.as_mut() {
            // A panic of the task has answered every unit by dropping it.
            running.await.ok();
            *task = None;
        }
    }
}

/// Keeps the order: commits what waits, and records what was noted meanwhile.
async fn run(line: Arc<Line>, telling: Arc<Telling>, capture: Arc<Capture>) {
    let mut given_up: Option<StateError> = None;
    while line.wait().await {
        let told = match &given_up {
            Some(error) => {
                let askers = line.leave();
                let answers = refuse(error, askers.len());
                telling.tell(askers, answers)
            }
            None => commit_next(&line, &telling).await,
        };
        if line.is_stopping() {
            // Closing waits for a locked store once, not once for each group.
            given_up = given_up.or(told.busy);
        }
        if told.worked {
            capture.committed().await;
        }
    }
}
