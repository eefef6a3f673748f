//! Peers, each doing at n = 8 the nearest thing that it does.

use std::hint::black_box;
use std::task::{Context, Poll};

use event_listener::Event;
use futures::future::BoxFuture;
use tower::util::BoxCloneService;
use tower::{Service, ServiceExt as _};
use triplane_kernel::FanoutDispatcher;
use triplane_kernel::policy::DispatchConcurrency;

use crate::chain::{async_chain, later, runtime};
use crate::fanout::{KEY, Kind, Signal, emitting, policy, registration};
use crate::measure::{Bound, Case, Subject};

const N: usize = 8;

/// The cases of this group.
pub fn cases() -> Vec<Case> {
    let case = |name, subject, limit, must| Case {
        name,
        n: N,
        subject,
        limit,
        goal: Bound::Times(must),
        must: Bound::Times(must),
    };
    vec![
        case(
            "async chain / tower BoxCloneService",
            async_chain(N, later()),
            tower_stack(),
            1.0,
        ),
        case(
            "concurrent fan-out / event-listener",
            fanout(),
            event_listener(),
            1.0,
        ),
        case(
            "concurrent fan-out / async-broadcast",
            fanout(),
            async_broadcast(),
            1.3,
        ),
        case(
            "concurrent fan-out / tokio broadcast",
            fanout(),
            tokio_broadcast(),
            1.3,
        ),
    ]
}

fn fanout() -> Subject {
    let dispatcher = FanoutDispatcher::<Signal>::new(policy(DispatchConcurrency::Concurrent, None));
    for index in 0..N {
        dispatcher.register(registration(index, Kind::Ready).on(KEY));
    }
    emitting(dispatcher, KEY)
}

/// A layer that passes on what it gets.
#[derive(Clone)]
struct Pass<S>(S);

impl<S> Service<u64> for Pass<S>
where
    S: Service<u64, Response = u64, Error = ()> + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = u64;
    type Error = ();
    type Future = BoxFuture<'static, Result<u64, ()>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ()>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: u64) -> Self::Future {
        let answer = self.0.call(request);
        Box::pin(answer)
    }
}

fn tower_stack() -> Subject {
    let mut stack = BoxCloneService::new(tower::service_fn(|request: u64| async move {
        Ok::<_, ()>(request)
    }));
    for _ in 0..N {
        stack = BoxCloneService::new(Pass(stack));
    }
    let runtime = runtime();
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                let ready = stack.ready().await;
                let Ok(ready) = ready else { return };
                let _ = black_box(ready.call(black_box(7)).await);
            }
        });
    })
}

fn event_listener() -> Subject {
    let runtime = runtime();
    let event = Event::new();
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                let listeners: Vec<_> = (0..N).map(|_| event.listen()).collect();
                event.notify(usize::MAX);
                for listener in listeners {
                    listener.await;
                }
            }
        });
    })
}

fn async_broadcast() -> Subject {
    let runtime = runtime();
    let (sender, receiver) = async_broadcast::broadcast::<u64>(16);
    let mut receivers: Vec<_> = (0..N).map(|_| receiver.clone()).collect();
    drop(receiver);
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                let _ = sender.broadcast(black_box(7)).await;
                for receiver in &mut receivers {
                    let _ = black_box(receiver.recv().await);
                }
            }
        });
    })
}

fn tokio_broadcast() -> Subject {
    let runtime = runtime();
    let (sender, receiver) = tokio::sync::broadcast::channel::<u64>(16);
    let mut receivers: Vec<_> = (0..N).map(|_| sender.subscribe()).collect();
    drop(receiver);
    Box::new(move |iterations| {
        runtime.block_on(async {
            for _ in 0..iterations {
                let _ = sender.send(black_box(7));
                for receiver in &mut receivers {
                    let _ = black_box(receiver.recv().await);
                }
            }
        });
    })
}
