//! Cancellation as a request: the [`Scope`] that every handler is given.
//!
//! Two strengths exist. A request made *once* fails the next wait on the scope, after which work
//! goes on; a *standing* request fails every wait from then on. Nothing is stopped by force: the
//! dispatcher keeps polling, so that drains and teardown finish. Dropping the future of an `emit`
//! or `apply` is the hard stop, and it is the caller's.
//!
//! A scope is cancelled by itself or by an ancestor. A child sees a standing request of its parent
//! as its own; a once-request of the parent is taken by whichever wait comes first, in the parent
//! or in a child.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::Notify;

use crate::sync::{AtomicU8, Mutex, MutexGuard};

/// Who asked for the cancellation.
// As wide as a pointer: a byte here would move the payload of every answer that may hold a cause off
// its alignment, and a quiet answer would then be copied through the store buffer at four times the
// cost of the call.
#[repr(usize)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CancelCause {
    /// The caller of `emit` or `apply`.
    Emitter,
    /// A handler, for itself.
    Handler,
    /// A deadline that ran out.
    Deadline,
}

/// Whether a handler looks at its [`Scope`] itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Cooperation {
    /// It need not: a request to cancel drops the handler's future at the wait it is in.
    #[default]
    Dropped,
    /// It does: a request is its own to meet, and it is polled until it answers.
    Cooperative,
}

/// A request to stop, shared by everything that runs on behalf of one emission or operation.
///
/// Clones share one request. Creating a [`child`](Scope::child) costs two allocations; a clone
/// costs none.
///
/// ```
/// use triplane_kernel::{CancelCause, Scope};
///
/// let scope = Scope::new();
/// let child = scope.child();
/// scope.cancel(CancelCause::Emitter);
/// assert_eq!(child.requested(), Some(CancelCause::Emitter));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scope {
    node: Arc<Node>,
}

#[derive(Debug, Default)]
struct Node {
    request: RequestCell,
    woken: Notify,
    children: Mutex<Children>,
    parent: Option<Scope>,
}

#[derive(Debug, Default)]
struct Children {
    nodes: Vec<Weak<Node>>,
    /// The length at which dead nodes are swept; it doubles with the living, so that many
    /// children cost a constant each.
    sweep_at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    cause: CancelCause,
    standing: bool,
}

impl Scope {
    /// A scope that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// A scope that is cancelled with this one, and can be cancelled without it.
    #[must_use]
    pub fn child(&self) -> Self {
        let node = Arc::new(Node {
            parent: Some(self.clone()),
            ..Node::default()
        });
        let mut children = lock(&self.node.children);
        if children.nodes.len() >= children.sweep_at {
            children.nodes.retain(|child| child.strong_count() > 0);
            children.sweep_at = 8.max(children.nodes.len() * 2);
        }
        children.nodes.push(Arc::downgrade(&node));
        drop(children);
        Self { node }
    }

    /// Asks once: the next wait fails with `cause`, later ones succeed again.
    ///
    /// A standing request that was made before stays in force.
    pub fn cancel_once(&self, cause: CancelCause) {
        self.request(Request {
            cause,
            standing: false,
        });
    }

    /// Asks for good: every wait from now on fails with `cause`.
    pub fn cancel(&self, cause: CancelCause) {
        self.request(Request {
            cause,
            standing: true,
        });
    }

    /// The request that the next wait would meet, without taking it.
    pub fn requested(&self) -> Option<CancelCause> {
        self.lineage()
            .find_map(|scope| scope.node.request.get())
            .map(|request| request.cause)
    }

    /// The standing request in force here, if there is one.
    #[inline]
    pub(crate) fn standing(&self) -> Option<CancelCause> {
        // A loop of its own: every chain asks, and nearly always of a scope without a parent.
        let mut scope = self;
        loop {
            if let Some(request) = scope.node.request.get()
                && request.standing
            {
                return Some(request.cause);
            }
            scope = scope.node.parent.as_ref()?;
        }
    }

    /// Waits for a request and takes it, if it was made once.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a dropped wait takes nothing.
    pub async fn cancelled(&self) -> CancelCause {
        loop {
            let woken = self.node.woken.notified();
            futures::pin_mut!(woken);
            // Enrol before looking: a request between the look and the wait would be missed.
            woken.as_mut().enable();
            if let Some(cause) = self.take() {
                return cause;
            }
            woken.await;
        }
    }

