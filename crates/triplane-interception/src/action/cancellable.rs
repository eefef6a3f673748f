//! A running action that a request to cancel drops.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project::pin_project;
use triplane_kernel::CancelCause;

/// Runs `running` until it ends or `request` is made, whichever is seen first.
///
/// The request is looked at first: an action that is never pending for long would otherwise outrun
/// every request that was made before it started.
#[pin_project]
pub(crate) struct Cancellable<F, R> {
    #[pin]
    pub(crate) running: F,
    #[pin]
    pub(crate) request: R,
}

impl<F: Future, R: Future<Output = CancelCause>> Future for Cancellable<F, R> {
    type Output = Result<F::Output, CancelCause>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(cause) = this.request.poll(cx) {
            return Poll::Ready(Err(cause));
        }
        this.running.poll(cx).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use triplane_kernel::Scope;

    use super::*;

    #[test]
    fn a_request_made_before_the_start_wins_over_a_ready_action() {
        let scope = Scope::new();
        scope.cancel(CancelCause::Emitter);
        let cancelled = Cancellable {
            running: std::future::ready(1),
            request: scope.cancelled(),
        };
        assert_eq!(cancelled.now_or_never(), Some(Err(CancelCause::Emitter)));
    }

    #[test]
    fn without_a_request_the_action_ends_by_itself() {
        let scope = Scope::new();
        let finished = Cancellable {
            running: std::future::ready(1),
            request: scope.cancelled(),
        };
        assert_eq!(finished.now_or_never(), Some(Ok(1)));
    }
}
