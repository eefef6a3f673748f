//! The protocol of claim, lease, settlement and retry with two workers, explored in every order.
//!
//! The explorer drives the code that decides: [`settlement`], [`lease_void`], [`OutboxStatus::may_become`]
//! and the guard of a change (status and attempt). It tries every interleaving of two workers that
//! claim, send, settle, stop for longer than their lease, die, and of an operator, a consumer and the
//! clock, and holds each reached state against the invariants of delivery.

use std::collections::{BTreeSet, HashSet, VecDeque};

use uuid::Uuid;

use crate::delivery::DeliveryResult;
use crate::engine::outbox::OutboxStatus;
use crate::engine::outbox::change::Change;
use crate::engine::outbox::claim::ClaimedAttempt;
use crate::engine::outbox::settle::{interrupted_max, lease_void, settlement};
use crate::engine::outbox::status::Reason;
use crate::engine::testing::MINUTE;
use crate::retry::RetryPolicy;

const WORKERS: usize = 2;
/// Attempts beyond this are not explored: nothing new happens in them.
const ATTEMPTS_EXPLORED: u32 = 4;

/// The row of one intent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Row {
    status: OutboxStatus,
    attempt: u32,
    failures: u32,
    interrupted: u32,
    unacked: u32,
    due: bool,
    holder: Option<usize>,
}

/// What a worker is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Worker {
    Idle,
    /// It holds a claim and has not sent yet.
    Claimed(Held),
    /// It has sent, and the result is to be settled.
    Sent(Held),
    Dead,
}

/// A claim as its worker remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Held {
    attempt: u32,
    failures: u32,
    interrupted: u32,
    unacked: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    row: Row,
    workers: [Worker; WORKERS],
    /// The attempts that were sent, and those whose token the consumer has.
    sent: BTreeSet<u32>,
    /// The attempts whose claim was committed, in order.
    claims: Vec<u32>,
    operator_used: bool,
}

fn policy() -> RetryPolicy {
    RetryPolicy::new(2, MINUTE, MINUTE).expect("valid")
}

/// A change takes hold only when the row still shows what it was decided on; then it is one of the
/// edges, or the explorer has found a fault.
fn apply(state: &mut State, change: &Change, holder: Option<usize>) -> bool {
    let row = &mut state.row;
    if (row.status, row.attempt) != (change.from, change.from_attempt) {
        return false;
    }
    assert!(change.from.may_become(change.to), "{change:?}");
    *row = Row {
        status: change.to,
        attempt: change.attempt,
        failures: change.failures,
        interrupted: change.interrupted,
        unacked: change.unacked,
        due: false,
        holder,
    };
    true
}

fn claimed(held: Held, asks: bool) -> ClaimedAttempt {
    ClaimedAttempt {
        id: 1,
        attempt: held.attempt,
        failures: held.failures,
        interrupted: held.interrupted,
        unacked: held.unacked,
        ack_token: asks.then(Uuid::nil),
    }
}

/// Every state that one step leads to.
fn successors(state: &State, asks: bool) -> Vec<State> {
    let mut next = Vec::new();
    let unsettled = matches!(
        state.row.status,
        OutboxStatus::Pending | OutboxStatus::Delivering
    );
    // Time passes: what waits comes due, and a lease runs out.
    if unsettled && !state.row.due {
        let mut then = state.clone();
        then.row.due = true;
        next.push(then);
    }
    for me in 0..WORKERS {
        step(state, me, asks, &mut next);
    }
    // A consumer that was sent a token acknowledges, at any time.
    if asks
        && !state.sent.is_empty()
        && state.row.status.may_become(OutboxStatus::Acked)
        && unsettled
    {
        let mut then = state.clone();
        let from = (then.row.status, then.row.attempt);
        let change = Change::new(1, from, OutboxStatus::Acked, Reason::Acked, 0);
        assert!(apply(&mut then, &change, None));
        next.push(then);
    }
    // An operator sends again what was given up, once.
    if state.row.status == OutboxStatus::DeadLetter && !state.operator_used {
        let mut then = state.clone();
        let from = (then.row.status, then.row.attempt);
        let change = Change::new(1, from, OutboxStatus::Pending, Reason::OperatorRetry, 0);
        assert!(apply(&mut then, &change, None));
        then.row.due = true;
        then.operator_used = true;
        next.push(then);
    }
    next
}

