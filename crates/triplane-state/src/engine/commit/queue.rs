//! The queue of units that wait for their commit.
//!
//! One task owns the order. It takes what waits, up to [`GROUP_MAX`] units, commits it at once and
//! answers each; a unit that comes alone is committed alone, without a delay that waits for company.
//! The queue is bounded in units and in bytes, so a fast producer is slowed down and not buffered.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::engine::capture::Capture;
use crate::engine::commit::group::{GROUP_MAX, commit_group, groups, refuse};
use crate::engine::commit::receipt::Committed;
#[cfg(triplane_crash)]
use crate::engine::commit::rehearsal::rehearse;
use crate::engine::commit::telling::{Asker, Telling};
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
    /// Set before the stop takes its place behind the units that wait.
    stopping: Arc<AtomicBool>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
    /// What is refused is noted here.
    capture: Arc<Capture>,
}

enum Message {
    Unit(Box<Work>, Asker),
    Stop,
}

/// A unit in the queue: a future of its answer.
#[derive(Debug)]
pub(crate) struct Pending(oneshot::Receiver<Result<Committed, StateError>>);

impl Future for Pending {
    type Output = Result<Committed, StateError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.0).poll(cx));
        Poll::Ready(answer.unwrap_or(Err(StateError::Closed)))
    }
}

impl Pending {
    /// An answer that is known already.
    pub(crate) fn answered(answer: Result<Committed, StateError>) -> Self {
        let (sender, receiver) = oneshot::channel();
        // The receiver is right here.
        sender.send(answer).ok();
        Self(receiver)
    }
}

impl CommitQueue {
    /// Starts the task that commits.
    pub(crate) fn start(connections: Arc<Connections>) -> Self {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        let stopping = Arc::new(AtomicBool::new(false));
        let capture = Arc::new(Capture::new(Arc::clone(&connections)));
        let work = run(
            connections,
            receiver,
            Arc::clone(&stopping),
            Arc::clone(&capture),
        );
        let task = tokio::spawn(work);
        Self {
            sender,
            room: Arc::new(Semaphore::new(WAITING_KIB_MAX as usize)),
            stopping,
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
        let room = Arc::clone(&self.room)
            .acquire_many_owned(kib.clamp(1, WAITING_KIB_MAX))
            .await
            .map_err(|_closed| StateError::Closed)?;
        let (answer, pending) = oneshot::channel();
        let asker = Asker {
            answer,
            _room: room,
        };
        self.sender
            .send(Message::Unit(Box::new(work), asker))
            .await
            .map_err(|_closed| StateError::Closed)?;
        Ok(Pending(pending))
    }

    /// Refuses further units, commits those that wait, and ends the task.
    pub(crate) async fn drain(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.sender.send(Message::Stop).await.ok();
        let mut task = self.task.lock().await;
        if let Some(running) = task.as_mut() {
            // A panic of the task has answered every unit by dropping it.
            running.await.ok();
            *task = None;
        }
    }
}

async fn run(
    connections: Arc<Connections>,
    mut receiver: mpsc::Receiver<Message>,
    stopping: Arc<AtomicBool>,
    capture: Arc<Capture>,
) {
    let mut messages = Vec::with_capacity(GROUP_MAX);
    let mut given_up = None;
    while receiver.recv_many(&mut messages, GROUP_MAX).await > 0 {
        let mut works = Vec::with_capacity(messages.len());
        let mut askers = Vec::with_capacity(messages.len());
        for message in messages.drain(..) {
            match message {
                Message::Unit(work, asker) => {
                    works.push(*work);
                    askers.push(asker);
                }
                // What is in the channel is still received; nothing new gets in.
                Message::Stop => receiver.close(),
            }
        }
        let works: Arc<[Work]> = works.into();
        let mut askers = askers.into_iter();
        for group in groups(&works) {
            let of_group = askers.by_ref().take(group.len()).collect();
            let (all, notes) = (Arc::clone(&connections), Arc::clone(&capture));
            let telling = Arc::new(Telling::new(all, notes, of_group));
            #[cfg(triplane_crash)]
            if triplane_kernel::planted!("receipt_before_commit") && given_up.is_none() {
                telling.answer(rehearse(&connections, &works, group.clone()).await);
            }
            let told = match &given_up {
                Some(error) => telling.tell(refuse(error, group.len())),
                None => commit_group(&connections, &works, group, &telling).await,
            };
            if stopping.load(Ordering::Relaxed) {
                // Closing waits for a locked store once, not once for each group.
                given_up = given_up.or(told.busy);
            }
            if told.worked {
                capture.committed().await;
            }
        }
    }
}
