//! The units that wait for their commit, in the order in which they came.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, mpsc};

use crate::engine::commit::group::{GROUP_MAX, Group, groups};
#[cfg(triplane_crash)]
use crate::engine::commit::telling::Answers;
use crate::engine::commit::telling::Asker;
use crate::engine::commit::work::Work;

/// How long whoever has answered everybody waits for more without going away. Whoever was answered
/// mostly comes again, and waking a thread that sleeps takes longer than most commits.
const AWAKE: Duration = Duration::from_micros(200);

/// How long a unit waits for the next one that is to share its transaction. A transaction more takes
/// longer, also where the disk is not waited for.
const CLOSELY: Duration = Duration::from_micros(30);

/// What is sent down the line.
pub(crate) enum Message {
    Unit(Box<Work>, Asker),
    /// Nobody comes after this one.
    Stop,
}

/// The units that wait. One reader at a time takes them.
#[derive(Debug)]
pub(crate) struct Line {
    receiver: Mutex<mpsc::Receiver<Message>>,
    /// Taken from the line and not committed yet.
    taken: std::sync::Mutex<VecDeque<Group>>,
    stopping: AtomicBool,
}

impl Line {
    pub(crate) fn new(receiver: mpsc::Receiver<Message>) -> Self {
        Self {
            receiver: Mutex::new(receiver),
            taken: std::sync::Mutex::default(),
            stopping: AtomicBool::new(false),
        }
    }

    /// Waits for the next units, unless some are taken already; answers whether there are any.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a unit is either in the line or taken.
    pub(crate) async fn wait(&self) -> bool {
        if !self.taken().is_empty() {
            return true;
        }
        let mut receiver = self.receiver.lock().await;
        let mut messages = Vec::with_capacity(GROUP_MAX);
        loop {
            if receiver.recv_many(&mut messages, GROUP_MAX).await == 0 {
                return false;
            }
            if self.take(&mut receiver, messages.drain(..)) {
                return true;
            }
        }
    }

    /// As [`wait`](Self::wait), on a thread that stays awake and gives up after a moment, or as soon
    /// as `is_over` says so. When the first has come it waits for others, up to `company` units, as
    /// long as one follows another closely.
    pub(crate) fn wait_awake(&self, company: usize, is_over: impl Fn() -> bool) -> bool {
        // Whoever waits for units has lent the line to this thread.
        let Ok(mut receiver) = self.receiver.try_lock() else {
            return false;
        };
        let mut messages = Vec::with_capacity(GROUP_MAX);
        let (mut since, mut patience) = (Instant::now(), AWAKE);
        loop {
            let before = messages.len();
            let gone = receive_waiting(&mut receiver, &mut messages);
            if messages.len() > before {
                (since, patience) = (Instant::now(), CLOSELY);
            }
            let enough = messages.len() >= company.clamp(1, GROUP_MAX);
            if enough || gone || is_over() || since.elapsed() >= patience {
                return self.take(&mut receiver, messages);
            }
            // Others may want this processor more.
            std::thread::yield_now();
        }
    }

    /// The units whose turn it is, which they keep until they leave.
    pub(crate) fn first(&self) -> Option<Arc<[Work]>> {
        let taken = self.taken();
        taken.front().map(|group| Arc::clone(&group.works))
    }

    /// The units whose turn it was leave the line; answers who asked for them.
    pub(crate) fn leave(&self) -> Vec<Asker> {
        let left = self.taken().pop_front();
        left.map(|group| group.askers).unwrap_or_default()
    }

    /// Answers the units whose turn it is before they leave.
    #[cfg(triplane_crash)]
    pub(crate) fn answer_early(&self, answers: Answers) {
        let mut taken = self.taken();
        let askers = taken
            .front_mut()
            .map(|group| std::mem::take(&mut group.askers));
        drop(taken);
        for (asker, answer) in askers.unwrap_or_default().into_iter().zip(answers) {
            asker.tell(answer);
        }
    }

    /// Says that the line is being closed.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Whether the line is being closed.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Puts units together that share a transaction; answers whether there were any.
    fn take(
        &self,
        receiver: &mut mpsc::Receiver<Message>,
        messages: impl IntoIterator<Item = Message>,
    ) -> bool {
        let units = messages.into_iter().filter_map(|message| match message {
            Message::Unit(work, asker) => Some((*work, asker)),
            Message::Stop => {
                // What is in the channel is still received; nothing new gets in.
                receiver.close();
                None
            }
        });
        let groups = groups(units);
        let any = !groups.is_empty();
        self.taken().extend(groups);
        any
    }

    fn taken(&self) -> MutexGuard<'_, VecDeque<Group>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Receives what is in the channel, up to a group; answers whether nothing can come any more.
fn receive_waiting(receiver: &mut mpsc::Receiver<Message>, into: &mut Vec<Message>) -> bool {
    while into.len() < GROUP_MAX {
        match receiver.try_recv() {
            Ok(message) => into.push(message),
            Err(error) => return error == mpsc::error::TryRecvError::Disconnected,
        }
    }
    false
}
