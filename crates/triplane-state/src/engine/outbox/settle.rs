//! What an attempt's result means for its intent.

use std::time::Duration;

use crate::clock::micros;
use crate::delivery::DeliveryResult;
use crate::engine::outbox::change::Change;
use crate::engine::outbox::claim::{ClaimedAttempt, INTERRUPTED_TOGETHER_MAX};
use crate::engine::outbox::status::{OutboxStatus, Reason};
use crate::retry::RetryPolicy;

/// The change that `result` makes, guarded by the claimed attempt.
pub(crate) fn settlement(
    claimed: ClaimedAttempt,
    result: DeliveryResult,
    retry: RetryPolicy,
    now_us: i64,
) -> Change {
    let mut change = Change {
        id: claimed.id,
        from: OutboxStatus::Delivering,
        from_attempt: claimed.attempt,
        to: OutboxStatus::Delivered,
        attempt: claimed.attempt,
        failures: claimed.failures,
        interrupted: claimed.interrupted,
        next_attempt_at_us: now_us,
        reason: Reason::TransportOk,
        lease_holder: None,
        error: None,
        receipt: None,
    };
    match result {
        DeliveryResult::Delivered(receipt) => change.receipt = receipt,
        DeliveryResult::Retry { error, after } => {
            again(&mut change, Reason::RetryBackoff, error, after, retry);
        }
        DeliveryResult::Unknown { error } => {
            again(&mut change, Reason::OutcomeUnknown, error, None, retry);
        }
        DeliveryResult::Reject { reason } => give_up(&mut change, Reason::Rejected, reason),
    }
    change
}

/// An intent whose signal cannot be read is given up: no attempt will do better.
pub(crate) fn unreadable(claimed: ClaimedAttempt, reason: String, now_us: i64) -> Change {
    let rejected = DeliveryResult::Reject { reason };
    let change = settlement(claimed, rejected, RetryPolicy::default(), now_us);
    Change {
        reason: Reason::Unreadable,
        ..change
    }
}

/// The holder of the lease is dead: the intent is due again without waiting for the end of the
/// lease. Whether the attempt reached the sink is not known.
///
/// A process that dies says nothing about what it delivered, so this is no failure: it does not use
/// up the bound of the retry policy. The intent is due where it stood, until it has been
/// interrupted so often that it is suspected: then it goes behind everything else that is due, and
/// in the end it is given up.
pub(crate) fn lease_void(
    claimed: ClaimedAttempt,
    created_at_us: i64,
    retry: RetryPolicy,
    now_us: i64,
) -> Change {
    let delivered = DeliveryResult::Delivered(None);
    let mut change = Change {
        to: OutboxStatus::Pending,
        reason: Reason::LeaseVoid,
        error: Some("the process that made the attempt died".to_owned()),
        interrupted: claimed.interrupted + 1,
        ..settlement(claimed, delivered, retry, now_us)
    };
    if change.interrupted >= interrupted_max(retry) {
        change.to = OutboxStatus::DeadLetter;
        change.reason = Reason::Interrupted;
    } else if change.interrupted < INTERRUPTED_TOGETHER_MAX {
        change.next_attempt_at_us = created_at_us.min(now_us);
    }
    change
}

/// How many interrupted attempts an intent is given: as many alone as the retry policy gives it
/// answered ones.
pub(crate) fn interrupted_max(retry: RetryPolicy) -> u32 {
    retry
        .attempts_max()
        .saturating_add(INTERRUPTED_TOGETHER_MAX)
}

fn again(
    change: &mut Change,
    reason: Reason,
    error: String,
    after: Option<Duration>,
    retry: RetryPolicy,
) {
    change.failures += 1;
    let Some(wait) = retry.wait_after(change.failures) else {
        return give_up(change, Reason::MaxAttempts, error);
    };
    let wait = wait.max(after.unwrap_or_default());
    change.to = OutboxStatus::Pending;
    change.reason = reason;
    change.error = Some(error);
    change.next_attempt_at_us = change.next_attempt_at_us.saturating_add(micros(wait));
}

fn give_up(change: &mut Change, reason: Reason, error: String) {
    change.to = OutboxStatus::DeadLetter;
    change.reason = reason;
    change.error = Some(error);
}
