//! An offload whose threads take turns with a runtime on a paused clock.
//!
//! A paused clock moves on when the runtime has nothing to do, and knows nothing of other threads. So
//! each call has a task that blocks the runtime's thread while the call runs, up to its next wait, and
//! waits on the runtime's clock in its place.

use std::cell::RefCell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;
use triplane_kernel::Offload;

thread_local! {
    static TURN: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// How often others are let run before a call on another thread is: more often than any chain of
/// wake-ups is long.
const YIELDS: usize = 64;

/// The offload of the runner.
#[derive(Debug)]
pub(crate) struct Turns;

enum Said {
    Waits(Duration),
    Ended,
}

struct Turn {
    says: Sender<Said>,
    /// The time of the runtime's clock, which other threads cannot read.
    go: Receiver<Instant>,
    now: Instant,
}

impl Offload for Turns {
    fn submit(&self, work: Box<dyn FnOnce() + Send>) {
        let (go, wait_for_go) = channel();
        let (says, hear) = channel();
        thread::spawn(move || {
            let Ok(now) = wait_for_go.recv() else {
                return;
            };
            TURN.set(Some(Turn {
                says: says.clone(),
                go: wait_for_go,
                now,
            }));
            work();
            let _ = says.send(Said::Ended);
        });
        tokio::spawn(async move {
            loop {
                for _ in 0..YIELDS {
                    tokio::task::yield_now().await;
                }
                if go.send(Instant::now()).is_err() {
                    return;
                }
                match hear.recv() {
                    Ok(Said::Waits(time)) => tokio::time::sleep(time).await,
                    Ok(Said::Ended) | Err(_) => return,
                }
            }
        });
    }
}

/// The time of the runtime's clock.
pub(crate) fn now() -> Instant {
    TURN.with_borrow(|turn| turn.as_ref().map_or_else(Instant::now, |turn| turn.now))
}

/// The runtime has ended while this thread waited.
struct RuntimeGone;

/// Waits on the runtime's clock.
///
/// # Panics
///
/// On the runtime's own thread, where a wait of a sync handler would stop the clock.
pub(crate) fn wait(time: Duration) {
    TURN.with_borrow_mut(|turn| {
        let turn = turn
            .as_mut()
            .expect("a sync handler waits only where it is offloaded");
        let said = turn.says.send(Said::Waits(time));
        match said.ok().and_then(|()| turn.go.recv().ok()) {
            Some(now) => turn.now = now,
            None => std::panic::resume_unwind(Box::new(RuntimeGone)),
        }
    });
}