fn step(state: &State, me: usize, asks: bool, next: &mut Vec<State>) {
    match state.workers[me] {
        Worker::Idle => {
            let unsettled = matches!(
                state.row.status,
                OutboxStatus::Pending | OutboxStatus::Delivering
            );
            if unsettled && state.row.due && state.row.attempt < ATTEMPTS_EXPLORED {
                next.push(claim(state, me));
            }
            // A worker that sees that the holder is dead ends the lease at once.
            if let Some(holder) = state.row.holder
                && state.workers[holder] == Worker::Dead
            {
                let mut then = state.clone();
                let row = &state.row;
                let held = Held {
                    attempt: row.attempt,
                    failures: row.failures,
                    interrupted: row.interrupted,
                    unacked: row.unacked,
                };
                let change = lease_void(claimed(held, false), 0, policy(), 0);
                assert!(apply(&mut then, &change, None));
                then.row.due = then.row.status == OutboxStatus::Pending;
                next.push(then);
            }
        }
        Worker::Claimed(held) => {
            let mut sends = state.clone();
            sends.workers[me] = Worker::Sent(held);
            assert!(
                sends.sent.insert(held.attempt),
                "attempt {} is sent twice",
                held.attempt
            );
            next.push(sends);
            next.push(dies(state, me));
        }
        Worker::Sent(held) => {
            for result in [
                DeliveryResult::Delivered(None),
                DeliveryResult::Retry {
                    error: String::new(),
                    after: None,
                },
                DeliveryResult::Unknown {
                    error: String::new(),
                },
                DeliveryResult::Reject {
                    reason: String::new(),
                },
            ] {
                let mut then = state.clone();
                let change = settlement(claimed(held, asks), result, policy(), 0);
                let held_on = apply(&mut then, &change, None);
                let current = state.row.status == OutboxStatus::Delivering
                    && state.row.holder == Some(me)
                    && state.row.attempt == held.attempt;
                assert_eq!(
                    held_on, current,
                    "only the holder of the lease settles: {state:?}"
                );
                then.workers[me] = Worker::Idle;
                next.push(then);
            }
            next.push(dies(state, me));
        }
        Worker::Dead => {}
    }
}

fn dies(state: &State, me: usize) -> State {
    let mut then = state.clone();
    then.workers[me] = Worker::Dead;
    then
}

/// What the claim does in one transaction: the bound on interruptions, else the next attempt.
fn claim(state: &State, me: usize) -> State {
    let mut then = state.clone();
    let row = &state.row;
    let lease_over = row.status == OutboxStatus::Delivering;
    let interrupted = row.interrupted + u32::from(lease_over);
    let exhausted = lease_over && interrupted >= interrupted_max(policy());
    let from = (row.status, row.attempt);
    let (to, reason) = if exhausted {
        (OutboxStatus::DeadLetter, Reason::Interrupted)
    } else {
        (OutboxStatus::Delivering, Reason::Attempt)
    };
    let change = Change {
        attempt: row.attempt + u32::from(!exhausted),
        failures: row.failures,
        interrupted,
        unacked: row.unacked,
        ..Change::new(1, from, to, reason, 0)
    };
    assert!(apply(&mut then, &change, (!exhausted).then_some(me)));
    if !exhausted {
        then.claims.push(change.attempt);
        then.workers[me] = Worker::Claimed(Held {
            attempt: change.attempt,
            failures: change.failures,
            interrupted: change.interrupted,
            unacked: change.unacked,
        });
    }
    then
}

/// What holds in every state, whatever came before.
fn invariants(state: &State) {
    let row = &state.row;
    let claims: Vec<u32> = (1..=row.attempt).collect();
    assert_eq!(
        state.claims, claims,
        "an attempt is a claim, and each number is claimed once"
    );
    assert!(state.sent.iter().all(|attempt| *attempt <= row.attempt));
    assert_eq!(row.status == OutboxStatus::Delivering, row.holder.is_some());
    assert!(row.failures + row.interrupted <= row.attempt, "{row:?}");
    assert!(
        row.failures + row.unacked <= policy().attempts_max(),
        "{row:?}"
    );
    let holding = state.workers.iter().filter(|worker| {
        matches!(worker, Worker::Claimed(held) | Worker::Sent(held) if held.attempt == row.attempt)
    });
    assert!(
        holding.count() <= 1,
        "one worker at most has the current attempt"
    );
    if matches!(row.status, OutboxStatus::Delivered | OutboxStatus::Acked) {
        assert!(
            !state.sent.is_empty(),
            "nothing is delivered that was not sent"
        );
    }
}

fn explore(asks: bool) -> (usize, usize) {
    let start = State {
        row: Row {
            status: OutboxStatus::Pending,
            attempt: 0,
            failures: 0,
            interrupted: 0,
            unacked: 0,
            due: true,
            holder: None,
        },
        workers: [Worker::Idle; WORKERS],
        sent: BTreeSet::new(),
        claims: Vec::new(),
        operator_used: false,
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut waiting = VecDeque::from([start]);
    let mut steps = 0;
    let mut ends = HashSet::new();
    while let Some(state) = waiting.pop_front() {
        invariants(&state);
        let next = successors(&state, asks);
        if state.row.status.is_settled() {
            ends.insert(state.row.status);
        } else {
            // Alive: an unsettled intent always goes on, unless nobody is left or it was tried as
            // often as is explored.
            let somebody = state.workers.iter().any(|worker| *worker != Worker::Dead);
            let bounded = state.row.attempt >= ATTEMPTS_EXPLORED;
            assert!(!next.is_empty() || !somebody || bounded, "stuck: {state:?}");
        }
        for state in next {
            steps += 1;
            if seen.insert(state.clone()) {
                waiting.push_back(state);
            }
        }
    }
    let end = if asks {
        OutboxStatus::Acked
    } else {
        OutboxStatus::Delivered
    };
    assert_eq!(ends, HashSet::from([end, OutboxStatus::DeadLetter]));
    (seen.len(), steps)
}

#[test]
fn two_workers_in_every_order_keep_the_invariants() {
    for asks in [false, true] {
        let (states, steps) = explore(asks);
        assert!(
            states > 1_000 && steps > states,
            "{states} states, {steps} steps"
        );
    }
}