    fn take(&self) -> Option<CancelCause> {
        self.lineage().find_map(|scope| scope.node.request.take())
    }

    fn request(&self, request: Request) {
        self.node.request.put(request);
        self.node.wake();
    }

    /// This scope, its parent, and so on.
    fn lineage(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |scope| scope.node.parent.as_ref())
    }
}

impl Node {
    fn wake(&self) {
        self.woken.notify_waiters();
        // Collected first: what a waker runs must not find the list locked.
        let children: Vec<_> = lock(&self.children)
            .nodes
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for child in children {
            child.wake();
        }
    }
}

/// The request of one node in one byte: zero for none, else the cause and how long it stands.
#[derive(Debug, Default)]
struct RequestCell(AtomicU8);

const STANDING: u8 = 0b100;

impl Request {
    fn encode(self) -> u8 {
        let cause = match self.cause {
            CancelCause::Emitter => 1,
            CancelCause::Handler => 2,
            CancelCause::Deadline => 3,
        };
        if self.standing {
            cause | STANDING
        } else {
            cause
        }
    }

    #[inline]
    fn decode(byte: u8) -> Option<Self> {
        if byte == 0 {
            return None;
        }
        let cause = match byte & !STANDING {
            1 => CancelCause::Emitter,
            2 => CancelCause::Handler,
            3 => CancelCause::Deadline,
            _ => return None,
        };
        Some(Self {
            cause,
            standing: byte & STANDING != 0,
        })
    }
}

impl RequestCell {
    #[inline]
    fn get(&self) -> Option<Request> {
        Request::decode(self.0.load(Ordering::Acquire))
    }

    /// Takes a request made once; a standing one stays.
    fn take(&self) -> Option<CancelCause> {
        let request = self.get()?;
        if request.standing {
            return Some(request.cause);
        }
        let taken =
            self.0
                .compare_exchange(request.encode(), 0, Ordering::AcqRel, Ordering::Acquire);
        match taken {
            Ok(_) => Some(request.cause),
            // Another wait took it, or a new request replaced it.
            Err(now) => Request::decode(now).and_then(|_| self.take()),
        }
    }

    fn put(&self, request: Request) {
        let stronger = |now: u8| (now & STANDING == 0).then(|| request.encode());
        // An error means that a standing request is in force, which is what is left in place.
        let _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, stronger);
    }
}

/// The guarded values hold no invariant that a panic between two statements could break.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn a_request_made_once_fails_one_wait() {
        let scope = Scope::new();
        scope.cancel_once(CancelCause::Handler);
        assert_eq!(scope.cancelled().now_or_never(), Some(CancelCause::Handler));
        assert_eq!(scope.cancelled().now_or_never(), None);
    }

    #[test]
    fn a_standing_request_fails_every_wait_and_outlives_a_weaker_one() {
        let scope = Scope::new();
        scope.cancel(CancelCause::Deadline);
        scope.cancel_once(CancelCause::Handler);
        assert_eq!(
            scope.cancelled().now_or_never(),
            Some(CancelCause::Deadline)
        );
        assert_eq!(
            scope.cancelled().now_or_never(),
            Some(CancelCause::Deadline)
        );
    }

    #[test]
    fn a_child_is_cancelled_with_its_parent_but_not_the_other_way() {
        let parent = Scope::new();
        let child = parent.child().child();
        child.cancel(CancelCause::Handler);
        assert_eq!(parent.requested(), None);
        let sibling = parent.child();
        parent.cancel_once(CancelCause::Emitter);
        assert_eq!(
            sibling.cancelled().now_or_never(),
            Some(CancelCause::Emitter)
        );
        assert_eq!(parent.requested(), None);
    }

    #[tokio::test]
    async fn a_waiting_child_is_woken_by_its_parent() {
        let parent = Scope::new();
        let child = parent.child();
        let (cause, ()) = tokio::join!(child.cancelled(), async {
            tokio::task::yield_now().await;
            parent.cancel(CancelCause::Emitter);
        });
        assert_eq!(cause, CancelCause::Emitter);
    }

    #[tokio::test]
    async fn a_dropped_wait_takes_nothing() {
        let scope = Scope::new();
        assert_eq!(scope.cancelled().now_or_never(), None);
        scope.cancel_once(CancelCause::Emitter);
        assert_eq!(scope.cancelled().await, CancelCause::Emitter);
    }
}
