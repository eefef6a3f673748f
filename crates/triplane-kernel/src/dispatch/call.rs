//! One call of a handler, and what is made of what it returns.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use crate::cancel::Scope;
use crate::dispatch::handler::{AwaitableKind, Called};
use crate::dispatch::index::Entry;
use crate::failure::HandlerFailure;
use crate::policy::{
    Declared, DispatchPhase, HandlerClassification, ReturnedAwaitableDisposition,
    ReturnedValueClassifier, SyncHandlerMode,
};

pub(crate) type Answer<T> = Result<T, HandlerFailure>;

/// What a call came to in the end.
pub(crate) enum Ended<T> {
    Answered(Answer<T>),
    Unawaited,
}

/// Whether the caller of an emission can wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryPoint {
    Sync,
    Async,
}

/// What is done with an awaitable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaitable {
    Await,
    Gather,
    Drop,
    Fail(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Rejected,
    NobodyWaits,
}

/// A handler answered later where its caller cannot wait.
#[derive(Debug, thiserror::Error)]
#[error("the handler answers later, and this entry does not wait")]
struct NobodyWaits;

/// A handler that is declared sync returned an awaitable, which the policy rejects.
#[derive(Debug, thiserror::Error)]
#[error("the handler returned an awaitable, which the policy rejects")]
struct AwaitableRejected;

/// The part of a phase that decides how handlers are called.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calls {
    offload: bool,
    /// What is done with an awaitable, by the declaration of its handler and by its kind.
    awaitables: [[Awaitable; 2]; 2],
}

impl Calls {
    pub(crate) fn new(phase: &DispatchPhase, from: EntryPoint) -> Self {
        let mut awaitables = [[Awaitable::Drop; 2]; 2];
        for declared in [Declared::Sync, Declared::Async] {
            for kind in [AwaitableKind::Coroutine, AwaitableKind::Awaitable] {
                awaitables[declared as usize][kind as usize] =
                    Awaitable::of(phase, from, declared, kind);
            }
        }
        Self {
            offload: phase.sync_handlers == SyncHandlerMode::Offload,
            awaitables,
        }
    }

    #[inline]
    pub(crate) fn offloads(self, declared: Declared) -> bool {
        self.offload && declared == Declared::Sync
    }

    /// What is done with an awaitable of `kind` that a handler of this declaration returned.
    #[inline]
    pub(crate) fn awaitable(self, declared: Declared, kind: AwaitableKind) -> Awaitable {
        self.awaitables[declared as usize][kind as usize]
    }
}

impl Awaitable {
    #[expect(deprecated, reason = "the deprecated disposition is carried out")]
    fn of(
        phase: &DispatchPhase,
        from: EntryPoint,
        declared: Declared,
        kind: AwaitableKind,
    ) -> Self {
        let disposition = match (phase.handler_classification, declared) {
            // What is declared async returns its awaitable by declaration; nothing is classified.
            (HandlerClassification::ByDeclaration, Declared::Async) => {
                ReturnedAwaitableDisposition::AwaitInInvocation
            }
            (HandlerClassification::ByDeclaration, Declared::Sync)
            | (HandlerClassification::ByReturnValue, _) => {
                let seen = match phase.returned_value_classifier {
                    ReturnedValueClassifier::InspectAwaitable => true,
                    ReturnedValueClassifier::AsyncioCoroutineOnly => {
                        kind == AwaitableKind::Coroutine
                    }
                    ReturnedValueClassifier::NotInspected => false,
                };
                if !seen {
                    return Self::Drop;
                }
                phase.returned_awaitable
            }
        };
        match (disposition, from) {
            (ReturnedAwaitableDisposition::AwaitInInvocation, EntryPoint::Async) => Self::Await,
            (ReturnedAwaitableDisposition::GatherAfterInvocations, EntryPoint::Async) => {
                Self::Gather
            }
            (
                ReturnedAwaitableDisposition::AwaitInInvocation
                | ReturnedAwaitableDisposition::GatherAfterInvocations,
                EntryPoint::Sync,
            ) => Self::Fail(Refusal::NobodyWaits),
            (ReturnedAwaitableDisposition::DiscardUnawaited, _) => Self::Drop,
            (ReturnedAwaitableDisposition::Reject, _) => Self::Fail(Refusal::Rejected),
        }
    }
}

impl Refusal {
    pub(crate) fn failure(self) -> HandlerFailure {
        match self {
            Self::Rejected => HandlerFailure::failed(AwaitableRejected),
            Self::NobodyWaits => HandlerFailure::failed(NobodyWaits),
        }
    }
}

/// A call that owns what it borrows: for handlers that run elsewhere, or that may outlive the
/// emission.
///
/// The first poll makes the call. With [`Pause::BeforeAwaiting`] it is pending when there is
/// something to await, and nothing has been awaited yet: the call and the wait can then be polled
/// in different places.
pub(crate) fn owned<S, T>(
    entry: Arc<Entry<S, T>>,
    signal: Arc<S>,
    scope: Scope,
    calls: Calls,
    pause: Pause,
) -> BoxFuture<'static, Ended<T>>
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    Box::pin(async move {
        let registration = &entry.registration;
        match registration.handler.call(&signal, &scope) {
            Called::Now(answer) => Ended::Answered(answer),
            Called::Later { kind, future } => match calls.awaitable(registration.declared, kind) {
                Awaitable::Await | Awaitable::Gather => {
                    if pause == Pause::BeforeAwaiting {
                        Paused(false).await;
                    }
                    Ended::Answered(future.await)
                }
                Awaitable::Drop => Ended::Unawaited,
                Awaitable::Fail(refusal) => Ended::Answered(Err(refusal.failure())),
            },
        }
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    BeforeAwaiting,
    No,
}

/// Pending once. It wakes nobody: whoever polled knows that there is more to poll.
struct Paused(bool);

impl Future for Paused {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
